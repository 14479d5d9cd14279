"""Registry and leases of one knowledge base, and what holds for them and for its run ledger: three faces of one atomic state.

All three of a knowledge base share one state: every method is one atomic step (one script on Redis), except that ``scan`` and ``page`` may
take several and that ``intents``, ``commit``, ``settle_garbage`` and ``adopt`` take one per item. Times are the state's own clock. Any
method raises ``StoreDown`` when the state cannot be reached. While the epoch is 0 (never opened, or emptied) ``enqueue``, ``begin`` and
``start_run`` raise ``StateLost``: nothing may be minted before ``raise_epoch``.

The state remembers which server its epoch was opened on. When another one has it (a fail-over), or that one was restarted, the last
changes may be gone: every method but ``position``, ``raise_epoch`` and ``reopen`` raises ``StateSetBack`` then and changes nothing, until
the epoch is raised by a process that has the stores and has raised it there first.
"""

from collections.abc import Iterator, Sequence
from typing import Final, Protocol

from docmill.domain.registry import (
    Attempt,
    Commit,
    CommitResult,
    DocumentState,
    Entry,
    Garbage,
    Intent,
    Position,
)

#: The role of the one process that plans the work of a knowledge base.
PRODUCER_ROLE: Final = "producer"
#: The role of the one process that rebuilds a lost registry.
REBUILD_ROLE: Final = "rebuild"


class Registry(Protocol):
    """Which generation of each document is live."""

    def position(self) -> Position:
        """Where the knowledge base stands, all of it read together. A state that was never opened has epoch 0."""
        ...

    def raise_epoch(self, at_least: int) -> int:
        """Makes the epoch one more than it was, and no less than ``at_least``; returns it.

        Attempts of older epochs can change nothing any more: their leases are void and their ledger entries count as expired.
        """
        ...

    def reopen(self, at_least: int) -> int | None:
        """``raise_epoch``, but only where the state was set back; None where it was not, or another process has opened it again."""
        ...

    def serve(self, index_set: str) -> None:
        """Makes ``index_set`` the one that queries read."""
        ...

    def flip(self, index_set: str, note: str) -> bool:
        """``serve``, but only if ``index_set`` is the text that is kept under ``note``, which is forgotten then; False where it is not."""
        ...

    def note(self, key: str, text: str | None) -> None:
        """Keeps a short text of the knowledge base under ``key``; None forgets it."""
        ...

    def noted(self, key: str) -> str | None:
        """The text that is kept under ``key``, or None."""
        ...

    def forget_index_set(self, index_set: str) -> None:
        """Removes all entries of an index set; ``ValueError`` for the one that is served. Its generations do not enter garbage."""
        ...

    def index_sets(self) -> list[str]:
        """The index sets that have entries or are served, sorted."""
        ...

    def entries(self, index_set: str, document_ids: Sequence[str]) -> tuple[int, dict[str, Entry]]:
        """The epoch and the entries of these documents, read together; unknown documents are left out."""
        ...

    def entries_now(self, index_set: str, document_ids: Sequence[str]) -> tuple[Position, dict[str, Entry]]:
        """The position and the entries of these documents, read together; unknown documents are left out."""
        ...

    def stats(self, index_set: str, document_ids: Sequence[str]) -> list[str | None]:
        """For each document the packed stat signature that a scan compares with; None when it is unknown, gone or failed.

        "" means known, but to be read again (racy or marked).
        """
        ...

    def scan(self, index_set: str) -> Iterator[tuple[str, Entry]]:
        """Every entry, in no order; what changes meanwhile may be seen before or after. GONE entries are among them."""
        ...

    def page(self, index_set: str, *, after: str, limit: int, state: DocumentState | None) -> list[tuple[str, Entry]]:
        """At most ``limit`` entries with an id above ``after`` in code-point order of the id, without GONE ones."""
        ...

    def counts(self, index_set: str) -> tuple[dict[DocumentState, int], dict[str, int]]:
        """How many documents are in each stored state, and how many live chunks each strategy has."""
        ...

    def intents(self, intents: Sequence[Intent]) -> list[bool]:
        """Records chunk counts before the first write; False for an attempt that has lost its lease or its epoch."""
        ...

    def commit(self, commits: Sequence[Commit]) -> list[CommitResult]:
        """Makes generations live, each on its own.

        A commit is carried out only if its epoch holds, the lease is still the attempt's, and the generation is above the live one.
        Then, atomically: the commit number rises; in each index set live moves to previous and the new version becomes live; the new
        generation leaves garbage and the old one enters it; the lease is released; the ticket ends; the counters rise, and with them in the
        attempt's run ``indexed``, ``empty``, ``removed`` or ``skipped.<reason>`` by the state; a document that was changed meanwhile gets a
        new live ticket; it is no suspect any more. Otherwise nothing changes.

        GONE applies to every index set that has an entry of the document, whatever ``chunks`` names; where none has, nothing becomes live
        (the generation stays in garbage, ``removed`` does not rise), but the attempt ends.
        """
        ...

    def mark(self, index_set: str, document_id: str, generation: int) -> None:
        """Notes that the live version is not whole, if ``generation`` is still the live one."""
        ...

    def due_garbage(self, grace_seconds: float, limit: int) -> list[Garbage]:
        """Generations that may be deleted now: noted at least the grace ago, not live in any index set, not leased, oldest first.

        ``chunks`` may name an index set that was forgotten since.
        """
        ...

    def settle_garbage(self, garbage: Sequence[Garbage]) -> None:
        """Notes that these were deleted: after the first time they wait the grace again, after the second they are forgotten.

        Those without chunk counts are forgotten at once. One that is not as it was when ``due_garbage`` returned it is left alone.
        """
        ...

    def forget_gone(self, grace_seconds: float, limit: int) -> int:
        """Forgets entries that have been GONE for the grace; returns how many, at most ``limit``, over all index sets."""
        ...

    def unknown_generations(self, index_set: str, generations: Sequence[tuple[str, int]]) -> list[tuple[str, int]]:
        """Those of ``(document, generation)`` that are neither live in this index set, nor leased, nor in garbage.

        Raises ``StateLost`` while the epoch is 0: a registry that was emptied knows none, and what nobody knows is removed.
        """
        ...

    def adopt(self, index_set: str, entries: Sequence[tuple[str, Entry]], token: int) -> bool:
        """Puts entries that were found in the stores in the place of those that are there: how a lost registry is rebuilt.

        Returns False, and changes nothing, when the epoch is above 0 or ``token`` does not hold the role ``REBUILD_ROLE`` any more:
        only one process may rebuild, and only before anything is minted.
        """
        ...


class Leases(Protocol):
    """Locks with a short time to live. A lease of a document is taken by ``RunLedger.begin`` and belongs to a generation."""

    def renew(self, attempts: Sequence[Attempt], ttl_seconds: float) -> list[bool]:
        """Prolongs leases; False for one that has run out or is another's: an expired lease is never revived."""
        ...

    def expire_all(self) -> None:
        """Lets every lease of a document or a role run out now; only for a caller that knows that no holder is alive."""
        ...

    def acquire_role(self, role: str, holder: str, ttl_seconds: float) -> int | None:
        """Takes or prolongs the lease of a role (``producer``, ``sweeper``) and returns its token; None while another holds it.

        The token is the same while one holder prolongs it, and higher for every new holder, also after the state was lost.
        """
        ...

    def release_role(self, role: str, token: int) -> None:
        """Gives the role up, if ``token`` still holds it."""
        ...

    def is_role_held(self, role: str) -> bool:
        """Whether somebody holds the role now."""
        ...
