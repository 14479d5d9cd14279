"""One real Elasticsearch for all tests of a session: started when the first test asks for it, stopped when the session ends.

Another one, for tests alone, can be named: ``DOCMILL_TEST_ELASTICSEARCH_URL``; what docmill keeps there is wiped. On a developer's
machine without Java or Maven the tests that need it are skipped with the reason; where ``CI`` is set they fail.
"""

import atexit
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

import pytest

from support.elasticsearch_files import CannotFetch, elasticsearch_files

VARIABLE: Final = "DOCMILL_TEST_ELASTICSEARCH_URL"
OLDEST_JAVA: Final = 21
_START_DEADLINE_SECONDS: Final = 180.0
#: The keeper gives the server 20 s.
_STOP_DEADLINE_SECONDS: Final = 30.0
#: The user that the server runs as where the tests run as root, which it refuses.
_NOBODY: Final = 65_534
_HEAP: Final = "512m"


class DidNotStart(Exception):
    """The server was started and ended, or gave no answer in time."""


_lock = threading.Lock()
_url: str | None = None
_missing: str | None = None


def elasticsearch_url() -> str:
    """The URL of the session's server; skips the test, or fails it in CI, when there is none to be had."""
    global _url, _missing
    with _lock:
        if _url is None and _missing is None:
            try:
                _url = os.environ.get(VARIABLE) or _started()
            except CannotFetch as error:
                _missing = f"no Elasticsearch: {error}; {VARIABLE} may name one"
            except DidNotStart as error:
                _missing = str(error)
        if _url is not None:
            return _url
    reason = str(_missing)
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


def _started() -> str:
    """Starts a server under a keeper process, which stops it when this process ends, however it ends."""
    java = _java()
    files = elasticsearch_files()
    run = Path(tempfile.mkdtemp(prefix="docmill-elasticsearch-"))
    port = _free_port()
    home = files if _is_open_to_all(files) else shutil.copytree(files, run / "home")
    _configure(home, run, port)
    keeper_script = str(Path(__file__).with_name("elasticsearch_keeper.py"))
    user = [str(_NOBODY)] if os.geteuid() == 0 else []
    keeper = subprocess.Popen(
        [sys.executable, keeper_script, str(home), str(run), str(java), *user], stdin=subprocess.PIPE, start_new_session=True
    )
    atexit.register(_stop, keeper)
    url = f"http://127.0.0.1:{port}"
    _wait_until_it_is_ready(url, keeper, run)
    return url


def _stop(keeper: "subprocess.Popen[bytes]") -> None:
    assert keeper.stdin is not None
    with suppress(BrokenPipeError):
        keeper.stdin.close()
    try:
        keeper.wait(_STOP_DEADLINE_SECONDS)
    except subprocess.TimeoutExpired:
        keeper.kill()
        keeper.wait()


def _java() -> Path:
    """The folder of a Java that is new enough."""
    for home in _java_homes():
        command = home / "bin" / "java"
        if not command.is_file():
            continue
        said = subprocess.run([command, "-version"], capture_output=True, text=True, timeout=60, check=False).stderr
        version = re.search(r'version "(\d+)', said)
        if version is not None and int(version[1]) >= OLDEST_JAVA:
            return home
    raise CannotFetch(f"no Java {OLDEST_JAVA} or newer in JAVA_HOME, on the PATH or in /usr/lib/jvm")


def _java_homes() -> Iterator[Path]:
    for variable in ("ES_JAVA_HOME", "JAVA_HOME"):
        if os.environ.get(variable):
            yield Path(os.environ[variable])
    on_path = shutil.which("java")
    if on_path is not None:
        yield Path(on_path).resolve().parent.parent
    yield from sorted(Path("/usr/lib/jvm").glob("*"), reverse=True)


def _is_open_to_all(folder: Path) -> bool:
    """Whether the server's user can get there: a home folder is often closed to all others."""
    return os.geteuid() != 0 or all(parent.stat().st_mode & 0o001 for parent in (folder, *folder.parents))


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _configure(home: Path, run: Path, port: int) -> None:
    for name in ("config", "data", "logs", "tmp"):
        (run / name).mkdir()
    config = run / "config"
    shutil.copy(home / "config" / "log4j2.properties", config)
    (config / "jvm.options").write_text(
        f"-Xms{_HEAP}\n-Xmx{_HEAP}\n-XX:+UseSerialGC\n-XX:TieredStopAtLevel=1\n-XX:-AlwaysPreTouch\n-Djava.io.tmpdir={run}/tmp\n"
    )
    settings = {
        "cluster.name": "docmill-tests",
        "node.name": "one",
        "discovery.type": "single-node",
        "xpack.security.enabled": "false",
        "http.host": "127.0.0.1",
        "http.port": port,
        "transport.host": "127.0.0.1",
        "transport.port": 0,
        "path.data": run / "data",
        "path.logs": run / "logs",
        # The tests say themselves when an index is read-only; a nearly full machine must not.
        "cluster.routing.allocation.disk.threshold_enabled": "false",
    }
    (config / "elasticsearch.yml").write_text("".join(f"{name}: {value}\n" for name, value in settings.items()))
    if os.geteuid() == 0:
        for path in (run, *(path for name in ("config", "data", "logs", "tmp") for path in (run / name, *(run / name).iterdir()))):
            os.chown(path, _NOBODY, _NOBODY)


def _wait_until_it_is_ready(url: str, keeper: "subprocess.Popen[bytes]", run: Path) -> None:
    deadline = time.monotonic() + _START_DEADLINE_SECONDS
    while keeper.poll() is None and time.monotonic() < deadline:
        with suppress(OSError), urllib.request.urlopen(f"{url}/_cluster/health?wait_for_status=green&timeout=5s", timeout=10) as answer:
            if answer.status == 200:
                return
        time.sleep(0.2)
    log = run / "logs" / "out"
    said = log.read_text(errors="replace")[-2000:] if log.exists() else "nothing"
    _stop(keeper)
    shutil.rmtree(run, ignore_errors=True)
    raise DidNotStart(f"Elasticsearch did not start; it said: {said}")
