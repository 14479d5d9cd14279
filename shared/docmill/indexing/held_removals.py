"""Removals that wait: too much went at once, so that a mount may be missing rather than files be deleted; pure.

The producer notes what waits under ``HELD``, and a person's word that it may go under ``APPROVED``.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Final, Self

#: The note of what waits.
HELD: Final = "removals_held"
#: The note of what may go.
APPROVED: Final = "removals_approved"
#: The note that a person asked for the next scan, rather than time or an event.
SCAN_ASKED: Final = "scan_asked"

#: So many documents may go at once, whatever share of a knowledge base they are.
FEW_DOCUMENTS: Final = 100
#: A later scan confirms what an earlier one missed no sooner than this, unless a person asked for it.
CONFIRMED_AFTER_SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True)
class HeldRemovals:
    """What one scan missed, and did not remove.

    Attributes:
        lost: documents that are missing below roots that are there; 0 when they may go.
        roots: the roots that are missing or empty, as documents' ids.
        below_roots: how many documents those held.
        reason: one sentence.
        since: when that was first seen, in seconds since 1970.
        run_id: the run that saw it first.
    """

    lost: int
    roots: tuple[str, ...]
    below_roots: int
    reason: str
    since: float
    run_id: str

    @property
    def documents(self) -> int:
        """How many documents wait."""
        return self.lost + self.below_roots

    def as_json(self) -> str:
        """For the note."""
        return json.dumps(
            {
                "lost": self.lost,
                "roots": list(self.roots),
                "below_roots": self.below_roots,
                "reason": self.reason,
                "since": self.since,
                "run": self.run_id,
            }
        )

    @classmethod
    def from_json(cls, text: str | None) -> Self | None:
        """What ``as_json`` wrote; None for None."""
        if not text:
            return None
        found: dict[str, Any] = json.loads(text)
        return cls(found["lost"], tuple(found["roots"]), found["below_roots"], found["reason"], found["since"], found["run"])


def is_mass_deletion(known: int, lost: int) -> bool:
    """Whether so many of the ``known`` documents of a knowledge base are missing at once that their removal waits."""
    return lost > FEW_DOCUMENTS and 2 * lost > known


def may_go(lost: int, held: HeldRemovals | None, approved: HeldRemovals | None, *, run_id: str, now: float, asked: bool) -> bool:
    """Whether a mass deletion is carried out: a person approved it, or an earlier scan had seen it.

    Args:
        lost: how many documents are missing.
        held: what an earlier scan noted.
        approved: what a person approved.
        run_id: of the run that sees them missing now.
        now: in seconds since 1970.
        asked: a person asked for this scan.
    """
    if approved is not None and lost <= approved.documents + FEW_DOCUMENTS:
        return True
    if held is None or held.run_id == run_id or lost > held.lost + FEW_DOCUMENTS:
        return False
    return asked or now - held.since >= CONFIRMED_AFTER_SECONDS


def held_again(
    lost: int, roots: Iterable[str], below_roots: int, reason: str, earlier: HeldRemovals | None, *, run_id: str, now: float
) -> HeldRemovals:
    """What waits now; it was first seen when it was no more than now, give or take a few."""
    held = HeldRemovals(lost, tuple(roots), below_roots, reason, now, run_id)
    if earlier is None or lost > earlier.lost + FEW_DOCUMENTS:
        return held
    return replace(held, since=earlier.since, run_id=earlier.run_id)
