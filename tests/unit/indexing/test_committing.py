"""Committing many documents together: what fails, fails alone; what cannot be known, is left to the ledger."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from docmill.domain.chunks import ChunkRecord
from docmill.domain.errors import DiskFull, StoreDown, StoreRejected
from docmill.domain.registry import DocumentState, Lane
from docmill.ports.state import KnowledgeBaseState
from support.failing import Failing
from support.indexing_world import World


class BreakableWorld(World):
    """A world whose stores, registry and broker fail on demand."""

    def __init__(self) -> None:
        super().__init__()
        self.breakable_vectors, self.breakable_lexical = Failing(self.vectors), Failing(self.lexical)
        self.target = replace(self.target, vectors=self.breakable_vectors, lexical=self.breakable_lexical)
        self.breakable_registry = Failing(self.memory.registry)
        self.state = KnowledgeBaseState(self.breakable_registry, self.memory.leases, self.memory.ledger)

    def prepare(self, *document_ids: str) -> None:
        """Brings documents to where they wait for the commit."""
        self.enqueue(*document_ids)
        while self.tasks.messages:
            self.reconciler().reconcile(self.tasks.take())

    def outcomes(self) -> dict[str, str]:
        """Commits; what came of it, by document."""
        names = {item.commit.attempt.generation: item.commit.attempt.document_id for item in self.handed_over}
        return {names[generation]: outcome for generation, outcome in self.commit().items()}

    def state_of(self, document_id: str) -> tuple[DocumentState, str] | None:
        entry = self.entry(document_id)
        return (entry.state, entry.reason) if entry is not None else None


@pytest.fixture
def world() -> BreakableWorld:
    made = BreakableWorld()
    for document_id in ("a.md", "b.md", "c.md"):
        made.source.put(document_id, f"text of {document_id}\nshared")
    return made


def of_document(document_id: str) -> object:
    def concerns(index: str, records: Sequence[ChunkRecord]) -> bool:
        return any(record.document_id == document_id for record in records)

    return concerns


def test_documents_of_one_turn_are_written_in_one_request_for_each_index(world: BreakableWorld) -> None:
    world.prepare("a.md", "b.md", "c.md")
    assert world.outcomes() == dict.fromkeys(("a.md", "b.md", "c.md"), "committed")
    assert world.breakable_vectors.calls.count("write") == 1
    assert world.breakable_lexical.calls.count("write") == 1
    assert world.breakable_registry.calls.count("commit") == 1


def test_writes_are_refreshed_before_the_commit(world: BreakableWorld) -> None:
    order: list[str] = []
    for name, part in (("vectors", world.breakable_vectors), ("lexical", world.breakable_lexical), ("registry", world.breakable_registry)):
        part.calls = NamedCalls(order, name)
    world.prepare("a.md")
    order.clear()
    world.commit()
    assert [step for step in order if step != "registry.entries"] == [
        "registry.intents",
        "vectors.write",
        "vectors.refresh",
        "lexical.write",
        "lexical.refresh",
        "registry.commit",
    ]


class NamedCalls(list[str]):
    """Notes calls of several parts in one list."""

    def __init__(self, order: list[str], name: str) -> None:
        super().__init__()
        self._order, self._name = order, name

    def append(self, call: str) -> None:
        self._order.append(f"{self._name}.{call}")


def test_a_rejected_document_fails_alone(world: BreakableWorld) -> None:
    world.breakable_vectors.fail("write", StoreRejected("too many tokens"), of_document("b.md"))  # type: ignore[arg-type]  # a callable
    world.prepare("a.md", "b.md", "c.md")
    assert world.outcomes() == {"a.md": "committed", "b.md": "store.rejected: too many tokens", "c.md": "committed"}
    assert world.state_of("b.md") == (DocumentState.FAILED, "store.rejected: too many tokens")
    assert world.live_texts("c.md")["words"] == ["text of c.md", "shared"]


def test_what_the_first_store_rejected_is_not_written_to_the_second(world: BreakableWorld) -> None:
    world.breakable_vectors.fail("write", StoreRejected("no"), of_document("b.md"))  # type: ignore[arg-type]  # a callable
    world.prepare("a.md", "b.md")
    world.commit()
    assert {generation.document_id for generation in world.lexical.generations(world.target.index("words"))} == {"a.md"}


@pytest.mark.parametrize("method", ["write", "refresh"])
def test_a_store_that_fails_fails_the_whole_turn_with_its_reason(world: BreakableWorld, method: str) -> None:
    error = DiskFull("no room")
    world.breakable_lexical.fail(method, error)
    world.prepare("a.md", "b.md")
    reason = f"{error.code}: {error}"
    assert world.outcomes() == {"a.md": reason, "b.md": reason}
    assert world.state_of("a.md") == (DocumentState.FAILED, reason)
    assert world.state.ledger.outstanding() == (0, 0)


@pytest.mark.parametrize("method", ["write", "refresh"])
def test_documents_that_meet_a_store_which_is_out_are_postponed_and_have_not_failed(world: BreakableWorld, method: str) -> None:
    world.breakable_lexical.fail(method, StoreDown("no answer"))
    world.prepare("a.md", "b.md")
    assert world.outcomes() == {"a.md": "postponed", "b.md": "postponed"}
    assert world.entry("a.md") is None
    assert world.state.ledger.outstanding() == (2, 0)
    world.breakable_lexical.mend()
    world.work()
    assert world.state_of("a.md") == world.state_of("b.md") == (DocumentState.LIVE, "")
    assert world.state.ledger.outstanding() == (0, 0)


def test_a_document_that_meets_a_store_which_is_out_before_it_is_prepared_is_postponed_too(world: BreakableWorld) -> None:
    world.keeper.pause = lambda seconds: None  # type: ignore[method-assign]  # nothing is waited for here
    world.breakable_vectors.fail("vectors_of", StoreDown("no answer"))
    world.enqueue("a.md")
    world.reconciler().reconcile(world.tasks.take())
    assert world.entry("a.md") is None
    assert world.state.ledger.outstanding() == (1, 0)
    world.breakable_vectors.mend()
    world.work()
    assert world.state_of("a.md") == (DocumentState.LIVE, "")


def test_a_failed_change_leaves_the_old_version_live(world: BreakableWorld) -> None:
    world.prepare("a.md")
    world.commit()
    world.source.put("a.md", "new text")
    world.breakable_vectors.fail("write", DiskFull("no room"))
    world.prepare("a.md")
    world.commit()
    assert world.live_texts("a.md")["dense"] == ["text of a.md", "shared"]
    entry = world.entry("a.md")
    assert entry is not None
    assert entry.state is DocumentState.FAILED


@pytest.mark.parametrize("method", ["intents", "commit"])
def test_a_silent_registry_leaves_everything_to_the_ledger(world: BreakableWorld, method: str) -> None:
    world.breakable_registry.fail(method, StoreDown("no answer"))
    world.prepare("a.md", "b.md")
    with pytest.raises(StoreDown):
        world.commit()
    assert world.entry("a.md") is None
    world.breakable_registry.mend()
    world.clock.now += 31
    world.tasks.send(world.state.ledger.resend_expired(10), Lane.BULK)
    world.work()
    assert world.state_of("a.md") == world.state_of("b.md") == (DocumentState.LIVE, "")


def test_an_attempt_whose_lease_is_gone_writes_nothing(world: BreakableWorld) -> None:
    world.prepare("a.md")
    world.clock.now += 31
    assert world.outcomes() == {"a.md": "superseded"}
    assert "write" not in world.breakable_vectors.calls


def test_a_document_without_chunks_needs_no_store(world: BreakableWorld) -> None:
    world.breakable_vectors.fail("write", StoreDown("no answer"))
    world.breakable_vectors.fail("refresh", StoreDown("no answer"))
    world.source.put("a.md", "")
    world.prepare("a.md", "gone.md")
    assert world.outcomes() == {"a.md": "committed", "gone.md": "committed"}
    assert world.state_of("a.md") == (DocumentState.EMPTY, "")


def test_a_message_that_the_broker_does_not_take_waits_in_the_ledger(world: BreakableWorld) -> None:
    world.prepare("a.md")
    world.enqueue("a.md", lane=Lane.LIVE)  # changed while it is in work
    queue, broker = world.tasks, Failing(world.tasks)
    broker.fail("send", StoreDown("no answer"))
    world.tasks = broker  # type: ignore[assignment]  # stands for it
    assert world.outcomes() == {"a.md": "committed"}
    world.tasks = queue
    assert not queue.messages
    assert [message.document_id for message in world.state.ledger.oldest_waiting(10)] == ["a.md"]
