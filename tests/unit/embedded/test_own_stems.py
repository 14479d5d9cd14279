"""Texts in other languages than English, in the embedded lexical store."""

from pathlib import Path

import pytest
from qdrant_edge import Point, SnowballLanguage, SnowballParams, StopwordsSet, TextIndexParams, TokenizerType

from docmill.adapters.chunk_payload import payload_of
from docmill.adapters.embedded.edge_shard import Shard
from docmill.adapters.embedded.edge_store import SHARED_INDEXES
from docmill.adapters.embedded.lexical_store import EmbeddedLexicalStore
from docmill.adapters.embedded.own_stems import own_layers, own_stems
from docmill.adapters.embedded.query_words import query_layers
from docmill.adapters.embedded.shards import ShardFolder
from docmill.domain.chunks import ChunkFilter, point_id_of
from docmill.testing.store_contract import chunk, found_ids

GERMAN = "Die Häuser in der Stadt sind alt, und die Kinder spielen mit den Büchern."


def search(store: EmbeddedLexicalStore, query: str) -> list[str]:
    return found_ids(store.search("i", query, 10, k1=1.5, b=0.75, threshold=0.0, chunk_filter=ChunkFilter()))


def store_in(folder: Path) -> EmbeddedLexicalStore:
    store = EmbeddedLexicalStore(folder)
    store.create("i", "strategy", k1=1.5, b=0.75)
    return store


def test_forms_of_a_word_have_one_stem_in_its_language() -> None:
    assert len(set(own_stems(["Haus", "Hauser", "hausern"], "german"))) == 1
    assert own_stems(["Haus"], "german") != own_stems(["Haus"], "dutch")


def test_a_word_that_a_query_repeats_counts_as_often() -> None:
    query = "Haus Haus Kind"
    both, twice = own_layers(query, query_layers(query))
    assert set(own_stems(["Haus", "Kind"], "german")) <= set(both.split())
    assert set(own_stems(["Haus"], "german")) <= set(twice.split())
    assert not set(own_stems(["Kind"], "german")) & set(twice.split())


def test_a_query_without_a_word_has_no_stems() -> None:
    assert own_layers("?!", query_layers("?!")) == []


def test_the_first_text_in_another_language_is_found_though_searches_knew_of_none(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    store.write("i", [chunk("english", text="An English text about houses and the children.")])
    assert search(store, "Haus") == []
    store.write("i", [chunk("german", text=GERMAN)])
    assert search(store, "Haus") == ["german#0"]
    store.close()


def test_a_text_in_another_language_is_found_after_opening_again(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    store.write("i", [chunk("german", text=GERMAN)])
    store.close()
    store = EmbeddedLexicalStore(tmp_path)
    assert search(store, "Haus") == ["german#0"]
    store.close()


def test_an_index_that_is_made_anew_holds_nothing_of_the_old_one(tmp_path: Path) -> None:
    store = store_in(tmp_path)
    store.write("i", [chunk("german", text=GERMAN)])
    assert search(store, "Haus") == ["german#0"]
    store.drop("i")
    store.create("i", "strategy", k1=1.5, b=0.75)
    assert search(store, "Haus") == []
    store.close()


@pytest.mark.parametrize(("query", "found"), [("Häuser", ["german#0"]), ("Haus", [])])
def test_an_index_that_was_made_without_stems_of_other_languages_is_searched_by_the_english_ones(
    tmp_path: Path, query: str, found: list[str]
) -> None:
    """The form of an earlier version, which is served until everything is indexed anew."""
    words = TextIndexParams(
        tokenizer=TokenizerType.Whitespace,
        lowercase=True,
        stemmer=SnowballParams(SnowballLanguage.English),
        stopwords=StopwordsSet(custom=set()),
        scoring=True,
    )
    shards = ShardFolder(tmp_path)
    index = shards.create("i", {"strategy": "strategy"}, lambda folder: Shard.create(folder, None, {**SHARED_INDEXES, "terms": words}))
    record = chunk("german", text=GERMAN)
    payload = payload_of(record) | {"terms": "die hauser in der stadt"}
    index.shard.upsert([Point(point_id_of("german", record.generation, "strategy", 0), {}, payload)])
    shards.close()
    store = EmbeddedLexicalStore(tmp_path)
    assert search(store, query) == found
    store.close()
