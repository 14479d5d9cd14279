"""One knowledge base's loop: carries out runs that were asked for, starts one when a scan is due, and watches in between.

It does so while it leads; otherwise it looks every second whether it may.
"""

import threading
import time
from collections.abc import Callable, Mapping

import structlog

from docmill.documents.selection import Selection
from docmill.domain.errors import DocmillError, NotLeader, RootUnavailable
from docmill.domain.knowledge_bases import KnowledgeBase
from docmill.domain.run_rules import failed_of_what_arms
from docmill.domain.runs import RunState
from docmill.indexing.index_sets import WATCHING, sets_to_fill
from docmill.indexing.watch_note import polled, watched
from docmill.ports.gate import Gate
from docmill.ports.queue import TaskQueue
from docmill.ports.state import KnowledgeBaseState
from docmill_services.producer.backing_off import Leave, leave_of
from docmill_services.producer.event_support import without_events
from docmill_services.producer.leadership import Leadership, Term
from docmill_services.producer.outages import Outages
from docmill_services.producer.passes import Pass, Stopped
from docmill_services.producer.planning import most_outstanding, share_of_window
from docmill_services.producer.scan import Scan
from docmill_services.producer.watching import Watcher

_log = structlog.get_logger(__name__)
_LOOK_SECONDS = 0.1
_RETRY_SECONDS = 1.0
_FOLLOW_SECONDS = 1.0
#: How long the first scan waits for the watcher; a change that neither of them sees is found by one more pass.
_WATCH_FIRST_SECONDS = 0.5
#: Where changes are not reported, scans are so far apart, and do not take more than so much of the time.
_POLL_SECONDS = 10.0
_POLL_SHARE = 0.1
_LONGEST_PAUSE_SECONDS = 60.0


class Window:
    """How many documents may be outstanding, shared among the knowledge bases that have work."""

    def __init__(
        self, size: int, states: Mapping[str, KnowledgeBaseState], specifications: Mapping[str, KnowledgeBase] | None = None
    ) -> None:
        """``size`` is over all of ``states``; ``specifications`` may bound some of them by themselves."""
        self._size = size
        self._states = states
        self._most = {name: most_outstanding(one) for name, one in (specifications or {}).items()}

    def room(self, name: str) -> int:
        """How many more documents ``name`` may have outstanding now."""
        outstanding = {other: sum(state.ledger.outstanding()) for other, state in self._states.items()}
        busy = sum(1 for other, count in outstanding.items() if count or other == name)
        share = share_of_window(self._size, outstanding[name], busy)
        most = self._most.get(name)
        return share if most is None else max(0, min(share, most - outstanding[name]))


class KnowledgeBaseLoop:
    """Serves one knowledge base in a thread."""

    def __init__(
        self,
        specification: KnowledgeBase,
        state: KnowledgeBaseState,
        tasks: TaskQueue,
        selection: Selection,
        window: Window,
        leadership: Leadership,
        stopping: threading.Event,
        *,
        watch: bool,
        force_polling: bool = False,
        open_state: Callable[[], object] = lambda: None,
        prepare: Callable[[], None] = lambda: None,
        gates: Callable[[], Mapping[str, Gate]] = dict,
        outages: Outages | None = None,
    ) -> None:
        """Nothing runs before ``serve``.

        Args:
            specification: of the knowledge base.
            state: of the knowledge base, for what everybody may do.
            tasks: the queue.
            selection: its files.
            window: bounds what is outstanding.
            leadership: the role; it is prolonged elsewhere.
            stopping: ends it.
            watch: whether changes are followed.
            force_polling: as for a ``Watcher``.
            open_state: called before each look for work, whether this process leads or not.
            prepare: called before each look for work by the one that leads.
            gates: of the providers that its documents need now, by name.
            outages: of the process.
        """
        self.name = specification.name
        self._specification = specification
        self._state = state
        self._tasks = tasks
        self._selection = selection
        self._window = window
        self._leadership = leadership
        self._stopping = stopping
        self._watch = watch
        self._force_polling = force_polling
        self._open_state = open_state
        self._prepare = prepare
        self._gates = gates
        self._outages = outages or Outages()
        self._led = state
        self._awaits_gates = False
        self._takes_over = False
        self._last_scan: float | None = None
        self._last_scan_seconds = 0.0
        self._polls = False
        self._watch_settled = threading.Event()
        self._scanning = False

    def serve(self) -> None:
        """Works until the process stops; an error interrupts the work and is made good by the next round."""
        self._try_to_lead()
        if self._watch:
            threading.Thread(target=self._watch_until_stopped, name=f"docmill-watch-{self.name}", daemon=True).start()
            self._watch_settled.wait(_WATCH_FIRST_SECONDS)
        while not self._stopping.is_set():
            try:
                leads = self._leads()
                if leads:
                    self._scanning = True
                    self._round()
                self._outages.over(self.name)
                self._stopping.wait(_LOOK_SECONDS if leads else _FOLLOW_SECONDS)
            except Stopped:
                return
            except NotLeader as error:
                _log.info("producer_interrupted", knowledge_base=self.name, error=str(error))
                self._leadership.lose(self._led)
            except DocmillError as error:
                self._outages.began(self.name, error)
                self._stopping.wait(_RETRY_SECONDS)
            except Exception as error:  # noqa: BLE001
                # A defect or a failing disk ends the run with its reason, not the knowledge base's thread.
                _log.exception("run_failed", knowledge_base=self.name)
                self._end_run(f"internal: {type(error).__name__}: {error}")
                self._stopping.wait(_RETRY_SECONDS)

    def _try_to_lead(self) -> None:
        """So that what is watched is watched before the first scan, as far as nobody else leads."""
        try:
            self._open_state()
            self._leadership.take()
        except DocmillError as error:
            _log.debug("producer_interrupted", knowledge_base=self.name, error=str(error))  # the first round tries again, and says so

    def _leads(self) -> bool:
        self._open_state()
        led = self._leadership.led or self._leadership.take()
        if led is None:
            return False
        if led is not self._led:
            self._led = led
            self._takes_over = True
        return True

    def _round(self) -> None:
        self._prepare()
        ledger = self._led.ledger
        run = ledger.current_run()
        if self._takes_over:
            self._takes_over = False
            if self._watch and (run is None or run.state.final):
                run, _ = ledger.start_run()  # nobody may have watched since the last one
        if run is not None and not run.state.final:
            begun = time.monotonic()
            state = self._pass().carry_out(run.id)
            self._last_scan = time.monotonic()
            self._last_scan_seconds = self._last_scan - begun
            ended = ledger.run(run.id)
            self._say_end(run.id, state, "" if ended is None else ended.error)
            self._awaits_gates = ended is not None and failed_of_what_arms(ended) and self._leave() is not Leave.ALL
            # Who cancels a run wants nothing done, whatever was asked for while it went on.
            if state is RunState.TIMED_OUT or (state is not RunState.CANCELLED and ledger.wants_another_pass(run.id)):
                ledger.start_run()
        elif self._watch and self._last_scan is not None and (self._scan_is_due() or self._may_resume()):
            ledger.start_run()

    def _say_end(self, run_id: str, state: RunState, error: str) -> None:
        """In the log; where nothing is watched somebody waits for the run, and is told what it came to."""
        _log.info("run_ended", knowledge_base=self.name, run=run_id, state=state.value)
        if state is RunState.FAILED and self._watch:
            _log.error("run_failed", knowledge_base=self.name, run=run_id, error=error)
        if state is RunState.TIMED_OUT:
            _log.warning("run_took_too_long", knowledge_base=self.name, then="the next one goes on with what is left")

    def _scan_is_due(self) -> bool:
        interval = self._specification.scan_interval_seconds
        if self._polls:
            interval = min(interval, max(_POLL_SECONDS, self._last_scan_seconds / _POLL_SHARE))
        return time.monotonic() - (self._last_scan or 0.0) > interval

    def _may_resume(self) -> bool:
        """Whether the last run failed of a provider that is left alone since, and the time for that is over."""
        return self._awaits_gates and self._leave() is not Leave.NOTHING

    def _leave(self) -> Leave:
        return leave_of(self._gates().values())

    def _pass(self) -> Pass:
        return Pass(
            knowledge_base=self.name,
            state=self._led,
            tasks=self._tasks,
            scan=lambda: Scan(self._selection, self._specification.base_folder),
            index_sets=lambda: sets_to_fill(self._state),
            room=lambda: self._window.room(self.name),
            stopping=self._stopping,
            timeout_seconds=self._specification.indexing_timeout_seconds,
            gates=self._gates(),
        )

    def _end_run(self, error: str) -> None:
        try:
            run = self._led.ledger.current_run()
            if run is not None:
                self._led.ledger.end_run(run.id, RunState.FAILED, error)
        except DocmillError as unreachable:
            self._outages.began(self.name, unreachable)

    def _watch_until_stopped(self) -> None:
        said, pause_seconds = "", _RETRY_SECONDS
        while not self._stopping.is_set():
            led = self._leadership.led
            if led is None:
                self._watch_settled.set()
                self._stopping.wait(_LOOK_SECONDS)
                continue
            try:
                self._watcher(led).watch(Term(self._leadership, led, self._stopping), ready=self._watch_began)
                said, pause_seconds = "", _RETRY_SECONDS
                continue
            except NotLeader:
                self._leadership.lose(led)
                continue
            except DocmillError as error:
                if isinstance(error, RootUnavailable):
                    (_log.debug if said == error.code else _log.warning)("not_watching", knowledge_base=self.name, error=str(error))
                    said = error.code
                else:
                    self._outages.began(f"{self.name} watcher", error)
                pause_seconds, note = _RETRY_SECONDS, None
            except Exception as error:  # noqa: BLE001  # whatever it is, watching is tried again, and scans go on
                kind = type(error).__name__
                (_log.debug if said == kind else _log.warning)(
                    "not_watching", knowledge_base=self.name, error=str(error), then="frequent scans find changes, and it is tried again"
                )
                pause_seconds = min(_LONGEST_PAUSE_SECONDS, 2 * pause_seconds) if said == kind else _RETRY_SECONDS
                said, note = kind, polled(f"frequent scans find changes, which the system does not report: {error}")
            self._polls = note is not None
            self._watch_settled.set()
            if self._leadership.led is not None:  # else the note is another's
                self._note_watching(note)
            self._stopping.wait(pause_seconds)

    def _watcher(self, led: KnowledgeBaseState) -> Watcher:
        return Watcher(
            knowledge_base=self.name,
            base_folder=self._specification.base_folder,
            selection=self._selection,
            state=led,
            tasks=self._tasks,
            index_sets=lambda: sets_to_fill(self._state),
            scan=lambda: Scan(self._selection, self._specification.base_folder),
            rescan=self._start_run,
            force_polling=self._force_polling,
        )

    def _watch_began(self) -> None:
        """What changed since a scan began and before this moment made no event: then another pass is needed."""
        file_system = without_events(self._selection.starts)
        self._polls = file_system is not None
        trouble = f"what others change on {file_system} is not reported; frequent scans find it" if file_system else ""
        self._state.registry.note(WATCHING, watched(trouble))
        if self._scanning:
            self._start_run()
        self._outages.over(f"{self.name} watcher")
        self._watch_settled.set()

    def _start_run(self) -> None:
        self._state.ledger.start_run()

    def _note_watching(self, note: str | None) -> None:
        try:
            self._state.registry.note(WATCHING, note)
        except DocmillError as error:
            _log.debug("watching_not_noted", error=str(error))
