"""What the contract suite of registry, leases and ledger works with: a fresh state and the steps that most tests share."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pytest

from docmill.domain.registry import Attempt, Commit, CommitResult, DocumentState, Entry, Intent, Lane
from docmill.ports.ledger import RunLedger
from docmill.ports.registry import Leases, Registry

#: The index sets of the tests.
SERVED, OTHER = "served-1a2b", "other-3c4d"
LEASE_SECONDS = 30.0
GRACE_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class StateUnderTest:
    """A state of one knowledge base.

    Attributes:
        shift_clock: lets its clock jump forward by seconds.
        replace_server: lets it be as if another server than the one that opened it had it; None where servers have no identity.
    """

    registry: Registry
    leases: Leases
    ledger: RunLedger
    shift_clock: Callable[[float], None]
    replace_server: Callable[[], None] | None

    def begin(self, document_id: str, lane: Lane = Lane.BULK, run_id: str = "") -> Attempt:
        """Enqueues and begins a document."""
        (message,) = self.ledger.enqueue([document_id], lane, run_id=run_id)
        attempt = self.ledger.begin(message, LEASE_SECONDS)
        assert attempt is not None
        return attempt

    def intend(self, attempt: Attempt, *, words: int = 2, sets: Sequence[str] = (SERVED,)) -> bool:
        """Records an intent for ``words`` chunks in each index set."""
        return self.registry.intents([Intent(attempt, "f1", {name: {"words": words} for name in sets})])[0]

    def commit(
        self,
        attempt: Attempt,
        fingerprint: str = "f1",
        *,
        words: int = 2,
        sets: Sequence[str] = (SERVED,),
        state: DocumentState = DocumentState.LIVE,
        stat: str = "1.2.3.4",
        reason: str = "",
        counters: Mapping[str, int] | None = None,
    ) -> CommitResult:
        """Commits ``words`` chunks of strategy ``words`` in each index set."""
        chunks = {name: {"words": words} if state is DocumentState.LIVE else {} for name in sets}
        commit = Commit(attempt, state, fingerprint, chunks, stat=stat, size_bytes=7, reason=reason, counters=counters or {})
        return self.registry.commit([commit])[0]

    def commit_new(self, document_id: str, fingerprint: str = "f1", *, words: int = 2, sets: Sequence[str] = (SERVED,)) -> Attempt:
        """Takes a document all the way to a LIVE commit."""
        attempt = self.begin(document_id)
        assert self.intend(attempt, words=words, sets=sets)
        assert self.commit(attempt, fingerprint, words=words, sets=sets).committed
        return attempt

    def remove(self, document_id: str) -> Attempt:
        """Takes a document all the way to a GONE commit."""
        attempt = self.begin(document_id)
        assert self.commit(attempt, "", state=DocumentState.GONE, sets=(), stat="").committed
        return attempt

    def entry(self, document_id: str, index_set: str = SERVED) -> Entry:
        """The document's entry, which must be there."""
        return self.registry.entries(index_set, [document_id])[1][document_id]

    def has_entry(self, document_id: str, index_set: str = SERVED) -> bool:
        """Whether the document has an entry."""
        return document_id in self.registry.entries(index_set, [document_id])[1]

    def due(self) -> list[int]:
        """The generations that may be deleted now."""
        return [item.generation for item in self.registry.due_garbage(GRACE_SECONDS, 100)]


class StateContract:
    """Base of the rule classes: an adapter overrides ``fresh_state``; ``state`` is the same, opened and serving an index set."""

    @pytest.fixture
    def fresh_state(self) -> Iterator[StateUnderTest]:
        """A state that was never opened, of knowledge base ``handbook``."""
        raise NotImplementedError

    @pytest.fixture
    def state(self, fresh_state: StateUnderTest) -> StateUnderTest:
        """A state in epoch 1 that serves an empty index set."""
        fresh_state.registry.raise_epoch(1)
        fresh_state.registry.serve(SERVED)
        return fresh_state
