"""The stores' twins: chunks in dictionaries, exact similarity by numpy, BM25 by its formula."""

import math
import secrets
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from functools import lru_cache
from threading import RLock
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from docmill.adapters.embedded.own_stems import own_layers, own_stems
from docmill.adapters.embedded.query_words import query_layers, query_stems, stems_of
from docmill.adapters.embedded.words import words_of
from docmill.adapters.stem_languages import stem_language
from docmill.domain.chunk_filters import matches_filter
from docmill.domain.chunks import ChunkFilter, ChunkRecord, ScoredChunk, StoredGeneration, Vector, point_id_of
from docmill.domain.errors import StoreRejected, WrongDimension
from docmill.domain.knowledge_bases import Similarity

_Points = dict[str, ChunkRecord]
#: The number of an English stem, or the text that stands for one of another language.
_Stem = TypeVar("_Stem", int, str)


@dataclass(slots=True)
class _Index:
    """One index: what was written (``points``) and what searches and scans see (``visible``); one object while nothing waits."""

    strategy: str
    dimensions: int = 0
    similarity: Similarity = Similarity.COSINE
    points: _Points = field(default_factory=dict)
    visible: _Points = field(default_factory=dict)


class _MemoryChunkStore:
    """What both twins share. ``deepcopy``, ``snapshot`` and ``restore`` take and set the whole state."""

    def __init__(self, *, refresh_needed: bool = False) -> None:
        """Makes an empty store.

        Args:
            refresh_needed: searches and scans see a write only after ``refresh``, as with Elasticsearch.
        """
        self._refresh_needed = refresh_needed
        self._identity = secrets.token_hex(16)
        self._epoch = 0
        self._indexes: dict[str, _Index] = {}
        self._lock = RLock()

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        self._lock = RLock()

    def snapshot(self) -> object:
        """The whole state, to be given to ``restore``."""
        with self._lock:
            return self._identity, self._epoch, self._copy_of_indexes(self._indexes)

    def restore(self, snapshot: object) -> None:
        """Makes the state what it was at ``snapshot``; the same snapshot can be restored many times."""
        assert isinstance(snapshot, tuple)
        with self._lock:
            self._identity, self._epoch, indexes = snapshot
            self._indexes = self._copy_of_indexes(indexes)

    def identity(self) -> str:
        return self._identity

    def epoch(self) -> int:
        return self._epoch

    def raise_epoch(self, epoch: int) -> None:
        with self._lock:
            self._epoch = max(self._epoch, epoch)

    def indexes(self) -> list[str]:
        with self._lock:
            return sorted(self._indexes)

    def drop(self, index: str) -> None:
        with self._lock:
            self._indexes.pop(index, None)

    def write(self, index: str, records: Sequence[ChunkRecord]) -> None:
        with self._lock:
            found = self._index(index)
            for record in records:
                self._check(index, found, record)
            self._change(found, {point_id_of(r.document_id, r.generation, found.strategy, r.index): self._kept(r) for r in records}, ())

    def refresh(self, index: str) -> None:
        with self._lock:
            found = self._index(index)
            found.visible = found.points

    def delete(self, index: str, document_id: str, generation: int, count: int) -> None:
        with self._lock:
            found = self._index(index)
            self._change(found, {}, [point_id_of(document_id, generation, found.strategy, place) for place in range(count)])

    def delete_generation(self, index: str, document_id: str, generation: int) -> None:
        with self._lock:
            found = self._index(index)
            gone = [key for key, r in found.visible.items() if r.document_id == document_id and r.generation == generation]
            self._change(found, {}, gone)

    def chunks_of(self, index: str, document_id: str, generation: int) -> list[ChunkRecord]:
        found = [r for r in self._seen(index) if r.document_id == document_id and r.generation == generation]
        return [replace(record, vector=None) for record in sorted(found, key=lambda record: record.index)]

    def generations(self, index: str) -> Iterator[StoredGeneration]:
        groups: dict[tuple[str, int], list[ChunkRecord]] = defaultdict(list)
        for record in self._seen(index):
            groups[record.document_id, record.generation].append(record)
        for (document_id, generation), records in groups.items():
            yield StoredGeneration(document_id, generation, records[0].fingerprint, records[0].count, len(records))

    def count(self, index: str) -> int:
        return len(self._seen(index))

    def _create(self, index: str, made: _Index) -> _Index:
        with self._lock:
            return self._indexes.setdefault(index, made)

    def _index(self, index: str) -> _Index:
        found = self._indexes.get(index)
        if found is None:
            raise StoreRejected(f"index {index!r} does not exist")
        return found

    def _seen(self, index: str) -> list[ChunkRecord]:
        with self._lock:
            return list(self._index(index).visible.values())

    def _change(self, found: _Index, written: Mapping[str, ChunkRecord], deleted: Iterable[str]) -> None:
        """Applies a change; snapshots share dictionaries with the state, so every change makes a new one."""
        points = {**found.points, **written}
        for key in deleted:
            points.pop(key, None)
        found.points = points
        if not self._refresh_needed:
            found.visible = points

    def _check(self, index: str, found: _Index, record: ChunkRecord) -> None:
        """Raises if the index does not take ``record``."""

    def _kept(self, record: ChunkRecord) -> ChunkRecord:
        """What is stored of ``record``."""
        return replace(record, vector=None)

    @staticmethod
    def _copy_of_indexes(indexes: Mapping[str, _Index]) -> dict[str, _Index]:
        return {name: replace(found) for name, found in indexes.items()}


class MemoryVectorStore(_MemoryChunkStore):
    """The twin of a vector store."""

    def create(self, index: str, strategy: str, dimensions: int, similarity: Similarity) -> None:
        """See the port."""
        found = self._create(index, _Index(strategy, dimensions, similarity))
        if found.dimensions != dimensions:
            raise WrongDimension(f"index {index!r} has {found.dimensions} dimensions, not {dimensions}")

    def search(
        self,
        index: str,
        vector: Vector,
        limit: int,
        *,
        threshold: float,
        chunk_filter: ChunkFilter,
        without_generations: AbstractSet[int] = frozenset(),
    ) -> list[ScoredChunk]:
        """See the port."""
        with self._lock:
            found = self._index(index)
            _check_dimensions(index, found.dimensions, vector)
            records = _accepted(found.visible.values(), chunk_filter, without_generations)
        scores = _similarities(found.similarity, np.asarray(vector, dtype=np.float64), records)
        return _best(zip(records, scores, strict=True), limit, threshold)

    def vectors_of(self, index: str, text_hashes: Sequence[str]) -> Mapping[str, Vector]:
        """See the port."""
        wanted = set(text_hashes)
        return {r.text_hash: r.vector for r in self._seen(index) if r.text_hash in wanted and r.vector is not None}

    def indexed_texts_of(self, index: str, text_hashes: Sequence[str]) -> Mapping[str, str]:
        """See the port."""
        wanted = set(text_hashes)
        return {record.text_hash: record.indexed_text for record in self._seen(index) if record.text_hash in wanted}

    def _check(self, index: str, found: _Index, record: ChunkRecord) -> None:
        if record.vector is None:
            raise StoreRejected(f"{record.chunk_id} has no vector")
        _check_dimensions(index, found.dimensions, record.vector)

    def _kept(self, record: ChunkRecord) -> ChunkRecord:
        return replace(record, vector=tuple(map(float, record.vector or ())))


class MemoryLexicalStore(_MemoryChunkStore):
    """The twin of a lexical store."""

    def create(self, index: str, strategy: str, *, k1: float, b: float) -> None:
        """See the port."""
        self._create(index, _Index(strategy))

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
        everything = self._seen(index)
        in_english = _bm25(query_stems(query), {id(record): _stem_counts(record.indexed_text) for record in everything}, k1, b)
        own_texts = {id(record): own for record in everything if (own := _own_stem_counts(record.indexed_text, record.language))}
        in_own_language = _bm25(_own_query_stems(query), own_texts, k1, b)
        scored = [
            (record, max(score for scores in (in_english, in_own_language) if (score := scores.get(id(record))) is not None))
            for record in _accepted(everything, chunk_filter, without_generations)
            if id(record) in in_english or id(record) in in_own_language
        ]
        return _best(scored, limit, threshold)


def _bm25(stems: Mapping[_Stem, int], texts: Mapping[int, Counter[_Stem]], k1: float, b: float) -> dict[int, float]:
    """The score of each text that has one of ``stems``, each of which counts as often as the query names it."""
    holders = Counter(stem for text in texts.values() for stem in stems.keys() & text.keys())
    mean_length = sum(text.total() for text in texts.values()) / (len(texts) or 1)
    scores = {}
    for key, text in texts.items():
        if common := stems.keys() & text.keys():
            norm = k1 * (1 - b + b * text.total() / mean_length)
            terms = ((stems[stem], _idf(len(texts), holders[stem]), text[stem]) for stem in common)
            scores[key] = sum(times * idf * n * (k1 + 1) / (n + norm) for times, idf, n in terms)
    return scores


@lru_cache(maxsize=4_096)
def _stem_counts(text: str) -> Counter[int]:
    return Counter(stems_of(text))


@lru_cache(maxsize=4_096)
def _own_stem_counts(text: str, declared: str | None) -> Counter[str]:
    words = words_of(text)
    language = stem_language(words, declared)
    return Counter() if language is None else Counter(own_stems(words, language))


def _own_query_stems(query: str) -> dict[str, int]:
    """How often each stem of the query counts, in all languages that it may be in."""
    return {stem: layer for layer, text in enumerate(own_layers(query, query_layers(query)), 1) for stem in text.split()}


def _idf(documents: int, holders: int) -> float:
    """Lucene's inverse document frequency, which is never negative."""
    return math.log(1 + (documents - holders + 0.5) / (holders + 0.5))


def _similarities(similarity: Similarity, query: NDArray[np.float64], records: Sequence[ChunkRecord]) -> list[float]:
    """The similarity of ``query`` to each record's vector, higher is better; a Euclidean distance d becomes 1 / (1 + d)."""
    if not records:
        return []
    rows = np.array([record.vector for record in records], dtype=np.float64)
    if similarity is Similarity.EUCLIDEAN:
        scores = 1.0 / (1.0 + np.linalg.norm(rows - query, axis=1))
    elif similarity is Similarity.DOT_PRODUCT:
        scores = rows @ query
    else:
        lengths = np.linalg.norm(rows, axis=1) * np.linalg.norm(query)
        scores = np.divide(rows @ query, lengths, out=np.zeros(len(rows)), where=lengths > 0)
    return [float(score) for score in scores]


def _accepted(records: Iterable[ChunkRecord], chunk_filter: ChunkFilter, without_generations: AbstractSet[int]) -> list[ChunkRecord]:
    return [r for r in records if r.generation not in without_generations and matches_filter(chunk_filter, r)]


def _best(scored: Iterable[tuple[ChunkRecord, float]], limit: int, threshold: float) -> list[ScoredChunk]:
    kept = [ScoredChunk(replace(record, vector=None), score) for record, score in scored if score >= threshold]
    return sorted(kept, key=lambda found: (-found.score, found.record.document_id, found.record.index))[:limit]


def _check_dimensions(index: str, dimensions: int, vector: Vector) -> None:
    if len(vector) != dimensions:
        raise WrongDimension(f"index {index!r} has {dimensions} dimensions, a vector of {len(vector)} was given")
