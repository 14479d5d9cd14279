"""Chunks as points of the server: ids, vectors, payloads, and how many go into one request."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import numpy as np
from qdrant_client import QdrantClient, models

from docmill.adapters.chunk_payload import payload_of
from docmill.adapters.qdrant.failures import NotCompleted
from docmill.adapters.qdrant.filters import path_facts
from docmill.domain.chunks import ChunkRecord, Vector, point_id_of
from docmill.domain.errors import StoreRejected, WrongDimension

#: Bounds of one request. The server refuses 32 MiB; a smaller request is lost more cheaply.
MAX_POINTS: Final = 256
MAX_BYTES: Final = 8 * 2**20
#: Of one number in JSON with its comma, and of what a point has besides its vector and its texts; over gRPC both are less.
_BYTES_PER_FLOAT: Final = 24
_BYTES_PER_POINT: Final = 300


def point_of(record: ChunkRecord, strategy: str, vector_name: str, vector: list[float]) -> models.PointStruct:
    """The point of ``record`` in an index of ``strategy``."""
    payload = payload_of(record)
    payload["facts"] += path_facts(record.document_id)
    payload["hash"] = record.text_hash
    point_id = point_id_of(record.document_id, record.generation, strategy, record.index)
    return models.PointStruct(id=point_id, vector={vector_name: vector}, payload=payload)


def checked_vector(record: ChunkRecord, index: str, dimensions: int) -> list[float]:
    """The vector of ``record`` at the precision that the server keeps.

    Raises:
        WrongDimension: its length is not the index's.
        StoreRejected: there is none, or a number in it is not finite.
    """
    if record.vector is None:
        raise StoreRejected(f"{record.chunk_id} has no vector")
    return checked_numbers(record.vector, index, dimensions, record.chunk_id)


def checked_numbers(vector: Vector, index: str, dimensions: int, what: str) -> list[float]:
    """``vector`` at the precision that the server keeps; raises as ``checked_vector`` does."""
    if len(vector) != dimensions:
        raise WrongDimension(f"index {index!r} has {dimensions} dimensions, a vector of {len(vector)} was given")
    with np.errstate(over="ignore"):
        numbers = np.asarray(vector, dtype=np.float32)
    if not np.isfinite(numbers).all():
        raise StoreRejected(f"the vector of {what} holds a number that is not finite")
    floats: list[float] = numbers.tolist()
    return floats


def upsert(client: QdrantClient, collection: str, points: Sequence[models.PointStruct]) -> None:
    """Writes points; when it returns they are durable and can be seen."""
    if client.upsert(collection, [*points], wait=True).status is not models.UpdateStatus.COMPLETED:
        raise NotCompleted


def batches(points: Iterable[models.PointStruct], dimensions: int) -> Iterator[list[models.PointStruct]]:
    """Parts of ``points``, in order, of at most ``MAX_POINTS`` and ``MAX_BYTES``; a point that alone is larger is a part of its own.

    Points are taken from the iterator as they are needed, so no more than one part has to be in memory.
    """
    part: list[models.PointStruct] = []
    size = 0
    for point in points:
        point_bytes = _bytes_of(point.payload or {}) + dimensions * _BYTES_PER_FLOAT + _BYTES_PER_POINT
        if part and (len(part) == MAX_POINTS or size + point_bytes > MAX_BYTES):
            yield part
            part, size = [], 0
        part.append(point)
        size += point_bytes
    if part:
        yield part


def _bytes_of(payload: dict[str, Any]) -> int:
    """The most that ``payload`` takes in JSON: ``body`` is ASCII, of which half may have to be escaped."""
    return 2 * (len(payload["body"]) + sum(map(len, payload["facts"])) + len(payload["place"])) + 6 * len(payload["doc"])
