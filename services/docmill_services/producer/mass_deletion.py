"""Mass deletion: whether what a scan missed was deleted, or waits since a mount may be missing."""

import os
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import structlog

from docmill.domain.registry import DocumentState, Entry
from docmill.indexing.batches import contains, document_key
from docmill.indexing.held_removals import APPROVED, HELD, SCAN_ASKED, HeldRemovals, held_again, is_mass_deletion, may_go
from docmill.ports.registry import Registry
from docmill_services.producer.scan import Scan, ScannedFile

_log = structlog.get_logger(__name__)


@dataclass(slots=True)
class Arrivals:
    """Files that nobody knew before: what is missing elsewhere may have been moved to become them.

    Each has two keys: its name with its size, and its number with size and time, which are the same after a move.
    """

    count: int = 0
    _keys: "array[int]" = field(default_factory=lambda: array("Q"))
    _ordered: bool = False

    def add(self, file: ScannedFile) -> None:
        """Takes notice of one."""
        self.count += 1
        stat = file.stat
        self._keys.append(_key(os.path.basename(file.document_id), stat.size_bytes))
        self._keys.append(_key(f"{stat.mtime_ns:x}.{stat.inode:x}", stat.size_bytes))
        self._ordered = False

    def may_be(self, document_id: str, entry: Entry) -> bool:
        """Whether one of them may be this document under another path."""
        if not self._ordered:
            self._keys, self._ordered = array("Q", sorted(self._keys)), True
        if contains(self._keys, _key(os.path.basename(document_id), entry.size_bytes)):
            return True
        parts = entry.stat.split(".")
        return len(parts) == 4 and contains(self._keys, _key(f"{parts[1]}.{parts[3]}", entry.size_bytes))


@dataclass(frozen=True, slots=True)
class Missing:
    """What a scan missed of one index set.

    Attributes:
        known: documents that are indexed.
        gone: those that must be removed unless they wait.
        lost: those of them that are not on disk any more, and were not moved.
        below_roots: those that are kept since their root is not there.
    """

    known: int
    gone: int
    lost: int
    below_roots: int


@dataclass(slots=True)
class MassDeletionGuard:
    """Decides for one run.

    Attributes:
        clock: seconds since 1970.
        check: called from time to time; what it raises ends the counting.
    """

    knowledge_base: str
    registry: Registry
    clock: Callable[[], float]
    check: Callable[[], object] = lambda: None
    asked: bool = field(default=False, init=False)
    _approved: HeldRemovals | None = field(default=None, init=False)

    def begin(self) -> None:
        """Takes notice of what people said since the last run."""
        self.asked = self.registry.noted(SCAN_ASKED) is not None
        if self.asked:
            self.registry.note(SCAN_ASKED, None)
        self._approved = HeldRemovals.from_json(self.registry.noted(APPROVED))

    def give_up_roots(self, scan: Scan, index_sets: Sequence[str]) -> list[str]:
        """Lets what is missing count as gone where a root is gone for good; returns those roots as documents' ids.

        That is a root whose removal was approved, and a file that is a root itself, in a folder that is there and is not empty.
        """
        given_up = []
        for root, path in scan.missing_roots().items():
            is_approved = self._approved is not None and root in self._approved.roots
            if is_approved or (scan.is_deleted_root(path) and self._is_known(root, index_sets)):
                scan.give_up(path)
                given_up.append(root)
        return given_up

    def missing(self, index_set: str, scan: Scan, seen: "array[int]", arrivals: Arrivals) -> Missing:
        """Counts what a scan missed; ``seen`` are the keys of what it saw, in order."""
        known = gone = lost = moved = below_roots = 0
        for document_id, entry in self.registry.scan(index_set):
            if entry.state is DocumentState.GONE:
                continue
            known += 1
            if known % 500 == 0:
                self.check()
            if contains(seen, document_key(document_id)):
                continue
            if not scan.proves_gone(document_id):
                below_roots += scan.is_in_missing_root(document_id)
                continue
            gone += 1
            if scan.is_missing(document_id):
                lost += 1
                moved += arrivals.may_be(document_id, entry)
        return Missing(known, gone, lost - min(moved, arrivals.count), below_roots)

    def holds(self, missing: Missing, scan: Scan, run_id: str) -> HeldRemovals | None:
        """What waits, of which ``lost`` is 0 when all that is gone may go; None when nothing does. Notes it, and says so."""
        earlier = HeldRemovals.from_json(self.registry.noted(HELD))
        now = self.clock()
        lost = missing.lost if is_mass_deletion(missing.known, missing.lost) else 0
        if lost and may_go(lost, earlier, self._approved, run_id=run_id, now=now, asked=self.asked):
            lost = 0
        held = None
        if lost or missing.below_roots:
            reason = _reason(lost, missing, scan)
            held = held_again(lost, scan.missing_roots(), missing.below_roots, reason, earlier, run_id=run_id, now=now)
        if held != earlier:
            self.registry.note(HELD, None if held is None else held.as_json())
        if self._approved is not None:
            self.registry.note(APPROVED, None)
            self._approved = None
        if held is not None:
            _log.warning(
                "removals_wait",
                knowledge_base=self.knowledge_base,
                count=held.documents,
                reason=held.reason,
                then="the next full scan, or docmill approve-removals" if lost else "docmill approve-removals, if they are gone for good",
            )
        return held

    def _is_known(self, document_id: str, index_sets: Sequence[str]) -> bool:
        found = (self.registry.entries(index_set, [document_id])[1].get(document_id) for index_set in index_sets)
        return any(entry is not None and entry.state is not DocumentState.GONE for entry in found)


def _reason(lost: int, missing: Missing, scan: Scan) -> str:
    reasons = [f"{lost} of {missing.known} documents are missing at once"] if lost else []
    if missing.below_roots:
        reasons += [str(error) for error in scan.unavailable.values()]
    return "; ".join(reasons)


def _key(text: str, size_bytes: int) -> int:
    return document_key(f"{size_bytes:x}/{text}")
