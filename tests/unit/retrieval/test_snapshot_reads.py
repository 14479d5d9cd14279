"""A query shows each document as it was at one commit number, whatever is committed while it runs."""

from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet

import pytest

from docmill.adapters.memory.state_data import StateData
from docmill.domain.chunks import ChunkFilter, ScoredChunk
from docmill.domain.errors import StoreDown
from docmill.domain.index_names import index_name
from docmill.domain.knowledge_bases import StrategySpec
from docmill.domain.registry import Entry, Position
from docmill.domain.searching import SearchRequest
from docmill.retrieval.retrievers import Retriever
from docmill.retrieval.snapshot import SILENCE_SECONDS, SnapshotReader
from support.library import WORDS, Library, StillClock


class Interrupted:
    """A retriever before and after whose searches something else happens."""

    def __init__(
        self, inner: Retriever, *, before: Sequence[Callable[[], object]] = (), after: Sequence[Callable[[], object]] = ()
    ) -> None:
        self.inner = inner
        self.before, self.after = list(before), list(after)
        self.searches = 0

    @property
    def spec(self) -> StrategySpec:
        return self.inner.spec

    def answers_at_once(self, query: str) -> bool:
        return True

    def retrieve(
        self, index: str, query: str, limit: int, chunk_filter: ChunkFilter, without_generations: AbstractSet[int]
    ) -> list[ScoredChunk]:
        self.searches += 1
        if self.before:
            self.before.pop(0)()
        found = self.inner.retrieve(index, query, limit, chunk_filter, without_generations)
        if self.after:
            self.after.pop(0)()
        return found


class SilentRegistry:
    """A registry that can be switched off."""

    def __init__(self, library: Library) -> None:
        self.inner = library.state.registry
        self.positions_down = self.entries_down = False

    def position(self) -> Position:
        if self.positions_down:
            raise StoreDown("the registry does not answer")
        return self.inner.position()

    def entries(self, index_set: str, document_ids: Sequence[str]) -> tuple[int, dict[str, Entry]]:
        if self.entries_down:
            raise StoreDown("the registry does not answer")
        return self.inner.entries(index_set, document_ids)

    def entries_now(self, index_set: str, document_ids: Sequence[str]) -> tuple[Position, dict[str, Entry]]:
        if self.entries_down or self.positions_down:
            raise StoreDown("the registry does not answer")
        return self.inner.entries_now(index_set, document_ids)


@pytest.fixture
def library() -> Iterator[Library]:
    made = Library(strategies=(WORDS,))
    yield made
    made.close()


def found_texts(library: Library, *retrievers: Interrupted, query: str = "apple") -> list[str]:
    outcome = library.searcher(StillClock(), retrievers).search(SearchRequest(query))
    return [hit.record.text for hit in outcome.hits]


def test_only_the_live_generation_is_found(library: Library) -> None:
    library.put("a", "apple one")
    library.put("a", "apple two")
    assert found_texts(library, Interrupted(library.retrievers()[0])) == ["apple two"]


def test_what_is_written_but_not_committed_is_not_found(library: Library) -> None:
    library.put("a", "apple one")
    library.write(library.begin("a"), "apple two")
    library.write(library.begin("b"), "apple three")
    assert found_texts(library, Interrupted(library.retrievers()[0])) == ["apple one"]


def test_a_removed_document_is_not_found(library: Library) -> None:
    library.put("a", "apple one")
    library.remove("a")
    assert found_texts(library, Interrupted(library.retrievers()[0])) == []


def test_a_commit_after_the_position_was_read_shows_the_old_text(library: Library) -> None:
    library.put("a", "apple one")
    during = Interrupted(library.retrievers()[0], before=[lambda: library.put("a", "apple two")])
    assert found_texts(library, during) == ["apple one"]
    assert during.searches == 1


def test_a_removal_during_a_query_still_shows_the_document(library: Library) -> None:
    library.put("a", "apple one")
    assert found_texts(library, Interrupted(library.retrievers()[0], before=[lambda: library.remove("a")])) == ["apple one"]


def test_a_document_that_came_during_a_query_is_not_shown(library: Library) -> None:
    assert found_texts(library, Interrupted(library.retrievers()[0], before=[lambda: library.put("a", "apple one")])) == []


def test_two_commits_during_a_query_make_it_search_again(library: Library) -> None:
    library.put("a", "apple one")

    def change_twice() -> None:
        library.put("a", "apple two")
        library.put("a", "apple three")

    during = Interrupted(library.retrievers()[0], after=[change_twice])
    assert found_texts(library, during) == ["apple three"]
    assert during.searches == 2


def test_a_document_that_changes_under_every_search_is_left_out_and_counted(library: Library) -> None:
    library.put("busy", "apple zero")
    library.put("calm", "apple pie")
    numbers = iter(range(100))

    def change_twice() -> None:
        library.put("busy", f"apple {next(numbers)}")
        library.put("busy", f"apple {next(numbers)}")

    during = Interrupted(library.retrievers()[0], after=[change_twice] * 3)
    outcome = library.searcher(StillClock(), [during]).search(SearchRequest("apple"))
    assert [hit.record.document_id for hit in outcome.hits] == ["calm"]
    assert outcome.freshness.dropped == 1
    assert during.searches == 3


def test_a_new_epoch_during_a_query_makes_it_search_again(library: Library) -> None:
    library.put("a", "apple one")
    during = Interrupted(library.retrievers()[0], after=[lambda: library.state.registry.raise_epoch(1)])
    assert found_texts(library, during) == ["apple one"]
    assert during.searches == 2


def test_an_epoch_that_rises_under_every_search_leaves_everything_out(library: Library) -> None:
    library.put("a", "apple one")
    library.put("b", "apple two")
    during = Interrupted(library.retrievers()[0], after=[lambda: library.state.registry.raise_epoch(1)] * 3)
    outcome = library.searcher(StillClock(), [during]).search(SearchRequest("apple"))
    assert (outcome.hits, outcome.freshness.dropped) == ((), 2)


def test_dead_generations_do_not_hide_live_ones(library: Library) -> None:
    for number in range(5):
        library.put(f"live{number}", f"apple and many other words that make it longer and worse {number}")
    for number in range(12):
        library.write(library.begin(f"dead{number}"), "apple")
    counted = Interrupted(library.retrievers()[0])
    assert len(found_texts(library, counted)) == WORDS.limit
    assert counted.searches == 2, "a full page of 10 dead ones, then 2 dead and 5 live ones"


def test_rounds_are_bounded(library: Library) -> None:
    library.put("live", "apple and many other words")
    for number in range(60):
        library.write(library.begin(f"dead{number}"), "apple")
    counted = Interrupted(library.retrievers()[0])
    assert found_texts(library, counted) == []
    assert counted.searches == 4


def test_no_other_turn_begins_after_the_deadline(library: Library) -> None:
    clock = StillClock()
    library.put("a", "apple one")

    def change_twice_slowly() -> None:
        library.put("a", "apple two")
        library.put("a", "apple three")
        clock.sleep(11.0)

    during = Interrupted(library.retrievers()[0], after=[change_twice_slowly])
    outcome = library.searcher(clock, [during]).search(SearchRequest("apple"))
    assert (during.searches, outcome.freshness.dropped, outcome.hits) == (1, 1, ())


def reader_of(library: Library, registry: SilentRegistry, clock: StillClock | None = None) -> SnapshotReader:
    return SnapshotReader(library.name, registry, library.executor, clock or StillClock())  # type: ignore[arg-type]  # three methods are read


def read_texts(library: Library, reader: SnapshotReader) -> tuple[list[str], bool]:
    snapshot = reader.read(library.retrievers(), "apple", ChunkFilter(), 2000.0)
    return [candidate.record.text for candidate in snapshot.candidates], snapshot.unverified


def test_without_a_registry_the_last_known_generation_is_shown_and_marked(library: Library) -> None:
    registry = SilentRegistry(library)
    reader = reader_of(library, registry)
    library.put("a", "apple one")
    assert read_texts(library, reader) == (["apple one"], False)
    library.write(library.begin("a"), "apple two")
    registry.positions_down = True
    assert read_texts(library, reader) == (["apple one"], True)


def test_without_a_registry_an_unknown_document_is_shown_once_in_its_highest_generation(library: Library) -> None:
    registry = SilentRegistry(library)
    reader = reader_of(library, registry)
    assert read_texts(library, reader) == ([], False)
    library.put("a", "apple one")
    library.put("a", "apple two")
    registry.positions_down = registry.entries_down = True
    assert read_texts(library, reader) == (["apple two"], True)


def test_a_registry_that_falls_silent_during_a_query_marks_the_answer(library: Library) -> None:
    registry = SilentRegistry(library)
    reader = reader_of(library, registry)
    library.put("a", "apple one")
    registry.entries_down = True
    assert read_texts(library, reader) == (["apple one"], True)


def test_a_registry_that_never_answered_is_an_error(library: Library) -> None:
    registry = SilentRegistry(library)
    registry.positions_down = True
    with pytest.raises(StoreDown, match="does not answer"):
        read_texts(library, reader_of(library, registry))


def test_the_registry_is_trusted_again_when_it_answers(library: Library) -> None:
    registry, clock = SilentRegistry(library), StillClock()
    reader = reader_of(library, registry, clock)
    library.put("a", "apple one")
    read_texts(library, reader)
    registry.positions_down = True
    read_texts(library, reader)
    registry.positions_down = False
    library.put("a", "apple two")
    clock.now += SILENCE_SECONDS
    assert read_texts(library, reader) == (["apple two"], False)


@pytest.mark.parametrize("resting", [False, True])
def test_not_every_query_waits_for_a_registry_that_is_silent(library: Library, resting: bool) -> None:
    registry, clock = CountedRegistry(library), StillClock()
    reader = reader_of(library, registry, clock)
    library.put("a", "apple one")
    for _ in range(2 if resting else 1):
        read_texts(library, reader)
    registry.positions_down = registry.entries_down = True
    assert read_texts(library, reader) == (["apple one"], True)
    registry.calls.clear()
    assert read_texts(library, reader) == (["apple one"], True)
    assert registry.calls == []
    clock.now += SILENCE_SECONDS
    assert read_texts(library, reader) == (["apple one"], True)
    assert registry.calls != []


def test_an_emptied_registry_is_treated_as_a_silent_one(library: Library) -> None:
    reader = SnapshotReader(library.name, library.state.registry, library.executor, StillClock())
    library.put("a", "apple one")
    read_texts(library, reader)
    library.state.restore(StateData(library.name))
    assert read_texts(library, reader) == (["apple one"], True)


def test_an_emptied_registry_that_already_knows_what_is_served_is_not_believed_before_it_is_open(library: Library) -> None:
    reader = SnapshotReader(library.name, library.state.registry, library.executor, StillClock())
    library.put("a", "apple one")
    read_texts(library, reader)
    library.state.restore(StateData(library.name))
    library.state.registry.serve(library.index_set)
    assert read_texts(library, reader) == (["apple one"], True)


def test_a_registry_emptied_during_a_query_still_gives_one_generation(library: Library) -> None:
    library.put("a", "apple one")
    during = Interrupted(library.retrievers()[0], after=[lambda: library.state.restore(StateData(library.name))])
    reader = SnapshotReader(library.name, library.state.registry, library.executor, StillClock())
    reader.read(library.retrievers(), "apple", ChunkFilter(), 2000.0)
    snapshot = reader.read([during], "apple", ChunkFilter(), 2000.0)
    assert ([one.record.text for one in snapshot.candidates], snapshot.unverified, snapshot.dropped) == (["apple one"], True, 0)


class CountedRegistry(SilentRegistry):
    """A registry that counts its round trips."""

    def __init__(self, library: Library) -> None:
        super().__init__(library)
        self.calls: list[str] = []

    def position(self) -> Position:
        self.calls.append("position")
        return super().position()

    def entries(self, index_set: str, document_ids: Sequence[str]) -> tuple[int, dict[str, Entry]]:
        self.calls.append("entries")
        return super().entries(index_set, document_ids)

    def entries_now(self, index_set: str, document_ids: Sequence[str]) -> tuple[Position, dict[str, Entry]]:
        self.calls.append("entries_now")
        return super().entries_now(index_set, document_ids)


def resting_reader(library: Library, clock: StillClock | None = None) -> tuple[SnapshotReader, CountedRegistry]:
    """A reader that has seen twice that nothing is committed."""
    registry = CountedRegistry(library)
    reader = reader_of(library, registry, clock)
    for _ in range(2):
        read_texts(library, reader)
    registry.calls.clear()
    return reader, registry


def test_while_nothing_is_committed_a_query_asks_the_registry_once(library: Library) -> None:
    library.put("a", "apple one")
    reader, registry = resting_reader(library)
    assert read_texts(library, reader) == (["apple one"], False)
    assert registry.calls == ["entries_now"]


def test_what_was_committed_since_the_last_query_is_found(library: Library) -> None:
    library.put("a", "apple one")
    reader, registry = resting_reader(library)
    library.put("a", "apple two")
    library.put("b", "apple three")
    texts, unverified = read_texts(library, reader)
    assert (sorted(texts), unverified) == (["apple three", "apple two"], False)
    assert registry.calls == ["entries_now", "position", "entries"]


def test_the_first_document_is_found_by_a_reader_that_found_nothing_before(library: Library) -> None:
    reader, registry = resting_reader(library)
    library.put("a", "apple one")
    assert read_texts(library, reader) == (["apple one"], False)
    registry.calls.clear()
    assert read_texts(library, reader) == (["apple one"], False)
    assert registry.calls == ["position", "entries"], "what was committed a moment ago may not be all"


@pytest.mark.parametrize("commit_at", ["before", "after"])
def test_a_commit_during_a_query_that_took_its_position_for_granted_makes_it_search_again(library: Library, commit_at: str) -> None:
    library.put("a", "apple one")
    library.put("b", "apple and pear")
    reader, _ = resting_reader(library)

    def change() -> None:
        library.put("a", "apple two")
        library.remove("b")
        library.put("c", "apple three")

    during = Interrupted(library.retrievers()[0], **{commit_at: [change]})
    snapshot = reader.read([during], "apple", ChunkFilter(), 2000.0)
    assert sorted(candidate.record.text for candidate in snapshot.candidates) == ["apple three", "apple two"]
    assert (during.searches, snapshot.dropped, snapshot.unverified) == (2, 0, False)


def test_a_raised_epoch_is_another_position(library: Library) -> None:
    library.put("a", "apple one")
    reader, registry = resting_reader(library)
    library.state.registry.raise_epoch(7)
    assert read_texts(library, reader) == (["apple one"], False)
    assert registry.calls == ["entries_now", "position", "entries"]


def test_another_index_set_is_another_position(library: Library) -> None:
    library.put("a", "apple one")
    reader, _ = resting_reader(library)
    library.lexical.create(index_name(library.name, "set2", WORDS.name), WORDS.name, k1=WORDS.k1, b=WORDS.b)
    library.state.registry.serve("set2")
    assert read_texts(library, reader) == ([], False)


def test_a_registry_that_falls_silent_while_nothing_is_committed_marks_the_answer(library: Library) -> None:
    library.put("a", "apple one")
    clock = StillClock()
    reader, registry = resting_reader(library, clock)
    library.write(library.begin("a"), "apple two")
    registry.entries_down = registry.positions_down = True
    assert read_texts(library, reader) == (["apple one"], True)
    registry.entries_down = registry.positions_down = False
    clock.now += SILENCE_SECONDS
    assert read_texts(library, reader) == (["apple one"], False)


def test_a_dead_chunk_behind_those_that_are_shown_costs_no_other_search(library: Library) -> None:
    for number in range(WORDS.limit):
        library.put(f"live{number}", "apple")
    library.write(library.begin("dead"), "apple and many other words that make it longer and worse")
    counted = Interrupted(library.retrievers()[0])
    assert len(found_texts(library, counted)) == WORDS.limit
    assert counted.searches == 1


def test_a_document_that_changes_behind_those_that_are_shown_costs_no_other_search(library: Library) -> None:
    for number in range(WORDS.limit):
        library.put(f"live{number}", "apple")
    library.put("busy", "apple and many other words that make it longer and worse")

    def change_twice() -> None:
        for _ in range(2):
            library.put("busy", "apple and many other words that make it longer and worse again")

    during = Interrupted(library.retrievers()[0], after=[change_twice])
    outcome = library.searcher(StillClock(), [during]).search(SearchRequest("apple"))
    assert (during.searches, len(outcome.hits), outcome.freshness.dropped) == (1, WORDS.limit, 0)


def test_a_reader_keeps_to_the_index_set_that_its_retrievers_were_made_for(library: Library) -> None:
    library.put("a", "apple one")
    before = library.state.registry.position().index_set
    reader = SnapshotReader(library.name, library.state.registry, library.executor, StillClock(), index_set=before)
    library.lexical.create(index_name(library.name, "set2", WORDS.name), WORDS.name, k1=WORDS.k1, b=WORDS.b)
    library.state.registry.serve("set2")
    assert read_texts(library, reader) == (["apple one"], False)
