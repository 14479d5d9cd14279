"""Points read from a collection: by pages, by ids, by texts and by nearness, never more at once than fits."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Final, cast

from qdrant_client import QdrantClient, models

from docmill.adapters.chunk_payload import RECORD_FIELDS, record_of
from docmill.adapters.qdrant.calling import Caller
from docmill.adapters.qdrant.collections import IndexInfo
from docmill.adapters.qdrant.filters import text_filter
from docmill.domain.chunks import Vector
from docmill.domain.knowledge_bases import Similarity

#: Of ids in one request.
IDS_AT_ONCE: Final = 1_000
_HASHES_AT_ONCE: Final = 256
#: Of vectors in one answer, at about 20 bytes a number.
_VECTOR_BYTES: Final = 4 * 2**20
_BYTES_PER_FLOAT: Final = 20


class PointReader:
    """Reads points; every method raises what ``Caller.call`` does."""

    def __init__(self, client: QdrantClient, caller: Caller, query_caller: Caller) -> None:
        self._client = client
        self._caller = caller
        self._query_caller = query_caller

    def pages(self, found: IndexInfo, matching: models.Filter | None, payload: list[str], limit: int) -> Iterator[list[models.Record]]:
        """All points that match, by id, with these fields of their payloads."""
        offset: models.ExtendedPointId | None = None
        while True:
            (page, offset), limit = self._page(found, matching, payload, limit, offset)
            yield page
            if offset is None:
                return

    def present(self, found: IndexInfo, ids: Sequence[str]) -> set[str]:
        """Those of ``ids`` that the server holds."""
        present: set[str] = set()
        for begin in range(0, len(ids), IDS_AT_ONCE):
            parts = self._caller.call_in_parts(
                ids[begin : begin + IDS_AT_ONCE], partial(self._retrieve, found, payload=False, with_vectors=False), found.name
            )
            present.update(str(point.id) for part in parts for point in part)
        return present

    def vectors_of(self, found: IndexInfo, text_hashes: Sequence[str]) -> Mapping[str, Vector]:
        """One vector for each of these texts that is there."""
        at_once = max(1, min(_HASHES_AT_ONCE, _VECTOR_BYTES // (_BYTES_PER_FLOAT * found.dimensions)))
        vectors: dict[str, Vector] = {}
        for text_hash, point in self._holding(found, text_hashes, at_once, payload=False, with_vectors=True):
            named = cast("dict[str, list[float]]", point.vector or {})
            if found.vector_name in named:
                vectors[text_hash] = named[found.vector_name]
        return vectors

    def indexed_texts_of(self, found: IndexInfo, text_hashes: Sequence[str]) -> Mapping[str, str]:
        """The indexed text of each of these texts that is there."""
        holding = self._holding(found, text_hashes, _HASHES_AT_ONCE, payload=RECORD_FIELDS, with_vectors=False)
        return {text_hash: record_of(point.payload or {}).indexed_text for text_hash, point in holding}

    def _holding(
        self, found: IndexInfo, text_hashes: Sequence[str], at_once: int, *, payload: bool | list[str], with_vectors: bool
    ) -> Iterator[tuple[str, models.Record]]:
        """For each of these texts that is there its hash, and one point that has it; ``at_once`` bounds the points of one answer."""
        distinct = list(dict.fromkeys(text_hashes))
        for begin in range(0, len(distinct), _HASHES_AT_ONCE):
            holders = self._holders(found, distinct[begin : begin + _HASHES_AT_ONCE])
            ids = list(holders)
            for first in range(0, len(ids), at_once):
                retrieve = partial(self._retrieve, found, payload=payload, with_vectors=with_vectors)
                for part in self._caller.call_in_parts(ids[first : first + at_once], retrieve, found.name):
                    yield from ((holders[str(point.id)], point) for point in part)

    def ranked(
        self, found: IndexInfo, numbers: list[float], passing: models.Filter | None, *, offset: int, limit: int
    ) -> tuple[list[tuple[models.ScoredPoint, float]], int]:
        """Points that pass, with their similarity, after the first ``offset``; and how many were asked for, at most ``limit``."""
        answer, asked = self._query_caller.call_for_at_most(
            limit,
            lambda most: self._client.query_points(
                found.collection,
                query=numbers,
                using=found.vector_name,
                query_filter=passing,
                limit=most,
                offset=offset or None,
                with_payload=RECORD_FIELDS,
                with_vectors=False,
            ),
            found.name,
        )
        if found.similarity is Similarity.EUCLIDEAN:
            return [(point, 1.0 / (1.0 + point.score)) for point in answer.points], asked
        return [(point, point.score) for point in answer.points], asked

    def _page(
        self, found: IndexInfo, matching: models.Filter | None, payload: list[str], limit: int, offset: models.ExtendedPointId | None
    ) -> tuple[tuple[list[models.Record], models.ExtendedPointId | None], int]:
        """Points by id from ``offset`` on, and the next offset; and how many were asked for, at most ``limit``."""
        return self._caller.call_for_at_most(
            limit,
            lambda most: self._client.scroll(
                found.collection, scroll_filter=matching, limit=most, offset=offset, with_payload=payload, with_vectors=False
            ),
            found.name,
        )

    def _retrieve(self, found: IndexInfo, ids: Sequence[str], *, payload: bool | list[str], with_vectors: bool) -> list[models.Record]:
        return self._client.retrieve(found.collection, ids, with_payload=payload, with_vectors=with_vectors)

    def _holders(self, found: IndexInfo, text_hashes: Sequence[str]) -> dict[str, str]:
        """For each of these texts that is there, the id of one point that has it, with the text's hash."""
        holders: dict[str, str] = {}
        missing = [*text_hashes]
        while missing:
            # Points of several generations may share a text, so a full page may leave out some of the wanted ones.
            (page, _), asked = self._page(found, text_filter(missing), ["hash"], 2 * len(missing), None)
            by_hash = {str((point.payload or {})["hash"]): str(point.id) for point in page}
            holders.update((point_id, text_hash) for text_hash, point_id in by_hash.items())
            missing = [text_hash for text_hash in missing if text_hash not in by_hash] if len(page) == asked else []
        return holders
