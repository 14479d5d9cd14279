"""BM25 in the Qdrant engine, in process: a full-text index over the words that ``words.py`` finds."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Final
from uuid import UUID

from qdrant_edge import (
    Bm25Params,
    Filter,
    HasIdCondition,
    Point,
    QueryRequest,
    SnowballLanguage,
    SnowballParams,
    StopwordsSet,
    TextIndexParams,
    TextQuery,
    TokenizerType,
)

from docmill.adapters.chunk_payload import payload_of
from docmill.adapters.embedded.edge_shard import Shard, scored_ids
from docmill.adapters.embedded.edge_store import SHARED_INDEXES, EdgeChunkStore
from docmill.adapters.embedded.query_words import query_layers
from docmill.adapters.embedded.shards import OpenIndex
from docmill.adapters.embedded.words import MAX_WORD_CHARACTERS, terms_text
from docmill.domain.chunks import ChunkFilter, ChunkRecord, ScoredChunk

#: How many of the best points a query that repeats a word looks through at least, when the first few do not settle it.
_WIDE_POOL: Final = 200


class EmbeddedLexicalStore(EdgeChunkStore):
    """A ``LexicalStore``. ``k1`` and ``b`` are the query's; those of ``create`` are not needed."""

    def create(self, index: str, strategy: str, *, k1: float, b: float) -> None:
        """See the port."""
        self._shards.create(index, {"strategy": strategy}, _make_shard)

    def search(
        self,
        index: str,
        query: str,
        limit: int,
        *,
        k1: float,
        b: float,
        threshold: float,
        chunk_filter: ChunkFilter,
        without_generations: AbstractSet[int] = frozenset(),
    ) -> list[ScoredChunk]:
        """See the port."""
        found = self._shards.index(index)
        layers = [TextQuery("terms", words, Bm25Params(k=k1, b=b)) for words in query_layers(query)]
        if not layers:
            return []

        def ranking(passing: Filter | None, most: int) -> list[tuple[UUID, float]]:
            return _ranked(found.shard, layers, passing, most)

        return self._found(found, ranking, limit, threshold, chunk_filter, without_generations)

    def _check(self, found: OpenIndex, records: Sequence[ChunkRecord]) -> None:
        """Every text is taken."""

    def _point(self, point_id: str, record: ChunkRecord) -> Point:
        payload = payload_of(record)
        payload["terms"] = terms_text(record.indexed_text)
        return Point(point_id, {}, payload)


def _ranked(shard: Shard, layers: Sequence[TextQuery], passing: Filter | None, most: int) -> list[tuple[UUID, float]]:
    """The best points by the sum of all layers.

    The engine counts a query's word once however often it is there. So the words that occur at least twice are a second query over the
    best points of the first, and so on: the sum is BM25 with the query's own term frequencies.
    """
    if len(layers) == 1:
        return scored_ids(shard.query(QueryRequest(limit=most, query=layers[0], filter=passing)))
    # A point outside the pool has at most the pool's lowest first layer and the best of each other one.
    above_pool = sum(point.score for layer in layers[1:] for point in shard.query(QueryRequest(limit=1, query=layer, filter=passing)))
    for pool in (2 * most, max(_WIDE_POOL, 10 * most)):
        scores, lowest = _summed(shard, layers, passing, pool)
        best = sorted(scores.items(), key=lambda scored: -scored[1])[:most]
        if len(scores) < pool or best[-1][1] >= lowest + above_pool:
            break
    return best


def _summed(shard: Shard, layers: Sequence[TextQuery], passing: Filter | None, pool: int) -> tuple[dict[UUID, float], float]:
    """The best ``pool`` points of the first layer with their scores over all layers, and the lowest score of the first layer."""
    first = shard.query(QueryRequest(limit=pool, query=layers[0], filter=passing))
    if not first:
        return {}, 0.0
    scores = dict(scored_ids(first))
    among = Filter(must=[HasIdCondition({*scores})])
    for layer in layers[1:]:
        for point_id, score in scored_ids(shard.query(QueryRequest(limit=pool, query=layer, filter=among))):
            scores[point_id] += score
    return scores, first[-1].score


def _make_shard(folder: Path) -> Shard:
    words = TextIndexParams(
        tokenizer=TokenizerType.Whitespace,
        lowercase=True,
        max_token_len=MAX_WORD_CHARACTERS,
        stemmer=SnowballParams(SnowballLanguage.English),
        stopwords=StopwordsSet(custom=set()),
        scoring=True,
    )
    return Shard.create(folder, None, {**SHARED_INDEXES, "terms": words})
