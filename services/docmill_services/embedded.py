"""The one-machine profile at work: worker threads and HTTP in this process, the producer as a child."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from importlib.metadata import entry_points
from typing import Protocol

import structlog

from docmill.bootstrap import Engine
from docmill.domain.errors import DocmillError, ServiceDown
from docmill.domain.runs import Run, RunState
from docmill_services.embedded_backend import WATCHING, serve_engine
from docmill_services.origin import Origin
from docmill_services.query.serve import RunningServer

_log = structlog.get_logger(__name__)
_PRODUCER_WATCH_SECONDS = 0.5
_QUICK_DEATHS = 5


class WorkerThreads(Protocol):
    """What the worker package starts in this process."""

    def in_work(self) -> int:
        """How many documents are in work."""
        ...

    def stop(self, timeout_seconds: float) -> None:
        """Ends them."""
        ...


def start_worker_threads(engine: Engine) -> WorkerThreads:
    """Starts the worker that is installed with docmill; services know it by its entry point only."""
    (found,) = entry_points(group="docmill.worker", name="threads")
    started: WorkerThreads = found.load()(engine)
    return started


class EmbeddedService:
    """Indexes and answers until it is stopped.

    Attributes:
        runs: the run of each knowledge base that the start asked for, by name.
    """

    def __init__(self, engine: Engine, origin: Origin, *, watch: bool, log_level: str = "info") -> None:
        """Nothing runs before ``start``."""
        self.engine = engine
        self.runs: dict[str, str] = {}
        self._origin = origin
        self._watch = watch
        self._log_level = log_level
        self._stopping = threading.Event()
        self._workers: WorkerThreads | None = None
        self._producer: subprocess.Popen[bytes] | None = None
        self._http: RunningServer | None = None
        self._failure: DocmillError | None = None

    def start(self, host: str | None, port: int) -> str | None:
        """Starts everything; returns the URL, or None without ``host``.

        Raises:
            AddressInUse: the port is taken.
        """
        if host is not None:
            self._http = serve_engine(self.engine, host, port)
            self.engine.data_folder.announce(self._http.url)
        self._origin.save(self.engine.data_folder.path)
        self.engine.take_up_the_work()
        for opened in self.engine.knowledge_bases.values():
            opened.state.registry.note(WATCHING, None)  # a process that was killed left its note
        self._end_interrupted_runs()
        self._workers = start_worker_threads(self.engine)
        self._producer = self._start_producer()
        threading.Thread(target=self._keep_producer, name="docmill-producer-watch", daemon=True).start()
        return self._http.url if self._http is not None else None

    def runs_now(self) -> Mapping[str, Run]:
        """The runs that the start asked for, as they stand."""
        found = {name: self.engine.knowledge_base(name).state.ledger.run(run_id) for name, run_id in self.runs.items()}
        return {name: run for name, run in found.items() if run is not None}

    def watching(self) -> bool:
        """Whether changes of every knowledge base are followed by now."""
        return all(opened.state.registry.noted(WATCHING) is not None for opened in self.engine.knowledge_bases.values())

    def check(self) -> None:
        """Raises what ended a part that docmill cannot do without."""
        if self._failure is not None:
            raise self._failure
        if self.engine.server.error is not None:
            raise self.engine.server.error

    def stop(self, timeout_seconds: float = 2.0) -> None:
        """Ends everything within about ``timeout_seconds``; what is in work goes on at the next start."""
        self._stopping.set()
        deadline = time.monotonic() + timeout_seconds
        if self._producer is not None and self._producer.stdin is not None:
            self._producer.stdin.close()
        if self._http is not None:
            self._http.stop()
        if self._workers is not None:
            self._workers.stop(max(0.2, (deadline - time.monotonic()) / 2))
        if self._producer is not None:
            try:
                self._producer.wait(max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                self._producer.kill()
                self._producer.wait()

    def _end_interrupted_runs(self) -> None:
        for name, opened in self.engine.knowledge_bases.items():
            run = opened.state.ledger.current_run()
            if run is not None and not run.state.final:
                opened.state.ledger.end_run(run.id, RunState.CANCELLED, "interrupted: docmill was stopped")
            self.runs[name] = opened.state.ledger.start_run()[0].id

    def _start_producer(self) -> "subprocess.Popen[bytes]":
        command = [
            sys.executable,
            "-m",
            "docmill_services.producer",
            "--socket",
            str(self.engine.server.socket),
            "--origin",
            self._origin.as_json(),
            "--data-dir",
            str(self.engine.data_folder.path),
            "--log-level",
            self._log_level,
        ]
        if not self._watch:
            command.append("--no-watch")
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True, env=os.environ.copy())

    def _keep_producer(self) -> None:
        """Starts the producer again when it dies, a few times."""
        deaths = 0
        while not self._stopping.wait(_PRODUCER_WATCH_SECONDS):
            if self._producer is None or self._producer.poll() is None:
                continue
            deaths += 1
            _log.error("producer_died", exit_code=self._producer.returncode, times=deaths)
            if deaths >= _QUICK_DEATHS:
                self._failure = ServiceDown(f"the producer process died {deaths} times; its last exit code was {self._producer.returncode}")
                return
            self._producer = self._start_producer()
