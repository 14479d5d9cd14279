"""What the embedded vector store and the embedded lexical store share: everything of ``ChunkStore`` but what a point holds."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from pathlib import Path
from typing import Final
from uuid import UUID

from qdrant_edge import Filter, IntegerIndexParams, KeywordIndexParams, Point

from docmill.adapters.chunk_payload import PLACE_FIELDS, record_of
from docmill.adapters.embedded.edge_filters import engine_filter, generation_filter, is_exact
from docmill.adapters.embedded.edge_shard import FieldIndex
from docmill.adapters.embedded.record_cache import RecordCache
from docmill.adapters.embedded.shards import OpenIndex, ShardFolder
from docmill.adapters.generation_scan import generations_on_page
from docmill.domain.chunk_filters import matches_filter
from docmill.domain.chunks import ChunkFilter, ChunkRecord, ScoredChunk, StoredGeneration, point_id_of

#: Bounds of one call of the engine, which holds the interpreter's lock: at most about 25 ms at 0.1 ms a chunk.
MAX_POINTS: Final = 200
MAX_CHARACTERS: Final = 400_000
_IDS_AT_ONCE: Final = 1_000
#: How many candidates a filter that the engine cannot apply exactly may look through.
_MOST_CANDIDATES: Final = 10_000

#: The field indexes of every shard.
SHARED_INDEXES: Final[dict[str, FieldIndex]] = {
    "doc": KeywordIndexParams(prefix=True),
    "gen": IntegerIndexParams(lookup=True, range=False),
    "facts": KeywordIndexParams(),
}

#: Gives the ids and scores of at most so many points that pass a filter, best first.
Ranking = Callable[[Filter | None, int], list[tuple[UUID, float]]]


class EdgeChunkStore(ABC):
    """One shard for each index, in one folder."""

    def __init__(self, folder: Path) -> None:
        """Opens the store in ``folder``, for this process alone; ``close`` lets go of it. Open it after forking, never before.

        Raises:
            DataFolderInUse: it is open already, here or in another process.
        """
        self._shards = ShardFolder(folder)
        self._records = RecordCache()

    def close(self) -> None:
        """Writes everything to its place; afterwards every call raises."""
        self._shards.close()

    def identity(self) -> str:
        """See the port."""
        return self._shards.identity

    def epoch(self) -> int:
        """See the port."""
        return self._shards.epoch

    def raise_epoch(self, epoch: int) -> None:
        """See the port."""
        self._shards.raise_epoch(epoch)

    def indexes(self) -> list[str]:
        """See the port."""
        return self._shards.names()

    def drop(self, index: str) -> None:
        """See the port."""
        self._shards.drop(index)
        self._records.clear()

    def write(self, index: str, records: Sequence[ChunkRecord]) -> None:
        """See the port."""
        found = self._shards.index(index)
        self._check(found, records)
        for batch in batches(records):
            ids = [point_id_of(r.document_id, r.generation, found.strategy, r.index) for r in batch]
            found.shard.upsert(list(map(self._point, ids, batch)))
            self._records.forget(found.shard, ids)

    def refresh(self, index: str) -> None:
        """Nothing is to be done: the engine shows a write at once."""
        self._shards.index(index)

    def delete(self, index: str, document_id: str, generation: int, count: int) -> None:
        """See the port."""
        found = self._shards.index(index)
        for begin in range(0, count, _IDS_AT_ONCE):
            places = range(begin, min(count, begin + _IDS_AT_ONCE))
            found.shard.delete([point_id_of(document_id, generation, found.strategy, place) for place in places])

    def delete_generation(self, index: str, document_id: str, generation: int) -> None:
        """See the port."""
        found = self._shards.index(index)
        chosen = generation_filter(document_id, generation)
        while points := found.shard.scroll(limit=_IDS_AT_ONCE, matching=chosen)[0]:
            found.shard.delete([str(point.id) for point in points])

    def chunks_of(self, index: str, document_id: str, generation: int) -> list[ChunkRecord]:
        """See the port."""
        found = self._shards.index(index)
        chosen = generation_filter(document_id, generation)
        records: list[ChunkRecord] = []
        offset = None
        while True:
            page, offset = found.shard.scroll(limit=MAX_POINTS, matching=chosen, payload=True, offset=offset)
            records += [record_of(point.payload or {}) for point in page]
            if offset is None:
                return sorted(records, key=lambda record: record.index)

    def generations(self, index: str) -> Iterator[StoredGeneration]:
        """See the port.

        The scan is by id, so a generation's chunks come in any order. It is reported with the first of its chunks that is there, and its
        chunks are counted by their ids: the memory is one page, whatever the index holds.
        """
        found = self._shards.index(index)
        offset = None
        while True:
            page, offset = found.shard.scroll(limit=MAX_POINTS, payload=PLACE_FIELDS, offset=offset)
            yield from generations_on_page([point.payload or {} for point in page], found.strategy, partial(_present, found))
            if offset is None:
                return

    def count(self, index: str) -> int:
        """See the port."""
        return self._shards.index(index).shard.count()

    def _found(
        self,
        found: OpenIndex,
        ranking: Ranking,
        limit: int,
        threshold: float,
        chunk_filter: ChunkFilter,
        without_generations: AbstractSet[int],
    ) -> list[ScoredChunk]:
        """The best chunks that pass everything.

        Where the engine's filter lets more through than ``chunk_filter`` does, more candidates are asked for until enough of them pass or
        none is left, ``_MOST_CANDIDATES`` at most.
        """
        if limit <= 0:
            return []
        passing = engine_filter(chunk_filter, without_generations)
        exact = is_exact(chunk_filter)
        asked = limit if exact else 2 * limit
        chosen: list[ScoredChunk] = []
        seen = 0
        while True:
            ranked = ranking(passing, asked)
            above = [(point_id, score) for point_id, score in ranked[seen:] if score >= threshold]
            records = self._records.records_of(found.shard, [point_id for point_id, _ in above])
            for (_, score), record in zip(above, records, strict=True):
                if record is not None and (exact or matches_filter(chunk_filter, record)):
                    chosen.append(ScoredChunk(record, score))
            exhausted = len(ranked) < asked or len(above) < len(ranked) - seen
            if len(chosen) >= limit or exhausted or asked >= _MOST_CANDIDATES:
                break
            seen, asked = len(ranked), min(asked * 4, _MOST_CANDIDATES)
        return sorted(chosen, key=lambda chunk: (-chunk.score, chunk.record.document_id, chunk.record.index))[:limit]

    @abstractmethod
    def _check(self, found: OpenIndex, records: Sequence[ChunkRecord]) -> None:
        """Raises if the index cannot take one of ``records``."""

    @abstractmethod
    def _point(self, point_id: str, record: ChunkRecord) -> Point:
        """The engine's form of ``record``."""


def batches(records: Sequence[ChunkRecord]) -> Iterator[Sequence[ChunkRecord]]:
    """Parts of ``records`` of at most ``MAX_POINTS`` chunks and about ``MAX_CHARACTERS`` characters."""
    begin = characters = 0
    for place, record in enumerate(records):
        if place > begin and (place - begin == MAX_POINTS or characters + len(record.indexed_text) > MAX_CHARACTERS):
            yield records[begin:place]
            begin, characters = place, 0
        characters += len(record.indexed_text)
    if begin < len(records):
        yield records[begin:]


def _present(found: OpenIndex, ids: Sequence[str]) -> set[str]:
    """Those of ``ids`` that the shard holds."""
    parts = (ids[begin : begin + _IDS_AT_ONCE] for begin in range(0, len(ids), _IDS_AT_ONCE))
    return {str(point.id) for part in parts for point in found.shard.retrieve(part, payload=False)}
