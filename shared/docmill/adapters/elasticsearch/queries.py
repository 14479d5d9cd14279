"""Queries: what is asked for, as Elasticsearch wants it. User text only ever is the value of a ``match`` or a ``term``."""

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from itertools import islice
from typing import Any, Final

from docmill.adapters.chunk_payload import facts_wanted
from docmill.adapters.elasticsearch.definition import TERMS, Json, field_of
from docmill.adapters.embedded.query_words import query_layers
from docmill.adapters.embedded.words import words_of
from docmill.adapters.stem_languages import query_languages
from docmill.domain.chunk_filters import glob_literals
from docmill.domain.chunks import ChunkFilter

#: A server takes no more values in one ``terms``.
_VALUES_AT_ONCE: Final = 60_000


def words_query(query: str) -> Json | None:
    """The query for chunks with at least one word of ``query``, None when it has no word.

    Each chunk is ranked by its best field: its English stems, which every chunk has, or those of its own language.
    """
    groups = list(_words_by_weight(query_layers(query)))
    if not groups:
        return None
    languages = query_languages(words_of(query), sum(len(words) for words, _ in groups))
    fields = [TERMS, *map(field_of, languages)]
    return {"dis_max": {"queries": [_in_field(field, groups) for field in fields], "tie_breaker": 0.0}}


def passing(chunk_filter: ChunkFilter, without_generations: AbstractSet[int]) -> Json:
    """The clauses of a ``bool`` query that let through all that ``chunk_filter`` does, and little more."""
    must: list[Json] = []
    if chunk_filter.path_prefix:
        must.append({"prefix": {"doc": {"value": chunk_filter.path_prefix}}})
    if chunk_filter.path_glob is not None:
        prefix, inner = glob_literals(chunk_filter.path_glob)
        must.append({"wildcard": {"doc": {"value": "*".join([_escaped(prefix), *map(_escaped, inner)]) + "*"}}})
    must += [{"term": {"facts": fact}} for fact in facts_wanted(chunk_filter)]
    left_out = iter(sorted(without_generations))
    must_not: list[Json] = []
    while part := list(islice(left_out, _VALUES_AT_ONCE)):
        must_not.append({"terms": {"gen": part}})
    return {"filter": must, "must_not": must_not}


def is_exact(chunk_filter: ChunkFilter) -> bool:
    """Whether ``passing`` lets through exactly what ``chunk_filter`` does."""
    return chunk_filter.path_glob is None and not any(isinstance(value, list) for value in chunk_filter.metadata.values())


def is_sendable(chunk_filter: ChunkFilter) -> bool:
    """Whether a chunk can satisfy it at all: no stored text has half of a surrogate pair."""
    texts = (chunk_filter.path_prefix, chunk_filter.path_glob, chunk_filter.language, chunk_filter.mime)
    return not any("\ud800" <= character <= "\udfff" for text in texts if text is not None for character in text)


def of_generation(document_id: str, generation: int) -> Json:
    """The chunks of one generation of a document."""
    return {"bool": {"filter": [{"term": {"doc": document_id}}, {"term": {"gen": generation}}]}}


def best_first(query: Json, chunk_filter: ChunkFilter, without_generations: AbstractSet[int], threshold: float, size: int) -> Json:
    """The search for chunks of at least ``threshold``; its order is the port's, and is the same each time."""
    search: dict[str, Any] = {
        "query": {"bool": {"must": [query], **passing(chunk_filter, without_generations)}},
        "sort": [{"_score": "desc"}, {"doc": "asc"}, {"n": "asc"}, {"gen": "asc"}],
        "size": size,
        "track_total_hits": False,
    }
    if threshold > 0:
        search["min_score"] = threshold
    return search


def _words_by_weight(layers: list[str]) -> Iterator[tuple[list[str], int]]:
    """The words that a query names once, twice and so on; each counts as often as it is named."""
    words = [layer.split() for layer in layers]
    for times, layer in enumerate(words, 1):
        above = set(words[times]) if times < len(words) else set()
        exactly = [word for word in layer if word not in above]
        if exactly:
            yield exactly, times


def _in_field(field: str, groups: list[tuple[list[str], int]]) -> Json:
    matches: list[Json] = [{"match": {field: {"query": " ".join(words), "boost": times}}} for words, times in groups]
    return matches[0] if len(matches) == 1 else {"bool": {"should": matches}}


def _escaped(literal: str) -> str:
    return literal.replace("\\", "\\\\").replace("*", "\\*").replace("?", "\\?")
