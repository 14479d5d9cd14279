"""Vectors out of the answer to an OpenAI embeddings request; nothing in it is taken on trust."""

import json

import numpy as np

from docmill.domain.chunks import Vector


def vectors_of_answer(body: bytes, *, count: int, dimensions: int) -> list[Vector]:
    """The ``count`` vectors of an answer, each placed by its ``index``.

    Args:
        body: JSON, ``{"data": [{"index": int, "embedding": [float, ...]}, ...]}``.
        count: how many texts were sent.
        dimensions: how long each vector must be.

    Raises:
        ValueError: the answer is of another form, has an index twice or not at all, or a vector has another length, an entry that is
            not a finite 32-bit float, or no entry but zeros.
    """
    placed: dict[int, Vector] = {}
    for item in _items(body):
        if not isinstance(item, dict):
            raise ValueError("an item of the answer's data is not an object")
        index = item.get("index")
        if not isinstance(index, int) or isinstance(index, bool) or not 0 <= index < count:
            raise ValueError(f"the answer has a vector with the index {index!r}, and {count} texts were sent")
        if index in placed:
            raise ValueError(f"the answer has two vectors with the index {index}")
        placed[index] = _vector(item.get("embedding"), dimensions)
    if len(placed) != count:
        raise ValueError(f"the answer has {len(placed)} vectors, and {count} texts were sent")
    return [placed[index] for index in range(count)]


def _items(body: bytes) -> list[object]:
    try:
        answer = json.loads(body)
    except ValueError as error:
        raise ValueError("the answer is not JSON") from error
    items = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(items, list):
        raise ValueError("the answer has no list of vectors under data")
    return items


def _vector(embedding: object, dimensions: int) -> Vector:
    if not isinstance(embedding, list) or not set(map(type, embedding)) <= {float, int}:
        raise ValueError("an embedding is not a list of numbers")
    if len(embedding) != dimensions:
        raise ValueError(f"it makes vectors of {len(embedding)} dimensions where {dimensions} are configured (vector_dimensions)")
    try:
        with np.errstate(over="ignore"):
            array = np.array(embedding, np.float32)
    except OverflowError as error:
        raise ValueError("a vector has an entry that is not a finite 32-bit float") from error
    if not np.isfinite(array).all():
        raise ValueError("a vector has an entry that is not a finite 32-bit float")
    if not array.any():
        raise ValueError("a vector has only zeros")
    return embedding
