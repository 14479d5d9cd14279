"""What is sent to Elasticsearch: addresses, bulk requests, queries."""

from urllib.parse import urlsplit

import pytest

from docmill.adapters.elasticsearch import bulk
from docmill.adapters.elasticsearch.bulk import Operation, in_requests
from docmill.adapters.elasticsearch.connecting import login_of, node_of, place_of
from docmill.adapters.elasticsearch.documents import generation_in, record_in, source_of
from docmill.adapters.elasticsearch.queries import passing, words_query
from docmill.domain.chunks import ChunkFilter, StoredGeneration
from docmill.testing.chunk_store_contract import chunk


@pytest.mark.parametrize(
    ("urls", "place", "login"),
    [
        ("http://one", "one:9200", None),
        ("https://u:p@one:443/es/,https://two:9201", "one:443, two:9201", ("u", "p")),
        ("http://one,http://u%40x:p%3A%2F@two", "one:9200, two:9200", ("u@x", "p:/")),
        ("http://u@[::1]:9200", "[::1]:9200", ("u", "")),
    ],
)
def test_a_url_gives_the_place_and_the_login_apart(urls: str, place: str, login: tuple[str, str] | None) -> None:
    parts = [urlsplit(url) for url in urls.split(",")]
    assert place_of(parts) == place
    assert login_of(parts) == login


def test_a_path_in_the_url_stands_before_every_request() -> None:
    node = node_of(urlsplit("http://one/a/b/"), None)
    assert (node.scheme, node.host, node.port, node.path_prefix) == ("http", "one", 9200, "/a/b")


def test_requests_are_bounded_by_count_and_by_bytes() -> None:
    small = [Operation(str(number), (b"x",)) for number in range(2 * bulk.MAX_OPERATIONS + 1)]
    assert [len(part) for part in in_requests(small)] == [bulk.MAX_OPERATIONS, bulk.MAX_OPERATIONS, 1]
    half = Operation("half", (b"x" * (bulk.MAX_BYTES // 2 + 1),))
    whole = Operation("whole", (b"x" * (2 * bulk.MAX_BYTES),))
    assert [[operation.chunk for operation in part] for part in in_requests([half, half, whole, half])] == [
        ["half"],
        ["half"],
        ["whole"],
        ["half"],
    ]
    assert list(in_requests([])) == []


def test_a_document_holds_the_record_and_what_is_searched() -> None:
    record = chunk("a/é.md", 7, 3, "some word", count=4, indexed_text="Title\n\nsome word", metadata={"a": [1, "x"]}, vector=None)
    source = source_of(record)
    assert source["terms"] == "Title some word"
    assert record_in(source) == record
    assert generation_in(source, 2) == StoredGeneration("a/é.md", 7, record.fingerprint, 4, 2)


def test_a_word_that_a_query_repeats_counts_as_often_up_to_four_times() -> None:
    query = words_query("alpha beta beta gamma gamma gamma gamma gamma gamma")
    assert query is not None
    assert query["dis_max"]["queries"][0] == {
        "bool": {
            "should": [
                {"match": {"terms": {"query": "alpha", "boost": 1}}},
                {"match": {"terms": {"query": "beta", "boost": 2}}},
                {"match": {"terms": {"query": "gamma", "boost": 4}}},
            ]
        }
    }


@pytest.mark.parametrize("words", [1, 20, 200, 5_000])
def test_no_query_has_more_terms_than_a_server_takes(words: int) -> None:
    query = words_query(" ".join(f"w{number}" for number in range(words)))
    assert query is not None
    assert sum(len(next(iter(part["match"].values()))["query"].split()) for part in query["dis_max"]["queries"]) <= 1_000


@pytest.mark.parametrize(
    ("glob", "pattern"),
    [("docs/**/a*.md", "docs/*a*.md*"), ("*.md", "*.md*"), (r"a\b?.md", r"a\\b*.md*"), ("**", "*"), ("plain.md", "plain.md*")],
)
def test_a_glob_is_narrowed_by_its_plain_parts(glob: str, pattern: str) -> None:
    assert passing(ChunkFilter(path_glob=glob), frozenset())["filter"] == [{"wildcard": {"doc": {"value": pattern}}}]


def test_any_number_of_generations_can_be_left_out() -> None:
    parts = passing(ChunkFilter(), frozenset(range(130_000)))["must_not"]
    assert [len(part["terms"]["gen"]) for part in parts] == [60_000, 60_000, 10_000]


def test_code_has_no_stems_but_the_english_ones() -> None:
    text = "# Die Häuser in der Stadt sind alt und die Kinder spielen"
    assert "terms_german" in source_of(chunk(text=text))
    assert "terms_german" not in source_of(chunk(text=text, language="python"))
