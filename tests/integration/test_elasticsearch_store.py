"""What the store on a real Elasticsearch promises beyond the contract: mapping, parameters, analysis, many processes at once."""

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import pytest

from docmill.adapters.elasticsearch import ElasticsearchLexicalStore, connect_elasticsearch
from docmill.adapters.elasticsearch.bulk import MAX_BYTES
from docmill.adapters.memory.stores import MemoryLexicalStore
from docmill.config.settings import Settings
from docmill.domain.chunks import ChunkFilter, ScoredChunk
from docmill.domain.errors import StoreRejected
from docmill.testing.chunk_store_contract import chunk, found_ids
from support.elasticsearch_server import elasticsearch_url

STRATEGY = "words"


@pytest.fixture(scope="module")
def url() -> str:
    return elasticsearch_url()


@pytest.fixture(scope="module")
def store(url: str) -> Iterator[ElasticsearchLexicalStore]:
    store = connect_elasticsearch(Settings(elasticsearch_url=url))
    yield store
    store.close()


@pytest.fixture
def index(store: ElasticsearchLexicalStore) -> Iterator[str]:
    name = f"integration-{uuid4().hex}"
    store.create(name, STRATEGY, k1=1.5, b=0.75)
    yield name
    store.drop(name)


def ask(url: str, method: str, path: str, body: object = None) -> Any:
    """What the server itself says."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"{url}/{path}", data, {"Content-Type": "application/json"}, method=method)
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


def search(store: Any, index: str, query: str, limit: int = 50) -> list[ScoredChunk]:
    found: list[ScoredChunk] = store.search(index, query, limit, k1=1.5, b=0.75, threshold=0.0, chunk_filter=ChunkFilter())
    return found


def parameters(url: str, index: str) -> tuple[float, float]:
    settings = ask(url, "GET", f"docmill-index-{index}/_settings")[f"docmill-index-{index}"]["settings"]["index"]
    assert "verified_before_close" not in settings
    words = settings["similarity"]["words"]
    return float(words["k1"]), float(words["b"])


def test_an_index_takes_no_field_that_is_not_in_its_mapping(url: str, store: ElasticsearchLexicalStore, index: str) -> None:
    with pytest.raises(urllib.error.HTTPError, match="400"):
        ask(url, "POST", f"docmill-chunks-{index}/_doc", {"doc": "a", "unknown": 1})


def test_words_are_searched_and_not_kept(url: str, store: ElasticsearchLexicalStore, index: str) -> None:
    store.write(index, [chunk()])
    store.refresh(index)
    (hit,) = ask(url, "GET", f"docmill-chunks-{index}/_search")["hits"]["hits"]
    assert set(hit["_source"]) == {"doc", "gen", "n", "whole", "facts", "body"}


def test_all_settings_that_matter_are_explicit(url: str, index: str) -> None:
    settings = ask(url, "GET", f"docmill-index-{index}/_settings")[f"docmill-index-{index}"]["settings"]["index"]
    assert settings["number_of_shards"] == "1"
    assert settings["auto_expand_replicas"] == "0-1"
    assert settings["refresh_interval"] == "30s"


def test_an_index_is_green_on_one_node(url: str, index: str) -> None:
    assert ask(url, "GET", f"_cluster/health/docmill-index-{index}?wait_for_status=green&timeout=20s")["status"] == "green"


def test_scores_and_order_are_those_of_the_twin(store: ElasticsearchLexicalStore, index: str) -> None:
    twin = MemoryLexicalStore()
    twin.create(index, STRATEGY, k1=1.5, b=0.75)
    records = [
        chunk(
            f"{number}.md", text=f"common words {'filler ' * (number % 7)} number{number % 5} getUserName ERR_{number % 3} 日本語 {number}"
        )
        for number in range(60)
    ]
    for each in (store, twin):
        each.write(index, records)
        each.refresh(index)
    for query in ("number3 filler", "getUserName", "err_2 common", "日本", "filler filler number1", "user name 17"):
        ours, twins = search(store, index, query), search(twin, index, query)
        assert found_ids(ours) == found_ids(twins), query
        assert [round(c.score, 3) for c in ours] == [pytest.approx(c.score, abs=0.01) for c in twins], query


def test_a_query_of_2000_words_is_answered(store: ElasticsearchLexicalStore, index: str) -> None:
    store.write(index, [chunk(text="a page about word7 and others")])
    store.refresh(index)
    assert found_ids(search(store, index, " ".join(f"word{number} word{number} Häuser{number}" for number in range(2_000)))) == ["a.md#0"]
    assert found_ids(search(store, index, "der Text und die Wörter " * 10 + " ".join(f"word{number}" for number in range(2_000)))) == [
        "a.md#0"
    ]


def test_a_token_of_any_length_is_no_immense_term(store: ElasticsearchLexicalStore, index: str) -> None:
    store.write(index, [chunk(text="x" * 100_000 + " short " + "𠀀" * 20_000 + " " + "é" * 40_000 + "." + "y" * 300)])
    store.refresh(index)
    assert found_ids(search(store, index, "short")) == ["a.md#0"]


def test_a_write_larger_than_one_request_arrives_whole(store: ElasticsearchLexicalStore, index: str) -> None:
    text = "x" * 500_000
    store.write(index, [chunk(index=place, text=text, count=2 * MAX_BYTES // len(text)) for place in range(2 * MAX_BYTES // len(text))])
    store.refresh(index)
    assert store.count(index) == 2 * MAX_BYTES // len(text)


def test_a_chunk_that_the_server_refuses_is_named(store: ElasticsearchLexicalStore, index: str) -> None:
    with pytest.raises(StoreRejected, match="refused long/xxx") as raised:
        store.write(index, [chunk("fine.md"), chunk("long/" + "x" * 40_000)])
    assert "\n" not in str(raised.value)
    store.refresh(index)
    assert store.count(index) == 1


@pytest.mark.parametrize("glob", ["**a" + "?" * 25 + ".md", "**a" * 20 + "**", "a/*/*/*.md"])
def test_a_glob_of_many_wildcards_is_answered(store: ElasticsearchLexicalStore, index: str, glob: str) -> None:
    path = "a/b/c/" + "a" * 30 + ".md"
    store.write(index, [chunk(path), chunk("other.md")])
    store.refresh(index)
    found = store.search(index, "word", 5, k1=1.5, b=0.75, threshold=0.0, chunk_filter=ChunkFilter(path_glob=glob))
    assert found_ids(found) == [f"{path}#0"]


def test_a_filter_that_no_text_can_satisfy_finds_nothing(store: ElasticsearchLexicalStore, index: str) -> None:
    store.write(index, [chunk()])
    store.refresh(index)
    assert store.search(index, "word", 5, k1=1.5, b=0.75, threshold=0.0, chunk_filter=ChunkFilter(path_prefix="\ud800")) == []


def test_other_parameters_are_set_by_closing_and_opening(url: str, store: ElasticsearchLexicalStore, index: str) -> None:
    store.write(index, [chunk("a", text="apple apple apple"), chunk("b", text="apple pie with cream")])
    store.refresh(index)
    before = [found.score for found in search(store, index, "apple")]
    store.create(index, STRATEGY, k1=0.4, b=0.1)
    assert parameters(url, index) == (0.4, 0.1)
    after = [found.score for found in search(store, index, "apple")]
    assert len(after) == 2
    assert after != before


def test_an_index_that_was_left_closed_is_opened(url: str, store: ElasticsearchLexicalStore, index: str) -> None:
    store.write(index, [chunk()])
    ask(url, "POST", f"docmill-index-{index}/_close")
    store.create(index, STRATEGY, k1=1.5, b=0.75)
    assert store.count(index) == 1


def test_many_processes_may_make_an_index_and_change_its_parameters_at_once(url: str, store: ElasticsearchLexicalStore) -> None:
    name = f"integration-{uuid4().hex}"
    try:
        for k1 in (1.5, 0.9, 1.2):
            with ThreadPoolExecutor(6) as pool:
                list(pool.map(lambda _, k1=k1: store.create(name, STRATEGY, k1=k1, b=0.75), range(6)))
            assert parameters(url, name) == (k1, 0.75)
        store.write(name, [chunk()])
    finally:
        store.drop(name)


def test_a_search_waits_while_the_parameters_change(store: ElasticsearchLexicalStore, index: str) -> None:
    store.write(index, [chunk()])
    store.refresh(index)
    with ThreadPoolExecutor(4) as pool:
        searches = [pool.submit(lambda: [len(search(store, index, "word")) for _ in range(10)]) for _ in range(3)]
        for k1 in (0.5, 1.0):
            store.create(index, STRATEGY, k1=k1, b=0.75)
        assert [done.result() for done in searches] == [[1] * 10] * 3


def test_an_index_that_was_removed_behind_our_back_is_not_made_by_writing(url: str, store: ElasticsearchLexicalStore, index: str) -> None:
    store.write(index, [chunk()])
    ask(url, "DELETE", f"docmill-index-{index}")
    with pytest.raises(StoreRejected, match=rf"{index}.* does not exist"):
        store.write(index, [chunk()])
    with pytest.raises(StoreRejected, match=rf"{index}.* does not exist"):
        store.delete(index, "a.md", 1, 1)
    assert f"docmill-index-{index}" not in ask(url, "GET", "_all/_settings")
    assert f"docmill-chunks-{index}" not in ask(url, "GET", "_all/_settings")
    store.create(index, STRATEGY, k1=1.5, b=0.75)
    store.write(index, [chunk()])
    store.refresh(index)
    assert store.count(index) == 1


def test_a_wiped_store_has_another_identity_and_no_epoch(url: str, store: ElasticsearchLexicalStore) -> None:
    identity = store.identity()
    store.raise_epoch(store.epoch() + 1)
    ask(url, "DELETE", "docmill-state-1")
    assert store.epoch() == 0
    assert store.identity() != identity


def test_a_new_store_gets_one_identity_from_many_processes(url: str, store: ElasticsearchLexicalStore) -> None:
    store.identity()
    ask(url, "DELETE", "docmill-state-1")
    with ThreadPoolExecutor(6) as pool:
        assert len(set(pool.map(lambda _: store.identity(), range(12)))) == 1


def test_the_highest_of_many_epochs_that_are_raised_at_once_stays(store: ElasticsearchLexicalStore) -> None:
    before = store.epoch()
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(store.raise_epoch, [before + number for number in (3, 12, 7, 1, 9, 12, 4, 8)]))
    assert store.epoch() == before + 12


def test_generations_that_span_many_answers_are_reported_once_in_order(store: ElasticsearchLexicalStore, index: str) -> None:
    store.write(index, [chunk(f"{number:05}.md", 7, place, count=2) for number in range(1_200) for place in range(2)])
    store.refresh(index)
    reported = list(store.generations(index))
    assert [found.document_id for found in reported] == [f"{number:05}.md" for number in range(1_200)]
    assert all(found.whole for found in reported)


def test_removing_a_generation_finds_what_was_not_refreshed(store: ElasticsearchLexicalStore, index: str) -> None:
    store.write(index, [chunk(index=place, count=5) for place in range(5)])
    store.delete_generation(index, "a.md", 1)
    store.refresh(index)
    assert store.count(index) == 0
