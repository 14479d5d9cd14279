"""Vectors in a Qdrant server: one collection for each index, one dense vector for each chunk."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from functools import partial
from typing import Final

from qdrant_client import QdrantClient, models

from docmill.adapters.chunk_payload import PLACE_FIELDS, RECORD_FIELDS, record_of
from docmill.adapters.generation_scan import generations_on_page
from docmill.adapters.qdrant.calling import Caller
from docmill.adapters.qdrant.collections import IndexInfo, create_index, drop_index, read_index, read_index_names
from docmill.adapters.qdrant.filters import generation_filter, is_exact, server_filter
from docmill.adapters.qdrant.identity import IdentityRecord
from docmill.adapters.qdrant.points import batches, checked_numbers, checked_vector, point_of, upsert
from docmill.adapters.qdrant.reading import IDS_AT_ONCE, PointReader
from docmill.domain.chunk_filters import matches_filter
from docmill.domain.chunks import ChunkFilter, ChunkRecord, ScoredChunk, StoredGeneration, Vector, point_id_of
from docmill.domain.errors import StoreDown, StoreRejected
from docmill.domain.knowledge_bases import Similarity

_PLACES_AT_ONCE: Final = 1_000
_RECORDS_AT_ONCE: Final = 256
#: How many candidates a filter that the server cannot apply exactly may look through.
_MOST_CANDIDATES: Final = 10_000
_CANDIDATES_AT_ONCE: Final = 1_000
_DELETES: Final = 3
_ATTEMPTS: Final = 6
_QUERY_ATTEMPTS: Final = 3


class QdrantVectorStore:
    """A ``VectorStore``. With cosine similarity vectors are kept at length 1, and ``vectors_of`` gives them so."""

    def __init__(
        self,
        client: QdrantClient,
        place: str,
        *,
        budget_seconds: float = 60.0,
        query_budget_seconds: float = 10.0,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Use ``connect_qdrant``. Calls nothing yet.

        Args:
            client: has a time-out for every call; closed by ``close``.
            place: ``HOST:PORT``, for messages.
            budget_seconds: how long after its beginning a call may be tried again.
            query_budget_seconds: the same for a search, for which somebody waits.
            sleep: waits between attempts.
        """
        self._client = client
        self._place = place
        self._caller = Caller(place, attempts=_ATTEMPTS, budget_seconds=budget_seconds, sleep=sleep)
        self._query_caller = Caller(place, attempts=_QUERY_ATTEMPTS, budget_seconds=query_budget_seconds, sleep=sleep)
        self._reader = PointReader(client, self._caller, self._query_caller)
        self._record = IdentityRecord(client, self._caller)
        #: What indexes were made with. It never changes while an index exists; one that failed is read again.
        self._known: dict[str, IndexInfo] = {}

    def close(self) -> None:
        """Ends the connections."""
        self._client.close()

    def server(self) -> models.VersionInfo:
        """What answers, once it has let us in.

        Raises:
            StoreDown: nothing answers, it is no Qdrant, or it refuses the key.
        """
        found = self._query_caller.call(self._client.info)
        self._query_caller.call(self._client.get_collections)  # the version is told to everybody
        return found

    def describe(self) -> str:
        """What answers where; raises as ``server`` does."""
        return f"Qdrant {self.server().version} at {self._place} answers"

    def identity(self) -> str:
        """See the port."""
        return self._record.identity()

    def epoch(self) -> int:
        """See the port."""
        return self._record.epoch()

    def raise_epoch(self, epoch: int) -> None:
        """See the port."""
        self._record.raise_epoch(epoch)

    def indexes(self) -> list[str]:
        """See the port."""
        return read_index_names(self._client, self._caller)

    def create(self, index: str, strategy: str, dimensions: int, similarity: Similarity) -> None:
        """See the port. Another similarity raises ``WrongDimension`` too."""
        wanted = IndexInfo(index, strategy, dimensions, similarity)
        create_index(self._client, self._caller, wanted)
        self._known[index] = wanted

    def drop(self, index: str) -> None:
        """See the port."""
        self._known.pop(index, None)
        drop_index(self._client, self._caller, index)

    def write(self, index: str, records: Sequence[ChunkRecord]) -> None:
        """See the port."""
        with self._index(index) as found:
            for record in records:
                checked_vector(record, index, found.dimensions)
            points = (
                point_of(record, found.strategy, found.vector_name, checked_vector(record, index, found.dimensions)) for record in records
            )
            for batch in batches(points, found.dimensions):
                self._caller.call_in_parts(batch, partial(upsert, self._client, found.collection), index)

    def refresh(self, index: str) -> None:
        """The server shows a write before it acknowledges it: only the index itself is looked for."""
        with self._index(index):
            self._known[index] = read_index(self._client, self._caller, index)

    def delete(self, index: str, document_id: str, generation: int, count: int) -> None:
        """See the port. What was removed is looked for afterwards.

        Raises:
            StoreDown: chunks are still there.
        """
        with self._index(index) as found:
            for begin in range(0, count, IDS_AT_ONCE):
                places = range(begin, min(count, begin + IDS_AT_ONCE))
                left: Sequence[str] = [point_id_of(document_id, generation, found.strategy, place) for place in places]
                for _ in range(_DELETES):
                    self._caller.call_in_parts(left, partial(self._delete_ids, found), index)
                    left = sorted(self._reader.present(found, left))
                    if not left:
                        break
                else:
                    raise StoreDown(f"Qdrant at {self._place} still has {len(left)} deleted chunks of {document_id!r} in index {index!r}")

    def delete_generation(self, index: str, document_id: str, generation: int) -> None:
        """See the port. What was removed is looked for afterwards, as ``delete`` does."""
        chosen = generation_filter(document_id, generation)
        selector = models.FilterSelector(filter=chosen)
        with self._index(index) as found:
            for _ in range(_DELETES):
                self._caller.call(lambda: self._client.delete(found.collection, selector, wait=True), index)
                left = self._caller.call(lambda: self._client.count(found.collection, chosen, exact=True), index).count
                if not left:
                    return
            raise StoreDown(f"Qdrant at {self._place} still has {left} deleted chunks of {document_id!r} in index {index!r}")

    def chunks_of(self, index: str, document_id: str, generation: int) -> list[ChunkRecord]:
        """See the port."""
        with self._index(index) as found:
            pages = self._reader.pages(found, generation_filter(document_id, generation), RECORD_FIELDS, _RECORDS_AT_ONCE)
            return sorted((record_of(point.payload or {}) for page in pages for point in page), key=lambda record: record.index)

    def generations(self, index: str) -> Iterator[StoredGeneration]:
        """See the port. Chunks come by id, that is in no order: see ``generations_on_page``."""
        with self._index(index) as found:
            for page in self._reader.pages(found, None, PLACE_FIELDS, _PLACES_AT_ONCE):
                yield from generations_on_page(
                    [point.payload or {} for point in page], found.strategy, partial(self._reader.present, found)
                )

    def count(self, index: str) -> int:
        """See the port."""
        with self._index(index) as found:
            return self._caller.call(lambda: self._client.count(found.collection, exact=True), index).count

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
        """See the port. A Euclidean distance ``d`` is the score ``1 / (1 + d)``.

        Where the server's filter lets more through than ``chunk_filter`` does, more candidates are asked for until enough of them pass or
        none is left, ``_MOST_CANDIDATES`` at most.
        """
        exact = is_exact(chunk_filter)
        passing = server_filter(chunk_filter, without_generations)
        chosen: dict[models.ExtendedPointId, ScoredChunk] = {}
        with self._index(index) as found:
            numbers = checked_numbers(vector, index, found.dimensions, "the query")
            seen, asked = 0, min(limit if exact else 2 * limit, _CANDIDATES_AT_ONCE)
            while len(chosen) < limit and seen < _MOST_CANDIDATES:
                ranked, asked = self._reader.ranked(found, numbers, passing, offset=seen, limit=asked)
                above = [(point, score) for point, score in ranked if score >= threshold]
                for point, score in above:
                    record = record_of(point.payload or {})
                    if exact or matches_filter(chunk_filter, record):
                        chosen[point.id] = ScoredChunk(record, score)
                if len(above) < asked:
                    break
                seen, asked = seen + len(ranked), min(asked * 4, _CANDIDATES_AT_ONCE)
        ordered = sorted(chosen.values(), key=lambda chunk: (-chunk.score, chunk.record.document_id, chunk.record.index))
        return ordered[: max(0, limit)]

    def vectors_of(self, index: str, text_hashes: Sequence[str]) -> Mapping[str, Vector]:
        """See the port."""
        with self._index(index) as found:
            return self._reader.vectors_of(found, text_hashes)

    def indexed_texts_of(self, index: str, text_hashes: Sequence[str]) -> Mapping[str, str]:
        """See the port."""
        with self._index(index) as found:
            return self._reader.indexed_texts_of(found, text_hashes)

    @contextmanager
    def _index(self, name: str) -> Iterator[IndexInfo]:
        """What the index was made with; forgotten when it turns out not to be so."""
        try:
            if name not in self._known:
                self._known[name] = read_index(self._client, self._caller, name)
            yield self._known[name]
        except StoreRejected:
            self._known.pop(name, None)
            raise

    def _delete_ids(self, found: IndexInfo, ids: Sequence[str]) -> None:
        self._client.delete(found.collection, models.PointIdsList(points=[*ids]), wait=True)
