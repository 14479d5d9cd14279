"""Runs one Elasticsearch until standard input ends, then stops it and removes its folder; so it never outlives the tests.

``elasticsearch_keeper.py HOME RUN JAVA [USER]``: the server's files, the folder of this run (``config``, ``data``, ``logs``, ``tmp``), the
folder of Java, and the number of the user to become.
"""

import os
import shutil
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

STOP_DEADLINE_SECONDS = 20.0


def main(home: Path, run: Path, java: Path, user: str | None = None) -> int:
    asked_to_stop = threading.Thread(target=sys.stdin.read, daemon=True)
    asked_to_stop.start()
    server = _started(home, run, java, None if user is None else int(user))
    while asked_to_stop.is_alive() and server.poll() is None:
        asked_to_stop.join(0.2)
    died = server.poll() is not None
    _end(server)
    if not died:
        shutil.rmtree(run, ignore_errors=True)
    return int(died)


def _started(home: Path, run: Path, java: Path, user: int | None) -> "subprocess.Popen[bytes]":
    environment = {
        "PATH": os.environ.get("PATH", ""),
        "HOME": str(run),
        "ES_JAVA_HOME": str(java),
        "JAVA": str(java / "bin" / "java"),
        "JAVA_TYPE": "ES_JAVA_HOME",
        "ES_HOME": str(home),
        "ES_PATH_CONF": str(run / "config"),
        "ES_TMPDIR": str(run / "tmp"),
        "ES_DISTRIBUTION_TYPE": "zip",
    }
    launcher = [environment["JAVA"], "-Xms4m", "-Xmx64m", "-XX:+UseSerialGC", "-cp", f"{home}/lib/tools/server-launcher/*"]
    other_user: dict[str, Any] = {} if user is None else {"user": user, "group": user, "extra_groups": []}
    with (run / "logs" / "out").open("wb") as out:
        return subprocess.Popen(
            [*launcher, "org.elasticsearch.server.launcher.ServerLauncher"],
            cwd=home,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            process_group=0,
            **other_user,
        )


def _end(server: "subprocess.Popen[bytes]") -> None:
    """Ends the launcher and the server that it started."""
    with suppress(ProcessLookupError):
        os.killpg(server.pid, signal.SIGTERM)
    with suppress(subprocess.TimeoutExpired):
        server.wait(STOP_DEADLINE_SECONDS)
    with suppress(ProcessLookupError):
        os.killpg(server.pid, signal.SIGKILL)
    server.wait()


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]), *sys.argv[4:]))
