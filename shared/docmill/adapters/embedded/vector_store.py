"""Vectors in the Qdrant engine, in process: exact search over one dense vector for each chunk."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from pathlib import Path
from typing import Final, cast
from uuid import UUID

from qdrant_edge import Distance, EdgeVectorParams, FieldCondition, Filter, KeywordIndexParams, MatchAny, Point, Query, QueryRequest, Record

from docmill.adapters.chunk_payload import RECORD_FIELDS, payload_of, record_of
from docmill.adapters.embedded.edge_shard import Shard, scored_ids
from docmill.adapters.embedded.edge_store import MAX_POINTS, SHARED_INDEXES, EdgeChunkStore
from docmill.adapters.embedded.known_texts import KnownTexts
from docmill.adapters.embedded.shards import OpenIndex
from docmill.domain.chunks import ChunkFilter, ChunkRecord, ScoredChunk, Vector
from docmill.domain.errors import StoreRejected, WrongDimension
from docmill.domain.knowledge_bases import Similarity

_DISTANCES: Final = {
    Similarity.COSINE: Distance.Cosine,
    Similarity.DOT_PRODUCT: Distance.Dot,
    Similarity.EUCLIDEAN: Distance.Euclid,
}


class EmbeddedVectorStore(EdgeChunkStore):
    """A ``VectorStore``. With cosine similarity vectors are kept at length 1, and ``vectors_of`` gives them so."""

    def __init__(self, folder: Path) -> None:
        """See ``EdgeChunkStore``."""
        super().__init__(folder)
        #: Of indexes made by this process; the others may hold any text.
        self._known_texts: dict[str, KnownTexts] = {}

    def create(self, index: str, strategy: str, dimensions: int, similarity: Similarity) -> None:
        """See the port."""
        settings = {"strategy": strategy, "dimensions": dimensions, "similarity": similarity.value}
        if index not in self._shards.names():
            self._known_texts.setdefault(index, KnownTexts())
        found = self._shards.create(index, settings, partial(_make_shard, dimensions=dimensions, similarity=similarity))
        if found.settings.get("dimensions") != dimensions:
            raise WrongDimension(
                f"index {index!r} has {found.settings.get('dimensions')} dimensions, not the {dimensions} that its configuration says; "
                "use another --data-dir, or remove this one to index everything again"
            )

    def write(self, index: str, records: Sequence[ChunkRecord]) -> None:
        """See the port."""
        known = self._known_texts.get(index)
        if known is not None:
            known.add(record.text_hash for record in records)
        super().write(index, records)

    def drop(self, index: str) -> None:
        """See the port."""
        super().drop(index)
        self._known_texts.pop(index, None)

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
        """See the port. A Euclidean distance ``d`` is the score ``1 / (1 + d)``."""
        found = self._shards.index(index)
        _check_length(found, len(vector))
        query = Query.Nearest(_floats(vector))
        euclidean = found.settings["similarity"] == Similarity.EUCLIDEAN

        def ranking(passing: Filter | None, most: int) -> list[tuple[UUID, float]]:
            ranked = scored_ids(found.shard.query(QueryRequest(limit=most, query=query, filter=passing)))
            return [(point_id, 1.0 / (1.0 + distance)) for point_id, distance in ranked] if euclidean else ranked

        return self._found(found, ranking, limit, threshold, chunk_filter, without_generations)

    def vectors_of(self, index: str, text_hashes: Sequence[str]) -> Mapping[str, Vector]:
        """See the port."""
        holders = self._holders(index, text_hashes, ["hash"], vector=True)
        return {text_hash: cast("list[float]", point.vector) for text_hash, point in holders.items()}

    def indexed_texts_of(self, index: str, text_hashes: Sequence[str]) -> Mapping[str, str]:
        """See the port."""
        holders = self._holders(index, text_hashes, ["hash", *RECORD_FIELDS], vector=False)
        return {text_hash: record_of(point.payload or {}).indexed_text for text_hash, point in holders.items()}

    def _holders(self, index: str, text_hashes: Sequence[str], payload: list[str], *, vector: bool) -> dict[str, Record]:
        """For each of these texts that is there, by its hash, one point that has it."""
        shard = self._shards.index(index).shard
        holders: dict[str, Record] = {}
        known = self._known_texts.get(index)
        wanted = list(dict.fromkeys(text_hashes)) if known is None else known.possible(text_hashes)
        for begin in range(0, len(wanted), MAX_POINTS):
            missing = wanted[begin : begin + MAX_POINTS]
            while missing:
                # Points of several generations may share a text, so a full page may leave out some of the wanted ones.
                limit = 2 * len(missing)
                with_one = Filter(must=[FieldCondition("hash", match=MatchAny(missing))])
                page, _ = shard.scroll(limit=limit, matching=with_one, payload=payload, vector=vector)
                for point in page:
                    if point.payload is not None:
                        holders[point.payload["hash"]] = point
                missing = [text_hash for text_hash in missing if text_hash not in holders] if len(page) == limit else []
        return holders

    def _check(self, found: OpenIndex, records: Sequence[ChunkRecord]) -> None:
        for record in records:
            if record.vector is None:
                raise StoreRejected(f"{record.chunk_id} has no vector")
            _check_length(found, len(record.vector))

    def _point(self, point_id: str, record: ChunkRecord) -> Point:
        payload = payload_of(record)
        payload["hash"] = record.text_hash
        return Point(point_id, _floats(record.vector or ()), payload)


def _make_shard(folder: Path, dimensions: int, similarity: Similarity) -> Shard:
    indexes = {**SHARED_INDEXES, "hash": KeywordIndexParams()}
    return Shard.create(folder, EdgeVectorParams(size=dimensions, distance=_DISTANCES[similarity]), indexes)


def _check_length(found: OpenIndex, length: int) -> None:
    if length != found.settings["dimensions"]:
        raise WrongDimension(f"index {found.name!r} has {found.settings['dimensions']} dimensions, a vector of {length} was given")


def _floats(vector: Vector) -> list[float]:
    """A plain list, which the engine takes quickest; arrays give theirs by ``tolist``."""
    if isinstance(vector, list):
        return vector
    to_list = getattr(vector, "tolist", None)
    return to_list() if to_list is not None else list(vector)
