"""BM25 in the Qdrant engine, in process: a full-text index over the words that ``words.py`` finds, by their English stems, and one over the
stems of the texts that are in another language. A chunk counts by the better one of the two.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Final
from uuid import UUID

from qdrant_edge import (
    Bm25Params,
    Filter,
    HasIdCondition,
    IsEmptyCondition,
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
from docmill.adapters.embedded.own_stems import own_layers, own_stems
from docmill.adapters.embedded.query_words import query_layers
from docmill.adapters.embedded.shards import OpenIndex
from docmill.adapters.embedded.words import MAX_WORD_CHARACTERS, terms_text, words_in
from docmill.adapters.stem_languages import stem_language
from docmill.domain.chunks import ChunkFilter, ChunkRecord, ScoredChunk

#: How many of the best points a query that repeats a word looks through at least, when the first few do not settle it.
_WIDE_POOL: Final = 200
_TERMS: Final = "terms"
_OWN_STEMS: Final = "own"


class EmbeddedLexicalStore(EdgeChunkStore):
    """A ``LexicalStore``. ``k1`` and ``b`` are the query's; those of ``create`` are not needed."""

    def __init__(self, folder: Path) -> None:
        """See ``EdgeChunkStore``."""
        super().__init__(folder)
        self._holders = _Holders()

    def create(self, index: str, strategy: str, *, k1: float, b: float) -> None:
        """See the port."""
        self._shards.create(index, {"strategy": strategy, _OWN_STEMS: True}, _make_shard)

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
        terms = query_layers(query)
        if not terms:
            return []
        fields = {_TERMS: terms}
        if self._holders.holds(found):
            fields[_OWN_STEMS] = own_layers(query, terms)
        layers = [[TextQuery(field, words, Bm25Params(k=k1, b=b)) for words in texts] for field, texts in fields.items() if texts]

        def ranking(passing: Filter | None, most: int) -> list[tuple[UUID, float]]:
            return _best_of([_ranked(found.shard, one, passing, most) for one in layers], most)

        return self._found(found, ranking, limit, threshold, chunk_filter, without_generations)

    def write(self, index: str, records: Sequence[ChunkRecord]) -> None:
        """See the port."""
        super().write(index, records)
        self._holders.note_write()

    def drop(self, index: str) -> None:
        """See the port."""
        super().drop(index)
        self._holders.forget(index)

    def _check(self, found: OpenIndex, records: Sequence[ChunkRecord]) -> None:
        """Every text is taken."""

    def _point(self, point_id: str, record: ChunkRecord) -> Point:
        payload = payload_of(record)
        terms = payload[_TERMS] = terms_text(record.indexed_text)
        words = words_in(terms)
        language = stem_language(words, record.language)
        if language is not None:
            payload[_OWN_STEMS] = " ".join(own_stems(words, language))
            self._holders.met_one = True
        return Point(point_id, {}, payload)


class _Holders:
    """Which indexes hold texts in another language than English: the others are not searched for such, which would take half as long again.

    Attributes:
        met_one: such a text was written by this process, somewhere.
    """

    def __init__(self) -> None:
        self.met_one = False
        self._holding: set[str] = set()
        #: How many writes there had been when an index was found to hold none.
        self._lacking: dict[str, int] = {}
        self._writes = 0

    def holds(self, found: OpenIndex) -> bool:
        """Whether the index holds one now."""
        if not found.settings.get(_OWN_STEMS):
            return False  # an earlier version made it, without the field
        if found.name in self._holding:
            return True
        writes = self._writes
        if self._lacking.get(found.name) == writes:
            return False
        there, _ = found.shard.scroll(limit=1, matching=Filter(must_not=[IsEmptyCondition(_OWN_STEMS)]))
        if there:
            self._holding.add(found.name)
        else:
            self._lacking[found.name] = writes
        return bool(there)

    def note_write(self) -> None:
        """Something was written, so an index that held none may hold one now."""
        if self.met_one:
            self._writes += 1

    def forget(self, index: str) -> None:
        """The index is gone, or another one has its name."""
        self._holding.discard(index)
        self._lacking.pop(index, None)


def _best_of(rankings: Sequence[list[tuple[UUID, float]]], most: int) -> list[tuple[UUID, float]]:
    """The best points by the higher one of their scores.

    A point that one ranking has and another one lacks is worse in that one than all that it has, so its score there cannot matter.
    """
    filled = [ranking for ranking in rankings if ranking]
    if len(filled) < 2:
        return filled[0] if filled else []
    scores: dict[UUID, float] = {}
    for ranking in filled:
        for point_id, score in ranking:
            scores[point_id] = max(score, scores.get(point_id, 0.0))
    return sorted(scores.items(), key=lambda scored: -scored[1])[:most]


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
    stems = TextIndexParams(
        tokenizer=TokenizerType.Whitespace, max_token_len=MAX_WORD_CHARACTERS, stopwords=StopwordsSet(custom=set()), scoring=True
    )
    return Shard.create(folder, None, {**SHARED_INDEXES, _TERMS: words, _OWN_STEMS: stems})
