"""An attempt that fails says why, leaves what is live alone, and costs nobody else anything."""

from collections.abc import Callable, Sequence

import pytest

from docmill.domain.chunks import Vector
from docmill.domain.documents import LoadedDocument
from docmill.domain.errors import DocumentSkipped, ProviderTransient, RootUnavailable, SkipReason
from docmill.domain.registry import DocumentState, Entry
from docmill.indexing.sources import Content
from support.indexing_world import DictSource, World


class MovingSource(DictSource):
    """A source during whose calls something else happens."""

    def __init__(self) -> None:
        super().__init__()
        self.while_reading: Callable[[], None] = lambda: None
        self.while_loading: Callable[[], None] = lambda: None

    def read(self, document_id: str) -> Content | None:
        self.while_reading()
        return super().read(document_id)

    def load(self, document_id: str, content: bytes) -> LoadedDocument:
        self.while_loading()
        if b"\0" in content:
            raise DocumentSkipped(SkipReason.BINARY, "it is not text")
        return super().load(document_id, content)


class MovingWorld(World):
    """A world with such a source, and a model that may fail."""

    def __init__(self) -> None:
        super().__init__()
        self.source: MovingSource = MovingSource()
        self.model_fails = False
        embed = self.model.embed_passages

        def embed_passages(texts: Sequence[str]) -> list[Vector]:
            if self.model_fails:
                raise ProviderTransient("no answer")
            return embed(texts)

        self.model.embed_passages = embed_passages  # type: ignore[method-assign]  # a failing provider

    def index(self, document_id: str, text: str) -> Entry:
        self.source.put(document_id, text)
        self.enqueue(document_id)
        self.work()
        return self.known(document_id)

    def known(self, document_id: str) -> Entry:
        entry = self.entry(document_id)
        assert entry is not None
        return entry


@pytest.fixture
def world() -> MovingWorld:
    return MovingWorld()


def test_a_provider_that_fails_leaves_the_old_version_live(world: MovingWorld) -> None:
    world.index("a.md", "one")
    world.model_fails = True
    entry = world.index("a.md", "two")
    assert (entry.state, entry.reason) == (DocumentState.FAILED, "provider.transient: no answer")
    assert world.live_texts("a.md")["words"] == ["one"]


def test_a_failed_document_that_is_as_it_was_is_live_again(world: MovingWorld) -> None:
    world.index("a.md", "one")
    world.model_fails = True
    world.index("a.md", "two")
    assert world.index("a.md", "one").state is DocumentState.LIVE


def test_a_skipped_document_is_still_skipped_after_an_attempt_that_failed(world: MovingWorld) -> None:
    world.index("a.bin", "\0")
    world.source.while_reading = lambda: unavailable()
    assert world.index("a.bin", "\0").state is DocumentState.FAILED
    world.source.while_reading = lambda: None
    entry = world.index("a.bin", "\0")
    assert (entry.state, entry.reason) == (DocumentState.SKIPPED, "binary: it is not text")


def test_an_empty_document_is_still_empty_after_an_attempt_that_failed(world: MovingWorld) -> None:
    world.index("a.md", "")
    world.source.while_reading = lambda: unavailable()
    world.index("a.md", "")
    world.source.while_reading = lambda: None
    assert world.index("a.md", "").state is DocumentState.EMPTY


def test_a_root_that_is_away_does_not_make_a_document_gone(world: MovingWorld) -> None:
    world.index("a.md", "one")
    world.source.while_reading = lambda: unavailable()
    assert world.index("a.md", "one").state is DocumentState.FAILED
    assert world.live_texts("a.md")["dense"] == ["one"]


def test_a_document_that_takes_longer_than_its_deadline_fails_with_that_reason(world: MovingWorld) -> None:
    def slow() -> None:
        for _ in range(121):
            world.clock.now += 5
            world.keeper.renew_all()

    world.source.while_loading = slow
    entry = world.index("a.md", "one")
    assert (entry.state, entry.reason.partition(":")[0]) == (DocumentState.FAILED, "document.deadline")
    assert world.model.texts == 0


def test_an_attempt_that_learns_of_its_lost_lease_changes_nothing(world: MovingWorld) -> None:
    def lose() -> None:
        world.clock.now += 31
        world.keeper.renew_all()

    world.source.while_loading = lose
    world.source.put("a.md", "one")
    world.enqueue("a.md")
    world.work()
    assert world.entry("a.md") is None
    assert world.model.texts == 0
    assert not world.keeper.held()


def test_a_defect_costs_one_document_and_names_itself(world: MovingWorld) -> None:
    def defect() -> None:
        raise KeyError("unexpected")

    world.source.while_loading = defect
    entry = world.index("a.md", "one")
    assert entry.reason == "internal: KeyError: 'unexpected'"
    assert not world.keeper.held()


def unavailable() -> None:
    raise RootUnavailable("/docs is not there")
