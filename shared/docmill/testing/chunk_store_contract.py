"""What every store must do, as tests; a store may be shared by many of them, since each works in an index of its own and drops it."""

# ruff: noqa: D102 - the name of a test is its description

from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, Final
from uuid import uuid4

import pytest

from docmill.domain.chunks import ChunkFilter, ChunkRecord, ScoredChunk, StoredGeneration, text_hash_of
from docmill.domain.errors import StoreRejected
from docmill.ports.stores import ChunkStore
from docmill.testing.store_tables import EVERYTHING, FILTERED, FILTERS

STRATEGY: Final = "strategy"


def chunk(document_id: str = "a.md", generation: int = 1, index: int = 0, text: str = "some word", **fields: Any) -> ChunkRecord:
    """A record with sensible values in all other fields."""
    values: dict[str, Any] = {
        "fingerprint": f"{generation:032x}",
        "count": 1,
        "indexed_text": text,
        "text_hash": text_hash_of(text),
        "headings": (),
        "start_line": 1,
        "end_line": 1,
        "title": "A title",
        "mime": "text/markdown",
        "vector": [1.0, 0.0, 0.0],
    }
    return ChunkRecord(document_id=document_id, generation=generation, index=index, text=text, **{**values, **fields})


def found_ids(found: Sequence[ScoredChunk]) -> list[str]:
    """The public ids of ``found`` in order."""
    return [scored.record.chunk_id for scored in found]


class ChunkStoreContract:
    """What both kinds of store do."""

    @pytest.fixture
    def store(self) -> ChunkStore:
        """The store under test; override it."""
        raise NotImplementedError

    @pytest.fixture
    def index(self, store: ChunkStore) -> Iterator[str]:
        """The name of an empty index."""
        name = f"contract-{uuid4().hex}"
        self.create(store, name)
        yield name
        store.drop(name)

    def create(self, store: Any, index: str) -> None:
        """Makes an index."""
        raise NotImplementedError

    def search_all(
        self, store: Any, index: str, chunk_filter: ChunkFilter, without: AbstractSet[int] = frozenset(), limit: int = 50
    ) -> list[ScoredChunk]:
        """A search that finds every chunk with the word ``word`` and the vector of :func:`chunk`."""
        raise NotImplementedError

    @staticmethod
    def put(store: ChunkStore, index: str, *records: ChunkRecord) -> None:
        """Writes ``records`` and waits until they can be seen."""
        store.write(index, records)
        store.refresh(index)

    def test_the_identity_of_a_store_stays(self, store: ChunkStore) -> None:
        assert store.identity()
        assert store.identity() == store.identity()

    def test_the_epoch_only_rises(self, store: ChunkStore) -> None:
        before = store.epoch()
        store.raise_epoch(before + 5)
        store.raise_epoch(before + 2)
        assert store.epoch() == before + 5

    def test_indexes_are_listed_in_order_until_they_are_dropped(self, store: ChunkStore) -> None:
        names = [f"contract-{part}-{uuid4().hex[:6]}.v1_x" for part in ("b", "a")]
        for name in names:
            self.create(store, name)
        assert [name for name in store.indexes() if name in names] == sorted(names)
        for name in names:
            store.drop(name)
        assert not set(names) & set(store.indexes())

    def test_a_dropped_index_comes_back_empty(self, store: ChunkStore, index: str) -> None:
        self.put(store, index, chunk())
        store.drop(index)
        self.create(store, index)
        assert store.count(index) == 0

    def test_dropping_an_index_that_does_not_exist_is_no_error(self, store: ChunkStore) -> None:
        store.drop(f"contract-{uuid4().hex}")

    def test_creating_an_index_again_keeps_its_chunks(self, store: ChunkStore, index: str) -> None:
        self.put(store, index, chunk())
        self.create(store, index)
        assert store.count(index) == 1

    @pytest.mark.parametrize("call", ["write", "refresh", "delete", "delete_generation", "chunks_of", "generations", "count", "search"])
    def test_an_index_that_does_not_exist_is_rejected(self, store: ChunkStore, call: str) -> None:
        name = f"contract-{uuid4().hex}"
        calls: dict[str, Callable[[], object]] = {
            "write": lambda: store.write(name, [chunk()]),
            "refresh": lambda: store.refresh(name),
            "delete": lambda: store.delete(name, "a.md", 1, 1),
            "delete_generation": lambda: store.delete_generation(name, "a.md", 1),
            "chunks_of": lambda: store.chunks_of(name, "a.md", 1),
            "generations": lambda: list(store.generations(name)),
            "count": lambda: store.count(name),
            "search": lambda: self.search_all(store, name, EVERYTHING),
        }
        with pytest.raises(StoreRejected, match=name):
            calls[call]()

    def test_every_field_of_a_chunk_comes_back(self, store: ChunkStore, index: str) -> None:
        full = chunk(
            "dossier/étude 日本.pdf",
            2**52 + 1,
            1,
            'Ligne\n\t"deux"\\ \u2028 😀 word',
            count=2,
            indexed_text="Étude > Méthode\n\nword, put otherwise",
            headings=("Étude", "Méthode"),
            start_line=3,
            end_line=9,
            title="Étude",
            mime="application/pdf",
            page=7,
            language="python",
            metadata={"s": "é", "i": -3, "f": 0.5, "t": True, "l": ["a", "b"], "empty": []},
        )
        plain = replace(chunk("dossier/étude 日本.pdf", 2**52 + 1, 0), count=2)
        self.put(store, index, full, plain)
        assert store.chunks_of(index, "dossier/étude 日本.pdf", 2**52 + 1) == [replace(plain, vector=None), replace(full, vector=None)]

    def test_a_search_returns_the_whole_record_without_its_vector(self, store: ChunkStore, index: str) -> None:
        record = chunk(headings=("One", "Two"), indexed_text="One > Two\n\nsome word", metadata={"team": "core"})
        self.put(store, index, record)
        assert [scored.record for scored in self.search_all(store, index, EVERYTHING)] == [replace(record, vector=None)]

    def test_the_chunks_of_a_document_may_differ_in_their_metadata(self, store: ChunkStore, index: str) -> None:
        records = [
            chunk("a.py", index=place, count=2, language="python", metadata={"team": "core", "symbols": symbols})
            for place, symbols in enumerate((["A", "A.run"], ["décorée", "operator<=>"]))
        ]
        self.put(store, index, *records)
        assert store.chunks_of(index, "a.py", 1) == [replace(record, vector=None) for record in records]
        for symbol, expected in (("A.run", ["a.py#0"]), ("operator<=>", ["a.py#1"]), ("run", [])):
            assert found_ids(self.search_all(store, index, ChunkFilter(metadata={"symbols": symbol}))) == expected

    def test_writing_the_same_records_again_changes_nothing(self, store: ChunkStore, index: str) -> None:
        records = [chunk(index=place, count=2) for place in range(2)]
        self.put(store, index, *records)
        self.put(store, index, *records)
        assert store.count(index) == 2

    def test_writing_nothing_is_no_error(self, store: ChunkStore, index: str) -> None:
        self.put(store, index)
        assert store.count(index) == 0

    def test_a_write_of_any_size_arrives_whole(self, store: ChunkStore, index: str) -> None:
        self.put(store, index, *(chunk("big.md", 1, place, f"word {place} " * 100, count=450) for place in range(450)))
        assert [record.index for record in store.chunks_of(index, "big.md", 1)] == list(range(450))

    def test_the_same_place_of_another_generation_is_another_chunk(self, store: ChunkStore, index: str) -> None:
        self.put(store, index, chunk(generation=1), chunk(generation=2), chunk("b.md", 1))
        assert store.count(index) == 3

    def test_delete_removes_the_chunks_of_one_generation_alone(self, store: ChunkStore, index: str) -> None:
        self.put(store, index, *(chunk(d, g, i, count=3) for d in ("a.md", "b.md") for g in (1, 2) for i in range(3)))
        store.delete(index, "a.md", 1, 3)
        store.refresh(index)
        assert store.chunks_of(index, "a.md", 1) == []
        assert store.count(index) == 9

    def test_delete_removes_only_the_places_below_the_count(self, store: ChunkStore, index: str) -> None:
        self.put(store, index, *(chunk(index=place, count=3) for place in range(3)))
        store.delete(index, "a.md", 1, 2)
        store.refresh(index)
        assert [record.index for record in store.chunks_of(index, "a.md", 1)] == [2]

    def test_deleting_what_is_not_there_is_no_error(self, store: ChunkStore, index: str) -> None:
        store.delete(index, "never.md", 7, 2500)
        store.delete(index, "never.md", 7, 0)
        store.delete_generation(index, "never.md", 7)

    def test_deleted_chunks_can_be_written_again(self, store: ChunkStore, index: str) -> None:
        self.put(store, index, chunk())
        store.delete(index, "a.md", 1, 1)
        self.put(store, index, chunk())
        assert found_ids(self.search_all(store, index, EVERYTHING)) == ["a.md#0"]

    def test_delete_generation_finds_chunks_by_their_fields(self, store: ChunkStore, index: str) -> None:
        self.put(store, index, *(chunk(d, g, i, count=250) for d, g in (("a.md", 1), ("a.md", 2), ("a.mdx", 1)) for i in range(250)))
        store.delete_generation(index, "a.md", 1)
        store.refresh(index)
        assert store.chunks_of(index, "a.md", 1) == []
        assert store.count(index) == 500

    def test_chunks_of_an_unknown_generation_are_none(self, store: ChunkStore, index: str) -> None:
        self.put(store, index, chunk())
        assert store.chunks_of(index, "a.md", 2) == []
        assert store.chunks_of(index, "b.md", 1) == []

    def test_every_generation_is_reported_once_with_what_is_there_of_it(self, store: ChunkStore, index: str) -> None:
        self.put(
            store,
            index,
            *(chunk(f"{number}.md", 10 + number, place, count=3) for number in range(150) for place in range(3)),
            *(chunk("no-head.md", 2**40, place, count=5, fingerprint="f:1") for place in (2, 4)),
            chunk("tail.md", 3, 1, count=2),
            chunk("head.md", 3, 0, count=2),
        )
        expected = {StoredGeneration(f"{number}.md", 10 + number, f"{10 + number:032x}", 3, 3) for number in range(150)} | {
            StoredGeneration("no-head.md", 2**40, "f:1", 5, 2),
            StoredGeneration("tail.md", 3, f"{3:032x}", 2, 1),
            StoredGeneration("head.md", 3, f"{3:032x}", 2, 1),
        }
        reported = list(store.generations(index))
        assert len(reported) == len(expected)
        assert set(reported) == expected

    def test_filters_let_through_what_satisfies_them(self, store: ChunkStore, index: str) -> None:
        self.put(store, index, *(chunk(document_id, **fields) for document_id, fields in FILTERED.items()))
        wrong = {}
        for chunk_filter, expected in FILTERS:
            found = {scored.record.document_id for scored in self.search_all(store, index, chunk_filter)}
            if found != expected:
                wrong[repr(chunk_filter)] = found ^ expected
        assert not wrong

    def test_a_filter_finds_the_one_match_among_many_better_chunks(self, store: ChunkStore, index: str) -> None:
        self.put(
            store,
            index,
            *(chunk(f"a/{number}/b.txt", text="word word") for number in range(300)),
            chunk("a/x/y/b.txt", text="a long text with one word"),
        )
        assert found_ids(self.search_all(store, index, ChunkFilter(path_glob="a/*/*/b.txt"), limit=2)) == ["a/x/y/b.txt#0"]

    def test_left_out_generations_are_not_found(self, store: ChunkStore, index: str) -> None:
        self.put(store, index, chunk(generation=2**33 + 1), chunk(generation=2**33 + 2), chunk("b.md", 2**33 + 3))
        found = self.search_all(store, index, EVERYTHING, without={2**33 + 1, 2**33 + 3})
        assert [scored.record.generation for scored in found] == [2**33 + 2]

    def test_no_more_than_the_limit_is_found(self, store: ChunkStore, index: str) -> None:
        self.put(store, index, *(chunk(f"{number}.md") for number in range(10)))
        assert len(self.search_all(store, index, EVERYTHING, limit=4)) == 4
        assert self.search_all(store, index, EVERYTHING, limit=0) == []

    def test_an_empty_index_finds_nothing(self, store: ChunkStore, index: str) -> None:
        assert self.search_all(store, index, EVERYTHING) == []
        assert list(store.generations(index)) == []

    def test_threads_may_write_search_and_delete_at_once(self, store: ChunkStore, index: str) -> None:
        def work(number: int) -> None:
            for generation in range(1, 6):
                self.put(store, index, *(chunk(f"{number}.md", generation, place, count=4) for place in range(4)))
                own = self.search_all(store, index, ChunkFilter(path_prefix=f"{number}.md"), limit=100)
                assert sum(scored.record.generation == generation for scored in own) == 4
                if generation > 1:
                    store.delete(index, f"{number}.md", generation - 1, 4)

        with ThreadPoolExecutor(6) as pool:
            list(pool.map(work, range(6)))
        store.refresh(index)
        assert {(g.document_id, g.generation, g.whole) for g in store.generations(index)} == {(f"{n}.md", 5, True) for n in range(6)}
