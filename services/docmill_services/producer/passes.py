"""Passes: one run over a knowledge base: scan, plan, enqueue, wait, finish."""

import json
import os
import threading
import time
from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import structlog

from docmill.domain.errors import DocmillError
from docmill.domain.registry import DocumentState, Lane
from docmill.domain.runs import REMOVALS_HELD, Run, RunState
from docmill.indexing.batches import contains, document_key, in_batches
from docmill.indexing.sources import GIVEN_UP, ROOTS
from docmill.ports.gate import Gate
from docmill.ports.queue import TaskQueue
from docmill.ports.state import KnowledgeBaseState
from docmill_services.producer.backing_off import PROBING_DOCUMENTS, BackingOff, Leave
from docmill_services.producer.ending import Ended, Ending
from docmill_services.producer.mass_deletion import Arrivals, MassDeletionGuard
from docmill_services.producer.planning import needs_work
from docmill_services.producer.scan import Scan

_log = structlog.get_logger(__name__)
_BATCH = 500
_ENQUEUE = 100
_POLL_SECONDS = 0.05
_ROOTS_MISSING: Final = "failed.root_unavailable"
_NOT_READ: Final = "failed.unreadable"


class Stopped(Exception):
    """The process is stopping; the run goes on at the next start."""


@dataclass(slots=True)
class _Course:
    """How far a run has come.

    Attributes:
        pending: tickets of the run, as of the last check.
        left_out: whether the scan found what may not be planned while the run backs off.
        removing: what was planned last to be removed while it does.
    """

    run_id: str
    started: float
    ending: Ending
    backing_off: BackingOff
    guard: MassDeletionGuard
    pending: int = 0
    left_out: bool = False
    removing: list[str] = field(default_factory=list)

    @property
    def leave(self) -> Leave:
        return self.backing_off.leave


@dataclass(frozen=True, slots=True)
class Pass:
    """What a run needs.

    While a gate is not open the run backs off: what is new or changed is left out of its plan, but for a few documents once the gate may be
    tried; removals and what was planned go on; and when the gate has opened the scan is made again, within the same run.

    Attributes:
        scan: makes one scan.
        index_sets: the sets that must come to equal the disk.
        room: how many more documents may be outstanding now.
        timeout_seconds: bound of the run, without the time in which it backed off; None is unbounded.
        gates: of the providers that documents need, by name.
        clock: seconds since 1970.
        monotonic: seconds, for the bound.
    """

    knowledge_base: str
    state: KnowledgeBaseState
    tasks: TaskQueue
    scan: Callable[[], Scan]
    index_sets: Callable[[], Sequence[str]]
    room: Callable[[], int]
    stopping: threading.Event
    timeout_seconds: float | None
    gates: Mapping[str, Gate] = field(default_factory=dict)
    clock: Callable[[], float] = time.time
    monotonic: Callable[[], float] = time.monotonic

    def carry_out(self, run_id: str) -> RunState:
        """Runs ``run_id`` to its end and returns its final state.

        Raises:
            Stopped: the process is stopping.
            StoreDown: registry or broker do not answer.
        """
        ledger = self.state.ledger
        backing_off = BackingOff(self.knowledge_base, ledger, self.gates, self.clock, self.monotonic)
        ending = Ending(run_id, self.state, self.index_sets, self.gates)
        guard = MassDeletionGuard(self.knowledge_base, self.state.registry, self.clock)
        course = _Course(run_id, self.monotonic(), ending, backing_off, guard)
        course.guard.check = partial(self._check, course)
        course.guard.begin()
        try:
            while not self._plan(course):
                self._wait_to_plan_again(course)
            ledger.scan_ended(run_id)
            # Looked at before it may complete: a run whose last document failed of what ends a run has failed.
            while not ending.is_complete(self._check(course)):
                self._pause()
        except Ended as ended:
            return ended.state
        run = ledger.run(run_id)
        return run.state if run is not None else RunState.CANCELLED

    def _plan(self, course: _Course) -> bool:
        """One scan, and what follows from it; whether all of that is planned."""
        scan = self.scan()
        self._count_anew(course.run_id)
        course.left_out = False
        arrivals = Arrivals()
        seen = self._plan_additions(course, scan, arrivals)
        given_up = course.guard.give_up_roots(scan, self.index_sets())
        if scan.unavailable and not seen and not given_up:
            self._missing(course, scan, seen, arrivals)
            error = next(iter(scan.unavailable.values()))
            course.ending.end(RunState.FAILED, f"{error.code}: {error}")
        self._report(course.run_id, scan)
        self._note_roots(scan, given_up)
        self._plan_removals(course, scan, seen, arrivals)
        return not course.left_out

    def _wait_to_plan_again(self, course: _Course) -> None:
        """Until the gates have opened, or may be tried and no document of the run waits that would."""
        while True:
            self._check(course)
            if course.leave is Leave.ALL or (course.leave is Leave.FEW and not course.pending):
                return
            self._pause()

    def _count_anew(self, run_id: str) -> None:
        """A scan that was broken off begins again with its run, and counts its files again; what was done since was planned by then."""
        run = self.state.ledger.run(run_id)
        if run is None or not run.counters.get("seen"):
            return
        before = run.counters
        done = sum(count for name, count in before.items() if name in ("indexed", "empty") or name.startswith("skipped."))
        reset = dict.fromkeys(("found", "seen", "unchanged", "planned", _ROOTS_MISSING, _NOT_READ, REMOVALS_HELD), 0) | {
            "unchanged": -done,
            "planned": done,
        }
        changes = {name: wanted - before.get(name, 0) for name, wanted in reset.items()}
        self.state.ledger.count(run_id, {name: change for name, change in changes.items() if change})

    def _note_roots(self, scan: Scan, given_up: Sequence[str]) -> None:
        """Lets workers know which folders were scanned, before anything that is gone from them is planned."""
        noted = json.loads(self.state.registry.noted(ROOTS) or "{}")
        there = {place: identity.inode for place, identity in scan.root_ids().items()} | dict.fromkeys(given_up, GIVEN_UP)
        if noted != noted | there:
            self.state.registry.note(ROOTS, json.dumps(noted | there))

    def _report(self, run_id: str, scan: Scan) -> None:
        """Says what could not be scanned; its documents stay as they are, and the run does not count as free of errors."""
        for path, error in scan.unavailable.items():
            _log.warning("root_unavailable", knowledge_base=self.knowledge_base, root=os.fsdecode(path), error=str(error))
        for unreadable in scan.unreadable:
            _log.warning("not_scanned", path=os.fsdecode(unreadable.path), reason=unreadable.message)
        missing = {_ROOTS_MISSING: len(scan.unavailable), _NOT_READ: len(scan.unreadable)}
        self.state.ledger.count(run_id, {name: count for name, count in missing.items() if count})

    def _plan_additions(self, course: _Course, scan: Scan, arrivals: Arrivals) -> "array[int]":
        """Enqueues what is new or changed, and notes what is new; returns the keys of all documents that were seen, in order."""
        run_id = course.run_id
        seen: array[int] = array("Q")
        counting: threading.Thread | None = None
        for files in in_batches(scan.files(), _BATCH):
            self._check(course)
            ids = [file.document_id for file in files]
            seen.extend(document_key(document_id) for document_id in ids)
            known = [self.state.registry.stats(index_set, ids) for index_set in self.index_sets()]
            planned = [file.document_id for place, file in enumerate(files) if needs_work(file.stat, [stats[place] for stats in known])]
            for place, file in enumerate(files):
                if all(stats[place] is None for stats in known):
                    arrivals.add(file)
            self.state.ledger.count(run_id, {"seen": len(files), "unchanged": len(files) - len(planned), "planned": len(planned)})
            if counting is None and course.leave is Leave.ALL and len(planned) > self.room():
                counting = threading.Thread(target=self._count_files, args=(run_id,), name="docmill-count", daemon=True)
                counting.start()
            self._enqueue_additions(course, planned)
        return array("Q", sorted(seen))

    def _count_files(self, run_id: str) -> None:
        """Counts what the scan will come to, while that waits for documents to be done: only so can anybody say how long it will take."""
        found = 0
        for _ in self.scan().files():
            found += 1
            if self.stopping.is_set():
                return
        try:
            self.state.ledger.count(run_id, {"found": found})
        except DocmillError as error:
            _log.debug("files_not_counted", knowledge_base=self.knowledge_base, error=str(error))

    def _plan_removals(self, course: _Course, scan: Scan, seen: "array[int]", arrivals: Arrivals) -> None:
        """Enqueues what was not seen, unless so much is missing that it waits; what could not be looked at stays as it is."""
        for index_set in self._missing(course, scan, seen, arrivals):
            for entries in in_batches(self.state.registry.scan(index_set), _BATCH):
                self._check(course)
                gone = [
                    document_id
                    for document_id, entry in entries
                    if entry.state is not DocumentState.GONE
                    and not contains(seen, document_key(document_id))
                    and scan.proves_gone(document_id)
                ]
                self._enqueue_removals(course, gone)

    def _missing(self, course: _Course, scan: Scan, seen: "array[int]", arrivals: Arrivals) -> Sequence[str]:
        """The index sets from which something must be removed now; counts what waits."""
        counted = {index_set: course.guard.missing(index_set, scan, seen, arrivals) for index_set in self.index_sets()}
        if not counted:
            return ()
        held = course.guard.holds(next(iter(counted.values())), scan, course.run_id)
        if held is not None:
            self.state.ledger.count(course.run_id, {REMOVALS_HELD: held.documents})
        return () if held is not None and held.lost else [index_set for index_set, missing in counted.items() if missing.gone]

    def _enqueue_additions(self, course: _Course, document_ids: Sequence[str]) -> None:
        """Plans documents as room for them comes, and leaves them out while no provider may be called."""
        waiting = list(document_ids)
        while waiting:
            if course.leave is Leave.NOTHING:
                course.left_out = True
                return
            room = self.room() if course.leave is Leave.ALL else min(self.room(), PROBING_DOCUMENTS - course.pending)
            self._enqueue_some(course, waiting, room)

    def _enqueue_removals(self, course: _Course, document_ids: Sequence[str]) -> None:
        """Plans removals as room for them comes; the window may be full of documents that wait for a provider, which are not waited for."""
        waiting = list(document_ids)
        while waiting:
            if course.leave is Leave.ALL:
                self._enqueue_some(course, waiting, self.room())
            else:
                going_on = any(self.state.ledger.pending(course.removing))
                course.removing = self._enqueue_some(course, waiting, 0 if going_on else _ENQUEUE) or course.removing

    def _enqueue_some(self, course: _Course, waiting: list[str], room: int) -> list[str]:
        """Takes from ``waiting`` what there is room for and plans it; returns what a message was sent of. Without room it waits a little.

        A window smaller than a part is filled bit by bit.
        """
        part = waiting[: max(0, min(_ENQUEUE, room))]
        messages = self.state.ledger.enqueue(part, Lane.BULK, run_id=course.run_id) if part else []
        if messages:
            self.tasks.send(messages, Lane.BULK)
        del waiting[: len(part)]
        if not part:
            self._pause()
        if not part or self.gates:
            self._check(course)
        return [message.document_id for message in messages]

    def _pause(self) -> None:
        if self.stopping.wait(_POLL_SECONDS):
            raise Stopped

    def _check(self, course: _Course) -> Run:
        """The run as it stands; ends it early where it must end.

        Raises:
            Stopped: the process is stopping.
            Ended: the run has ended.
        """
        if self.stopping.is_set():
            raise Stopped
        run = course.ending.run_that_goes_on()
        course.pending = run.pending
        course.backing_off.look(run)
        seconds = self.monotonic() - course.started - course.backing_off.seconds
        if self.timeout_seconds is not None and seconds > self.timeout_seconds:
            course.ending.end(RunState.TIMED_OUT, f"took longer than {self.timeout_seconds:.0f} s")
        return run
