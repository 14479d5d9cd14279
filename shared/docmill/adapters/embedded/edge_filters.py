"""``ChunkFilter`` as the engine's filter; what the engine cannot say exactly is checked again on what it returns."""

from collections.abc import Set as AbstractSet

from qdrant_edge import FieldCondition, Filter, MatchAny, MatchPrefix, MatchSubstring, MatchValue

from docmill.adapters.chunk_payload import facts_wanted
from docmill.domain.chunk_filters import glob_literals
from docmill.domain.chunks import ChunkFilter


def engine_filter(chunk_filter: ChunkFilter, without_generations: AbstractSet[int] = frozenset()) -> Filter | None:
    """A filter that lets through all that ``chunk_filter`` does, and little more; None when nothing is restricted."""
    must: list[FieldCondition] = []
    if chunk_filter.path_prefix:
        must.append(FieldCondition("doc", match=MatchPrefix(chunk_filter.path_prefix)))
    if chunk_filter.path_glob is not None:
        prefix, inner = glob_literals(chunk_filter.path_glob)
        if prefix:
            must.append(FieldCondition("doc", match=MatchPrefix(prefix)))
        must += [FieldCondition("doc", match=MatchSubstring(piece)) for piece in inner]
    must += [FieldCondition("facts", match=MatchValue(fact)) for fact in facts_wanted(chunk_filter)]
    must_not = [FieldCondition("gen", match=MatchAny(sorted(without_generations)))] if without_generations else []
    return Filter(must=[*must], must_not=[*must_not]) if must or must_not else None


def is_exact(chunk_filter: ChunkFilter) -> bool:
    """Whether the engine's filter lets through exactly what ``chunk_filter`` does."""
    return chunk_filter.path_glob is None and not any(isinstance(value, list) for value in chunk_filter.metadata.values())


def generation_filter(document_id: str, generation: int) -> Filter:
    """The chunks of one generation of a document."""
    return Filter(must=[FieldCondition("doc", match=MatchValue(document_id)), FieldCondition("gen", match=MatchValue(generation))])
