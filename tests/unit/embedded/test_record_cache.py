"""Records that searches returned are kept, within bounds, and never shown in place of newer ones."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import pytest

from docmill.adapters.chunk_payload import payload_of, record_of
from docmill.adapters.embedded.lexical_store import EmbeddedLexicalStore
from docmill.adapters.embedded.record_cache import RecordCache
from docmill.domain.chunks import ChunkFilter, point_id_of
from docmill.testing.store_contract import chunk


@pytest.fixture
def store(tmp_path: Path) -> Iterator[EmbeddedLexicalStore]:
    made = EmbeddedLexicalStore(tmp_path)
    made.create("i", "strategy", k1=1.5, b=0.75)
    yield made
    made.close()


def texts(store: EmbeddedLexicalStore, query: str = "apple") -> list[str]:
    found = store.search("i", query, 10, k1=1.5, b=0.75, threshold=0.0, chunk_filter=ChunkFilter())
    return [scored.record.text for scored in found]


def test_a_record_is_read_once_while_there_is_room(store: EmbeddedLexicalStore) -> None:
    store.write("i", [chunk("a", text="apple " * 10), chunk("b", text="apple pie")])
    shard = store._shards.index("i").shard
    ids = [UUID(point_id_of(name, 1, "strategy", 0)) for name in "ab"]
    cache = RecordCache()
    first = cache.records_of(shard, ids)
    assert [record.text for record in first if record] == ["apple " * 10, "apple pie"]
    again = cache.records_of(shard, ids)
    assert all(one is other for one, other in zip(first, again, strict=True))
    assert len(cache) == 2


def test_a_point_that_is_not_there_has_no_record_and_is_looked_for_again(store: EmbeddedLexicalStore) -> None:
    shard = store._shards.index("i").shard
    ids = [UUID(point_id_of("a", 1, "strategy", 0))]
    cache = RecordCache()
    assert cache.records_of(shard, ids) == [None]
    store.write("i", [chunk("a", text="apple pie")])
    assert [record.text for record in cache.records_of(shard, ids) if record] == ["apple pie"]


def test_what_was_asked_for_longest_ago_makes_room(store: EmbeddedLexicalStore) -> None:
    store.write("i", [chunk(name, text="apple pie", indexed_text="apple pie") for name in "abc"])
    shard = store._shards.index("i").shard
    a, b, c = [UUID(point_id_of(name, 1, "strategy", 0)) for name in "abc"]
    cache = RecordCache(max_characters=4 * len("apple pie"))
    of_a, of_b = cache.records_of(shard, [a, b])
    assert cache.records_of(shard, [a])[0] is of_a
    cache.records_of(shard, [c])
    assert len(cache) == 2
    assert cache.records_of(shard, [a])[0] is of_a
    assert cache.records_of(shard, [b])[0] is not of_b


def test_a_deleted_chunk_is_not_found_though_its_record_is_kept(store: EmbeddedLexicalStore) -> None:
    store.write("i", [chunk("a", text="apple one"), chunk("b", text="apple two")])
    assert sorted(texts(store)) == ["apple one", "apple two"]
    store.delete("i", "a", 1, 1)
    assert texts(store) == ["apple two"]


def test_a_chunk_that_is_written_again_is_shown_as_it_is_now(store: EmbeddedLexicalStore) -> None:
    store.write("i", [chunk("a", text="apple one")])
    assert texts(store) == ["apple one"]
    store.write("i", [chunk("a", text="apple two")])
    assert texts(store) == ["apple two"]


def test_a_dropped_index_leaves_no_records_behind(store: EmbeddedLexicalStore) -> None:
    store.write("i", [chunk("a", text="apple one")])
    assert texts(store) == ["apple one"]
    store.drop("i")
    store.create("i", "strategy", k1=1.5, b=0.75)
    assert len(store._records) == 0
    store.write("i", [chunk("a", text="apple two")])
    assert texts(store) == ["apple two"]


def test_a_text_with_a_lone_surrogate_comes_back_as_it_was() -> None:
    record = replace(chunk("a", vector=None), text="apple \ud800 pie", indexed_text="A > apple \ud800 pie")
    assert record_of(payload_of(record)) == record


def test_a_repeated_word_counts_as_often_as_the_query_names_it_however_many_chunks_have_it(store: EmbeddedLexicalStore) -> None:
    store.write("i", [chunk(f"{number}", text=f"pear plum filler{number}") for number in range(300)])
    store.write("i", [chunk("plums", text="plum " * 3 + "cherry " * 20), chunk("pears", text="pear " * 3 + "cherry " * 20)])
    scores = {}
    for query in ("pear plum plum plum", "pear plum"):
        found = store.search("i", query, 400, k1=1.5, b=0.75, threshold=0.0, chunk_filter=ChunkFilter())
        scores[query] = {scored.record.document_id: scored.score for scored in found}
    once, thrice = scores["pear plum"], scores["pear plum plum plum"]
    assert thrice["pears"] == pytest.approx(once["pears"])
    assert thrice["plums"] == pytest.approx(3 * once["plums"])
    best = store.search("i", "pear plum plum plum", 3, k1=1.5, b=0.75, threshold=0.0, chunk_filter=ChunkFilter())
    assert [scored.score for scored in best] == pytest.approx(sorted(thrice.values(), reverse=True)[:3])
