"""Vectors out of a provider's answer; nothing in it is taken on trust."""

import base64
from collections.abc import Iterable, Sequence

import numpy as np

from docmill.domain.chunks import Vector


def field_of(answer: object, *keys: str) -> object:
    """What stands under ``keys``, one below the other; raises ``ValueError`` where nothing does."""
    for key in keys:
        if not isinstance(answer, dict) or key not in answer:
            raise ValueError(f"the answer has no {'.'.join(keys)}")
        answer = answer[key]
    return answer


def indexed(items: object, *, count: int) -> list[object]:
    """The ``embedding`` of each item of ``items``, placed by its ``index``.

    Raises:
        ValueError: the items are of another form, or have an index twice or not at all.
    """
    if not isinstance(items, list):
        raise ValueError("the answer has no list of vectors under data")
    placed: dict[int, object] = {}
    for item in items:
        if not isinstance(item, dict):
            raise ValueError("an item of the answer's data is not an object")
        index = item.get("index")
        if not isinstance(index, int) or isinstance(index, bool) or not 0 <= index < count:
            raise ValueError(f"the answer has a vector with the index {index!r}, and {count} texts were sent")
        if index in placed:
            raise ValueError(f"the answer has two vectors with the index {index}")
        placed[index] = item.get("embedding")
    if len(placed) != count:
        raise ValueError(f"the answer has {len(placed)} vectors, and {count} texts were sent")
    return [placed[index] for index in range(count)]


def in_order(items: object, *, count: int) -> list[object]:
    """``items``, where an API gives vectors in the order of the texts and without an index; raises ``ValueError`` as ``indexed``."""
    if not isinstance(items, list):
        raise ValueError("the answer has no list of vectors")
    if len(items) != count:
        raise ValueError(f"the answer has {len(items)} vectors, and {count} texts were sent")
    return items


def unpacked(embeddings: Iterable[object]) -> list[object]:
    """``embeddings``, those that are texts read as 32-bit floats in base64; raises ``ValueError`` where one is no such text."""
    try:
        return [
            np.frombuffer(base64.b64decode(embedding, validate=True), "<f4").tolist() if isinstance(embedding, str) else embedding
            for embedding in embeddings
        ]
    except ValueError as error:
        raise ValueError("an embedding is not 32-bit floats in base64") from error


def checked(embeddings: Iterable[object], *, dimensions: int) -> list[Vector]:
    """``embeddings`` as vectors.

    Raises:
        ValueError: one is not a list of numbers, has another length than ``dimensions``, an entry that is not a finite 32-bit float, or
            no entry but zeros.
    """
    vectors = [_numbers(embedding, dimensions) for embedding in embeddings]
    if not vectors:
        return []
    try:
        with np.errstate(over="ignore"):
            rows = np.array(vectors, np.float32)
    except OverflowError as error:
        raise ValueError("a vector has an entry that is not a finite 32-bit float") from error
    if not np.isfinite(rows).all():
        raise ValueError("a vector has an entry that is not a finite 32-bit float")
    if not rows.any(axis=1).all():
        raise ValueError("a vector has only zeros")
    return vectors


def of_length_one(vectors: Sequence[Vector]) -> list[Vector]:
    """``vectors``, each divided by its length."""
    return [(np.asarray(vector, np.float64) / np.linalg.norm(vector)).tolist() for vector in vectors]


def mean_of_windows(vectors: Sequence[Vector], weights: Sequence[int]) -> Vector:
    """One vector for the windows of a text: the direction that is the mean of theirs, weighted, and as long as they are on average."""
    if len(vectors) == 1:
        return vectors[0]
    rows = np.asarray(vectors, np.float64)
    lengths = np.linalg.norm(rows, axis=1)
    shares = np.asarray(weights, np.float64) / sum(weights)
    total = shares @ (rows / lengths[:, None])
    length = np.linalg.norm(total)
    if length == 0.0:  # windows that point in opposite directions have no mean
        return vectors[int(np.argmax(shares))]
    mean: list[float] = (total / length * (shares @ lengths)).tolist()
    return mean


def _numbers(embedding: object, dimensions: int) -> Vector:
    if not isinstance(embedding, list) or not set(map(type, embedding)) <= {float, int}:
        raise ValueError("an embedding is not a list of numbers")
    if len(embedding) != dimensions:
        raise ValueError(f"it makes vectors of {len(embedding)} dimensions where {dimensions} are configured (vector_dimensions)")
    return embedding
