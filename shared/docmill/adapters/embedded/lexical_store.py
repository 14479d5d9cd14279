"""BM25 in the Qdrant engine, in process: a full-text index over the words that ``words.py`` finds."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path

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

from docmill.adapters.embedded.edge_payload import payload_of
from docmill.adapters.embedded.edge_shard import Shard
from docmill.adapters.embedded.edge_store import SHARED_INDEXES, EdgeChunkStore, found_chunks
from docmill.adapters.embedded.query_words import query_layers
from docmill.adapters.embedded.shards import OpenIndex
from docmill.adapters.embedded.words import MAX_WORD_CHARACTERS, terms_text
from docmill.domain.chunks import ChunkFilter, ChunkRecord, ScoredChunk


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

        def ranking(passing: Filter | None, most: int) -> list[tuple[str, float]]:
            return _ranked(found.shard, layers, passing, most)

        return found_chunks(found, ranking, limit, threshold, chunk_filter, without_generations)

    def _check(self, found: OpenIndex, records: Sequence[ChunkRecord]) -> None:
        """Every text is taken."""

    def _point(self, point_id: str, record: ChunkRecord) -> Point:
        payload = payload_of(record)
        payload["terms"] = terms_text(record.indexed_text)
        return Point(point_id, {}, payload)


def _ranked(shard: Shard, layers: Sequence[TextQuery], passing: Filter | None, most: int) -> list[tuple[str, float]]:
    """The best points by the sum of all layers.

    The engine counts a query's word once however often it is there. So the words that occur at least twice are a second query over the
    best points of the first, and so on: the sum is BM25 with the query's own term frequencies.
    """
    pool = most if len(layers) == 1 else max(200, 10 * most)
    ranked = shard.query(QueryRequest(limit=pool, query=layers[0], filter=passing, with_payload=False))
    if len(layers) == 1 or not ranked:
        return ranked
    scores = dict(ranked)
    among = Filter(must=[HasIdCondition({*scores})])
    for layer in layers[1:]:
        for point_id, score in shard.query(QueryRequest(limit=len(scores), query=layer, filter=among, with_payload=False)):
            scores[point_id] += score
    return sorted(scores.items(), key=lambda scored: -scored[1])[:most]


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
