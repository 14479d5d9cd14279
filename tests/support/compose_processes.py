"""Starts the services of docker-compose.yml as ordinary processes: the same commands and environment, other paths and ports."""

import contextlib
import os
import re
import signal
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from support.compose_file import seconds_of
from support.redis_server import free_port
from support.running_docmill import PROGRAM
from support.waiting import wait_until

HEALTHY_SECONDS: Final = 120.0
#: Where each service answers inside its container, and what more it must be told where it shares a host with its own kind.
_OWN_PORTS: Final = {"redis": "6379", "producer": "8702", "worker": "8701", "api": "8700", "flower": "5555"}
_OPTION_OF_PORT: Final = {"producer": "--health-port", "worker": "--health-port"}


@dataclass
class ServiceProcess:
    """One service that runs.

    Attributes:
        number: tells processes of one service apart.
        port: where it answers instead of in its container's own place.
        replaced: what stands for what in its command, its environment and its health check.
    """

    name: str
    number: int
    port: int
    service: Mapping[str, Any]
    replaced: Mapping[str, str]
    environment: Mapping[str, str]
    log: Path
    process: "subprocess.Popen[bytes]" = field(repr=False)

    @property
    def said(self) -> str:
        """What it printed so far."""
        return self.log.read_text(encoding="utf-8", errors="replace")

    def require_alive(self) -> None:
        """Fails when it has ended by itself."""
        code = self.process.poll()
        assert code is None, f"{self.name} ended with exit code {code}:\n{self.said}"

    def is_healthy(self) -> bool:
        """Whether its own health check says so."""
        self.require_alive()
        kind, *words = self.service["healthcheck"]["test"]
        command = [translated(word, self.replaced) for word in words]
        ended = subprocess.run(
            ["/bin/sh", "-c", *command] if kind == "CMD-SHELL" else command,
            env=self.environment,
            capture_output=True,
            timeout=seconds_of(self.service["healthcheck"]["timeout"]),
            check=False,
        )
        return ended.returncode == 0

    def end(self) -> int:
        """What stopping its container does; its exit code. Fails when it needs longer than its grace period, or leaves children."""
        self.process.send_signal(signal.SIGTERM)
        return self.wait()

    def wait(self) -> int:
        """Its exit code, once it has ended within its grace period."""
        code = self.process.wait(seconds_of(self.service["stop_grace_period"]))
        wait_until(lambda: not self._has_family(), f"what {self.name} started to end", 10.0)
        return code

    def kill(self) -> None:
        """Ends it and whatever it started, whatever they do."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(10.0)

    def _has_family(self) -> bool:
        try:
            os.killpg(self.process.pid, 0)
        except ProcessLookupError:
            return False
        return True


class ComposeProcesses:
    """Services by name; use it as a context manager, which ends whatever is left of them."""

    def __init__(self, services: Mapping[str, Mapping[str, Any]], folder: Path, replaced: Mapping[str, str]) -> None:
        """Nothing runs before ``start``.

        Args:
            services: as ``compose_file.services`` reads them.
            folder: for their logs, and home and temporary folder of each.
            replaced: what stands for what in all of them, such as paths and the servers' ports.
        """
        self.running: list[ServiceProcess] = []
        self._services = services
        self._folder = folder
        self._replaced = dict(replaced)

    def start(self, name: str, replaced_here: Mapping[str, str] | None = None) -> ServiceProcess:
        """Starts one more process of a service, without waiting for it; ``{port}`` in ``replaced_here`` is where it will answer."""
        service, port = self._services[name], free_port()
        number = sum(one.name == name for one in self.running) + 1
        home = self._folder / f"{name}-{number}"
        home.mkdir()
        here = {key: value.format(port=port) for key, value in (replaced_here or {}).items()}
        replaced = {**self._replaced, _OWN_PORTS[name]: str(port), **here}
        entry = service.get("entrypoint", ["docmill"])
        words = [translated(str(word), replaced) for word in (*entry, *service["command"])]
        option = _OPTION_OF_PORT.get(name)
        environment = {
            "PATH": f"{PROGRAM.parent}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(home),
            "TMPDIR": str(home),
            **{variable: translated(str(value), replaced) for variable, value in service["environment"].items()},
        }
        log = self._folder / f"{name}-{number}.log"
        with log.open("wb") as out:
            process = subprocess.Popen(
                [*words, option, str(port)] if option else words,
                cwd=home,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                start_new_session=True,
            )
        started = ServiceProcess(name, number, port, service, replaced, environment, log, process)
        self.running.append(started)
        return started

    def replace_everywhere(self, text: str, by: str) -> None:
        """From now on ``text`` is replaced in every service that is started."""
        self._replaced[text] = by

    def wait_until_healthy(self, one: ServiceProcess) -> None:
        """Returns when the health check of ``one`` says so."""
        wait_until(one.is_healthy, f"{one.name} to be healthy", HEALTHY_SECONDS, pause_seconds=0.2)

    def __enter__(self) -> "ComposeProcesses":
        return self

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        for one in reversed(self.running):
            one.kill()
            print(f"--- {one.name} {one.number}\n{one.said[-6000:]}")  # noqa: T201  # shown with a failure


def start_redis(processes: ComposeProcesses, folder: Path) -> ServiceProcess:
    """Starts the compose file's own Redis with its data in ``folder``, and lets what is started later know its port."""
    started = processes.start("redis", {"/data": f"{folder} --bind 127.0.0.1 --port {{port}}", "redis-cli": "redis-cli -p {port}"})
    processes.wait_until_healthy(started)
    processes.replace_everywhere("6379", str(started.port))
    return started


def translated(text: str, replaced: Mapping[str, str]) -> str:
    """``text`` with each whole occurrence of a key replaced by its value, in one pass, so that no replacement is replaced again."""
    keys = sorted(replaced, key=len, reverse=True)
    return re.sub("|".join(rf"(?<![\w.-]){re.escape(key)}(?![\w-])" for key in keys), lambda found: replaced[found[0]], text)
