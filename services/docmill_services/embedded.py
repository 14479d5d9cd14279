"""The one-machine profile at work: worker threads and HTTP in this process, the producer as a child."""

import threading
import time
from collections.abc import Mapping
from dataclasses import replace

import structlog

from docmill.bootstrap import Engine, Owner
from docmill.domain.errors import DocmillError, ServiceDown, StoreDown
from docmill.domain.runs import Run, RunState
from docmill.indexing.held_removals import SCAN_ASKED
from docmill.indexing.index_sets import WATCHING
from docmill.indexing.sweeping import sweep_safely
from docmill.indexing.watch_note import is_watched, trouble_of
from docmill_services.engine_backend import serve_engine
from docmill_services.origin import Origin
from docmill_services.producer_process import ProducerProcess
from docmill_services.query.serve import RunningServer
from docmill_services.worker_threads import WorkerThreads, start_worker_threads

_log = structlog.get_logger(__name__)
_PRODUCER_WATCH_SECONDS = 0.5
_QUICK_DEATHS = 5
_QUICK_SECONDS = 60.0
_POLL_SECONDS = 0.05


class EmbeddedService:
    """Indexes and answers until it is stopped.

    Attributes:
        runs: the run of each knowledge base that the start asked for, by name.
    """

    def __init__(
        self, engine: Owner, origin: Origin, *, watch: bool, log_level: str = "info", producer: ProducerProcess | None = None
    ) -> None:
        """Nothing runs before ``start``; ``producer`` is one that was started early, with the same origin and data folder."""
        self.engine = engine
        self.runs: dict[str, str] = {}
        self._origin = origin
        self._watch = watch
        self._log_level = log_level
        self._stopping = threading.Event()
        self._workers: WorkerThreads | None = None
        self._producer = producer
        self._http: RunningServer | None = None
        self._failure: DocmillError | None = None
        self._last_seen: Mapping[str, Run] = {}

    def start(self, host: str | None, port: int) -> str | None:
        """Starts everything; returns the URL, or None without ``host``.

        Raises:
            AddressInUse: the port is taken.
        """
        if host is not None:
            self._http = serve_engine(self.engine, host, port)
        self._origin.save(self.engine.data_folder.path)
        if self._http is not None:
            self.engine.data_folder.announce(self._http.url, self._http.own_key)
        self.engine.take_up_the_work()
        end_interrupted_runs(self.engine)
        self._start_runs()
        self.engine.send_outstanding()
        self._workers = start_worker_threads(self.engine)
        if self._producer is None:
            self._producer = self._start_producer()
        self._producer.serve(self.engine.unix_socket)
        threading.Thread(target=self._keep_producer, name="docmill-producer-watch", daemon=True).start()
        return self._http.url if self._http is not None else None

    def runs_now(self) -> Mapping[str, Run]:
        """The runs that the start asked for, as they stand, or stood when the registry last answered."""
        try:
            found = {name: self.engine.knowledge_base(name).state.ledger.run(run_id) for name, run_id in self.runs.items()}
            self._last_seen = {**self._last_seen, **{name: run for name, run in found.items() if run is not None}}
        except StoreDown as error:
            _log.debug("runs_not_read", error=str(error))  # the embedded server is started again, or ``check`` says why not
        return self._last_seen

    def runs_going_on(self) -> Mapping[str, Run]:
        """``runs_now`` for a process that stays: after a run that took too long comes the one that goes on with what was left."""
        now = dict(self.runs_now())
        for name, run in now.items():
            if run.state is RunState.TIMED_OUT:
                following = self.engine.knowledge_base(name).state.ledger.current_run()
                if following is not None:
                    self.runs[name] = following.id
                now[name] = replace(run, state=RunState.SCANNING)  # the producer starts the next one at once
        return now

    def watching(self) -> bool:
        """Whether changes of every knowledge base are followed by now."""
        try:
            return all(is_watched(opened.state.registry.noted(WATCHING)) for opened in self.engine.knowledge_bases.values())
        except StoreDown:
            return False  # ``check`` tells what is wrong when that lasts

    def watching_trouble(self) -> str | None:
        """Why some changes are found by scans alone; None while every one is followed, or nobody can tell."""
        try:
            found = (trouble_of(opened.state.registry.noted(WATCHING)) for opened in self.engine.knowledge_bases.values())
            return next((trouble for trouble in found if trouble is not None), None)
        except StoreDown:
            return None

    def finish(self, stopping: threading.Event) -> None:
        """For a process that ends after its run: what an earlier start left in work ends too, and what is due is tidied up.

        Raises:
            ServiceDown: a part that docmill cannot do without has ended.
            DiskFull: what is left cannot be written.
        """
        while self._is_anything_left():
            if stopping.wait(_POLL_SECONDS):
                return
            self.check_progress()
        for opened in self.engine.knowledge_bases.values():
            # A set that was served until now may still be read by a query: the next start removes it.
            if not opened.index_sets.settle():
                opened.index_sets.drop_others()
            sweep_safely(opened.state.registry, opened.index_sets.targets, grace_seconds=self.engine.settings.grace_seconds)

    def _is_anything_left(self) -> bool:
        try:
            return any(sum(opened.state.ledger.outstanding()) for opened in self.engine.knowledge_bases.values())
        except StoreDown as error:
            _log.debug("ledger_not_read", error=str(error))  # the embedded server is started again, or ``check`` says why not
            return True

    def check(self) -> None:
        """Raises what ended a part that docmill cannot do without."""
        if self._failure is not None:
            raise self._failure
        if self.engine.server is not None and self.engine.server.error is not None:
            raise self.engine.server.error
        self.engine.data_folder.require_there()
        if self._workers is not None and not self._stopping.is_set():
            self._workers.check()

    def check_progress(self) -> None:
        """``check``, for a process that only indexes: on a full disk it cannot go on, while one that also answers waits for room.

        Raises:
            DiskFull: nothing can be written.
        """
        self.check()
        self.engine.data_folder.require_room()

    def stop(self, timeout_seconds: float = 2.0) -> None:
        """Ends everything within about ``timeout_seconds``; what is in work goes on at the next start."""
        self._stopping.set()
        deadline = time.monotonic() + timeout_seconds
        if self._producer is not None:
            self._producer.ask_to_end()
        answering = threading.Thread(target=self._http.stop, args=(timeout_seconds,), daemon=True) if self._http is not None else None
        if answering is not None:
            answering.start()
        if self._workers is not None:
            self._workers.stop(max(0.2, (deadline - time.monotonic()) / 2))
        if answering is not None:
            answering.join(max(0.1, deadline - time.monotonic()))
        if self._producer is not None:
            self._producer.end(max(0.1, deadline - time.monotonic()))

    def _start_runs(self) -> None:
        for name, opened in self.engine.knowledge_bases.items():
            if not self._watch:
                opened.state.registry.note(SCAN_ASKED, "yes")  # a person waits for this one
            started, _ = opened.state.ledger.start_run()
            self.runs[name] = started.id
            self._last_seen = {**self._last_seen, name: started}

    def _start_producer(self) -> ProducerProcess:
        return ProducerProcess(self._origin, self.engine.data_folder.path, watch=self._watch, log_level=self._log_level)

    def _keep_producer(self) -> None:
        """Starts the producer again when it dies, a few times in quick succession."""
        deaths = 0
        began = time.monotonic()
        while not self._stopping.wait(_PRODUCER_WATCH_SECONDS):
            if self._producer is None or self._producer.exit_code is None:
                continue
            deaths = deaths + 1 if time.monotonic() - began < _QUICK_SECONDS else 1
            _log.error("producer_died", exit_code=self._producer.exit_code, times=deaths)
            if deaths >= _QUICK_DEATHS:
                self._failure = ServiceDown(f"the producer process died {deaths} times; its last exit code was {self._producer.exit_code}")
                return
            began = time.monotonic()
            self._producer = self._start_producer()
            self._producer.serve(self.engine.unix_socket)


def end_interrupted_runs(engine: Engine) -> None:
    """Ends the runs and the watching of a process that is no more; only while no producer of this data folder runs."""
    for opened in engine.knowledge_bases.values():
        opened.state.registry.note(WATCHING, None)  # a producer that was killed left its note
        run = opened.state.ledger.current_run()
        if run is not None and not run.state.final:
            opened.state.ledger.end_run(run.id, RunState.CANCELLED, "interrupted: docmill was stopped")
