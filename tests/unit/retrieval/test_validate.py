import pytest

from docmill.domain.chunks import ChunkFilter
from docmill.domain.errors import QueryInvalid
from docmill.domain.searching import SearchRequest
from docmill.retrieval.validate import MAX_LIMIT, MAX_QUERY_CHARACTERS, check_request


@pytest.mark.parametrize("query", ["", "   ", "\t\n\r", "\u00a0\u3000", "\x00\x01\x7f", "\u200b\ufeff", " \x00 "])
def test_a_query_without_a_visible_character_is_refused(query: str) -> None:
    with pytest.raises(QueryInvalid, match="at least one visible character"):
        check_request(SearchRequest(query), ["bm25"])


@pytest.mark.parametrize(
    "query",
    [
        "a/b",
        "foo[0]",
        '"unclosed',
        "AND OR",
        "\\",
        "field:value",
        "*/*",
        "😀",
        "x",
        "the a of",
        "~^{}",
        "a\x00b",
        "日本語",
        "NOT (",
        "$.x[*]",
    ],
)
def test_any_visible_text_is_a_query(query: str) -> None:
    check_request(SearchRequest(query), ["bm25"])


def test_a_query_at_the_bound_is_accepted_and_one_above_is_refused() -> None:
    check_request(SearchRequest("x" * MAX_QUERY_CHARACTERS), ["bm25"])
    with pytest.raises(QueryInvalid, match="at most 32768 are allowed"):
        check_request(SearchRequest("x" * (MAX_QUERY_CHARACTERS + 1)), ["bm25"])


def test_a_lone_surrogate_is_refused() -> None:
    with pytest.raises(QueryInvalid, match="lone surrogate"):
        check_request(SearchRequest("a\ud800"), ["bm25"])


@pytest.mark.parametrize("limit", [0, -1, MAX_LIMIT + 1, 10_001, 10**9])
def test_a_limit_out_of_bounds_is_refused(limit: int) -> None:
    with pytest.raises(QueryInvalid, match="from 1 to 1000"):
        check_request(SearchRequest("x", limit=limit), ["bm25"])


@pytest.mark.parametrize("limit", [None, 1, MAX_LIMIT])
def test_a_limit_in_bounds_is_accepted(limit: int | None) -> None:
    check_request(SearchRequest("x", limit=limit), ["bm25"])


def test_an_unknown_strategy_is_named_with_those_that_exist() -> None:
    with pytest.raises(QueryInvalid, match="'bm52'; there are: bm25, dense"):
        check_request(SearchRequest("x", strategies=("dense", "bm52")), ["dense", "bm25"])


@pytest.mark.parametrize("strategies", [(), ("bm25", "bm25")])
def test_no_strategy_and_one_twice_are_refused(strategies: tuple[str, ...]) -> None:
    with pytest.raises(QueryInvalid, match="strategies"):
        check_request(SearchRequest("x", strategies=strategies), ["bm25"])


def test_a_huge_glob_is_refused() -> None:
    with pytest.raises(QueryInvalid, match="path_glob"):
        check_request(SearchRequest("x", filter=ChunkFilter(path_glob="*" * 5000)), ["bm25"])
