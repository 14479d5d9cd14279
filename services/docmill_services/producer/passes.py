"""Passes: one run over a knowledge base: scan, plan, enqueue, wait, finish."""

import json
import os
import threading
import time
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import structlog

from docmill.domain.errors import DocmillError
from docmill.domain.registry import DocumentState, Lane
from docmill.domain.run_rules import failure_of_all, failure_that_ends
from docmill.domain.runs import Run, RunState
from docmill.indexing.batches import contains, document_key, in_batches
from docmill.indexing.sources import ROOTS
from docmill.ports.queue import TaskQueue
from docmill.ports.state import KnowledgeBaseState
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


@dataclass(frozen=True, slots=True)
class Pass:
    """What a run needs.

    Attributes:
        scan: makes one scan.
        index_sets: the sets that must come to equal the disk.
        room: how many more documents may be outstanding now.
        timeout_seconds: bound of the run; None is unbounded.
    """

    knowledge_base: str
    state: KnowledgeBaseState
    tasks: TaskQueue
    scan: Callable[[], Scan]
    index_sets: Callable[[], Sequence[str]]
    room: Callable[[], int]
    stopping: threading.Event
    timeout_seconds: float | None

    def carry_out(self, run_id: str) -> RunState:
        """Runs ``run_id`` to its end and returns its final state.

        Raises:
            Stopped: the process is stopping.
            StoreDown: registry or broker do not answer.
        """
        started = time.monotonic()
        ledger = self.state.ledger
        scan = self.scan()
        self._count_anew(run_id)
        try:
            seen = self._plan_additions(run_id, scan, started)
            if scan.unavailable and not seen:
                error = next(iter(scan.unavailable.values()))
                _log.error("run_failed", knowledge_base=self.knowledge_base, error=str(error))
                ledger.end_run(run_id, RunState.FAILED, f"{error.code}: {error}")
                return RunState.FAILED
            self._report(run_id, scan)
            self._note_roots(scan)
            self._plan_removals(run_id, scan, seen, started)
        except _Ended as ended:
            return ended.state
        ledger.scan_ended(run_id)
        try:
            # Looked at before it may complete: a run whose last document failed of what ends a run has failed.
            while not self._is_complete(self._check(run_id, started)):
                if self.stopping.wait(_POLL_SECONDS):
                    raise Stopped
        except _Ended as ended:
            return ended.state
        run = ledger.run(run_id)
        return run.state if run is not None else RunState.CANCELLED

    def _count_anew(self, run_id: str) -> None:
        """A scan that was broken off begins again with its run, and counts its files again; what was done since was planned by then."""
        run = self.state.ledger.run(run_id)
        if run is None or not run.counters.get("seen"):
            return
        before = run.counters
        done = sum(count for name, count in before.items() if name in ("indexed", "empty") or name.startswith("skipped."))
        reset = dict.fromkeys(("found", "seen", "unchanged", "planned", _ROOTS_MISSING, _NOT_READ), 0) | {
            "unchanged": -done,
            "planned": done,
        }
        changes = {name: wanted - before.get(name, 0) for name, wanted in reset.items()}
        self.state.ledger.count(run_id, {name: change for name, change in changes.items() if change})

    def _note_roots(self, scan: Scan) -> None:
        """Lets workers know which folders were scanned, before anything that is gone from them is planned."""
        noted = json.loads(self.state.registry.noted(ROOTS) or "{}")
        there = {place: identity.inode for place, identity in scan.root_ids().items()}
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

    def _plan_additions(self, run_id: str, scan: Scan, started: float) -> "array[int]":
        """Enqueues what is new or changed; returns the keys of all documents that were seen, in order."""
        seen: array[int] = array("Q")
        counting: threading.Thread | None = None
        for files in in_batches(scan.files(), _BATCH):
            self._check(run_id, started)
            ids = [file.document_id for file in files]
            seen.extend(document_key(document_id) for document_id in ids)
            known = [self.state.registry.stats(index_set, ids) for index_set in self.index_sets()]
            planned = [file.document_id for place, file in enumerate(files) if needs_work(file.stat, [stats[place] for stats in known])]
            self.state.ledger.count(run_id, {"seen": len(files), "unchanged": len(files) - len(planned), "planned": len(planned)})
            if counting is None and len(planned) > self.room():
                counting = threading.Thread(target=self._count_files, args=(run_id,), name="docmill-count", daemon=True)
                counting.start()
            self._enqueue(run_id, planned, started)
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

    def _plan_removals(self, run_id: str, scan: Scan, seen: "array[int]", started: float) -> None:
        for index_set in self.index_sets():
            for entries in in_batches(self.state.registry.scan(index_set), _BATCH):
                self._check(run_id, started)
                unseen = [
                    document_id
                    for document_id, entry in entries
                    if entry.state is not DocumentState.GONE and not contains(seen, document_key(document_id))
                ]
                gone = [document_id for document_id in unseen if scan.proves_gone(document_id)]
                if len(gone) < len(unseen):
                    _log.warning(
                        "removals_wait",
                        knowledge_base=self.knowledge_base,
                        count=len(unseen) - len(gone),
                        reason="a folder could not be read",
                    )
                self._enqueue(run_id, gone, started)

    def _enqueue(self, run_id: str, document_ids: Sequence[str], started: float) -> None:
        """Plans documents as room for them comes; a window smaller than a part is filled bit by bit."""
        waiting = list(document_ids)
        while waiting:
            part = waiting[: min(_ENQUEUE, self.room())]
            if part:
                messages = self.state.ledger.enqueue(part, Lane.BULK, run_id=run_id)
                self.tasks.send(messages, Lane.BULK)
                del waiting[: len(part)]
                continue
            self._check(run_id, started)
            if self.stopping.wait(_POLL_SECONDS):
                raise Stopped

    def _check(self, run_id: str, started: float) -> Run:
        """The run as it stands; ends it early where it must end.

        Raises:
            Stopped: the process is stopping.
            _Ended: the run has ended.
        """
        if self.stopping.is_set():
            raise Stopped
        run = self.state.ledger.run(run_id)
        if run is None or run.state.final:
            raise _Ended(run.state if run is not None else RunState.CANCELLED)
        if self.timeout_seconds is not None and time.monotonic() - started > self.timeout_seconds:
            self.state.ledger.end_run(run_id, RunState.TIMED_OUT, f"took longer than {self.timeout_seconds:.0f} s")
            raise _Ended(RunState.TIMED_OUT)
        self._fail_of(run_id, failure_that_ends(run.counters))
        return run

    def _is_complete(self, run: Run) -> bool:
        """Completes a run that plans nothing more once its documents have ended.

        Raises:
            _Ended: none of them got through, so it has failed.
        """
        if run.pending:
            return False
        self._fail_of(run.id, failure_of_all(run.counters))
        return self.state.ledger.complete(run.id)

    def _fail_of(self, run_id: str, code: str | None) -> None:
        if code is not None:
            self.state.ledger.end_run(run_id, RunState.FAILED, self._reason_of(code))
            raise _Ended(RunState.FAILED)

    def _reason_of(self, code: str) -> str:
        """In the words of a document that failed of it."""
        for index_set in self.index_sets():
            for _, entry in self.state.registry.page(index_set, after="", limit=1000, state=DocumentState.FAILED):
                if entry.reason.startswith(f"{code}:"):
                    return entry.reason
        return code


class _Ended(Exception):
    def __init__(self, state: RunState) -> None:
        super().__init__(state)
        self.state = state
