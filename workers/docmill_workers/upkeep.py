"""Upkeep: the sweeper and the comparison of stores and registry, by whichever worker holds the role."""

import threading
import time
from collections.abc import Callable, Sequence

import structlog

from docmill.domain.errors import DocmillError
from docmill.domain.registry import Lane
from docmill.indexing.anti_entropy import reconcile_stores
from docmill.indexing.index_sets import COMPARISON_WANTED
from docmill.indexing.sweeping import sweep_safely
from docmill.indexing.targets import Target
from docmill.ports.queue import TaskQueue
from docmill.ports.state import KnowledgeBaseState

_log = structlog.get_logger(__name__)
_ROLE = "sweeper"


class Upkeep:
    """A thread that keeps one knowledge base's stores clean while it holds the sweeper's role."""

    def __init__(
        self,
        state: KnowledgeBaseState,
        targets: Callable[[], Sequence[Target]],
        tasks: TaskQueue,
        *,
        open_state: Callable[[], object],
        settle: Callable[[], bool],
        drop_others: Callable[[], None],
        holder: str,
        grace_seconds: float,
        round_seconds: float = 5.0,
        comparison_seconds: float = 3600.0,
        batch_pause_seconds: float = 0.05,
    ) -> None:
        """Nothing runs before ``start``.

        Stores are compared once a run is complete, then every ``comparison_seconds``, whenever the registry has begun a new epoch, and
        when a process that found an index lacking has asked for it.

        Args:
            state: of the knowledge base.
            targets: its index sets.
            tasks: takes what must be indexed again.
            open_state: opens the state again when it was lost or set back; called in each round, whoever has the role.
            settle: moves the pointer to the set being built when that is complete.
            drop_others: removes sets that nobody reads any more.
            holder: names this process.
            grace_seconds: how long replaced chunks and replaced index sets stay.
            round_seconds: between two looks.
            comparison_seconds: between two comparisons of stores and registry.
            batch_pause_seconds: between two batches of a comparison.
        """
        self._open_state = open_state
        self._settle = settle
        self._drop_others = drop_others
        self._drop_at: float | None = None
        self._token: int | None = None
        self._state = state
        self._targets = targets
        self._tasks = tasks
        self._holder = holder
        self._grace_seconds = grace_seconds
        self._round_seconds = round_seconds
        self._comparison_seconds = comparison_seconds
        self._batch_pause_seconds = batch_pause_seconds
        self._compared_at: float | None = None
        self._compared_epoch = 0
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._work, name="docmill-upkeep", daemon=True)

    def start(self) -> None:
        """Starts the thread."""
        self._thread.start()

    def stop(self, timeout_seconds: float) -> None:
        """Ends the thread after the batch it is at."""
        self._stopping.set()
        self._thread.join(timeout_seconds)

    def _work(self) -> None:
        while not self._stopping.wait(self._round_seconds):
            try:
                self._open_state()
                self._targets()  # what cannot write every set leaves the role to others
                if self._has_role():
                    sweep_safely(self._state.registry, self._targets, grace_seconds=self._grace_seconds)
                    self._settle_sets()
                    self._compare_when_due()
            except _Stopped:
                return
            except DocmillError as error:
                _log.warning("upkeep_interrupted", error=str(error), then="the next round goes on")
            except Exception:  # noqa: BLE001  # a defect in one round is no reason to never clean up again
                _log.exception("upkeep_failed")

    def _has_role(self) -> bool:
        token = self._state.leases.acquire_role(_ROLE, self._holder, self._round_seconds * 6)
        if token is not None and token != self._token:
            self._drop_at = time.monotonic() + self._grace_seconds  # the holder before may have ended between a flip and its end
        self._token = token
        return token is not None

    def _settle_sets(self) -> None:
        if self._settle():
            self._drop_at = time.monotonic() + self._grace_seconds
        if self._drop_at is not None and time.monotonic() >= self._drop_at:
            self._drop_others()
            self._drop_at = None

    def _compare_when_due(self) -> None:
        epoch = self._state.registry.position().epoch
        is_wanted = self._state.registry.noted(COMPARISON_WANTED) is not None
        is_due = is_wanted or self._compared_at is None or time.monotonic() - self._compared_at >= self._comparison_seconds
        if not is_due and epoch == self._compared_epoch:
            return
        if self._state.ledger.last_complete_run() is None:
            return
        for target in self._targets():
            repair = reconcile_stores(self._state, target, pause=self._pause)
            if repair.messages:
                self._tasks.send(repair.messages, Lane.BULK)
            if repair.removed or repair.planned_again:
                _log.info("stores_compared", removed=repair.removed, planned_again=len(repair.planned_again))
        self._compared_at, self._compared_epoch = time.monotonic(), epoch
        if is_wanted:
            self._state.registry.note(COMPARISON_WANTED, None)

    def _pause(self) -> None:
        if self._stopping.wait(self._batch_pause_seconds):
            raise _Stopped("the process is stopping")


class _Stopped(DocmillError):
    """The comparison ends early."""
