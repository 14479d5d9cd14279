"""Indexes as collections of the server.

An index is the collection ``docmill-<index>``. The strategy, which is part of the ids of its points, is the name of its one vector:
so it is there from the moment that the collection is, for every process.
"""

from dataclasses import dataclass
from functools import partial
from typing import Final
from urllib.parse import quote, unquote

from qdrant_client import QdrantClient, models

from docmill.adapters.qdrant.calling import Caller
from docmill.adapters.qdrant.failures import CALL_ERRORS, FailureKind, is_failure
from docmill.domain.errors import StoreRejected, WrongDimension
from docmill.domain.knowledge_bases import Similarity

_PREFIX: Final = "docmill-"
_LONGEST_VECTOR_NAME: Final = 200
_DISTANCES: Final = {
    Similarity.COSINE: models.Distance.COSINE,
    Similarity.DOT_PRODUCT: models.Distance.DOT,
    Similarity.EUCLIDEAN: models.Distance.EUCLID,
}
_SIMILARITIES: Final = {distance: similarity for similarity, distance in _DISTANCES.items()}

#: Every field that is filtered by; a server in strict mode refuses filters by others.
FIELD_INDEXES: Final[dict[str, models.PayloadSchemaType | models.IntegerIndexParams]] = {
    "doc": models.PayloadSchemaType.KEYWORD,
    "gen": models.IntegerIndexParams(type=models.IntegerIndexType.INTEGER, lookup=True, range=False),
    "facts": models.PayloadSchemaType.KEYWORD,
    "hash": models.PayloadSchemaType.KEYWORD,
}


@dataclass(frozen=True, slots=True)
class IndexInfo:
    """What an index was made with."""

    name: str
    strategy: str
    dimensions: int
    similarity: Similarity

    @property
    def collection(self) -> str:
        """The name of its collection."""
        return collection_of(self.name)

    @property
    def vector_name(self) -> str:
        """The name of the vector of its points."""
        return quote(self.strategy, safe="")


def collection_of(index: str) -> str:
    """The collection of ``index``."""
    return _PREFIX + index


def read_index(client: QdrantClient, caller: Caller, index: str) -> IndexInfo:
    """What ``index`` was made with; ``StoreRejected`` when it does not exist."""
    return _info_of(index, caller.call(lambda: client.get_collection(collection_of(index)), index))


def read_index_names(client: QdrantClient, caller: Caller) -> list[str]:
    """The names of all indexes, sorted."""
    found = caller.call(client.get_collections).collections
    return sorted(each.name.removeprefix(_PREFIX) for each in found if each.name.startswith(_PREFIX))


def create_index(client: QdrantClient, caller: Caller, wanted: IndexInfo) -> None:
    """Makes ``wanted`` with its field indexes, unless it is there; several may do so at once.

    Raises:
        WrongDimension: it is there with other dimensions, or another similarity.
        StoreRejected: it cannot be made, or is there for another strategy.
    """
    if len(wanted.vector_name) > _LONGEST_VECTOR_NAME:
        raise StoreRejected(f"Qdrant takes no name as long as that of the strategy {wanted.strategy!r}")
    collection = wanted.collection

    def make() -> None:
        vectors = {wanted.vector_name: models.VectorParams(size=wanted.dimensions, distance=_DISTANCES[wanted.similarity])}
        try:
            client.create_collection(collection, vectors_config=vectors, on_disk_payload=True)
        except CALL_ERRORS as error:
            if not is_failure(error, FailureKind.EXISTS):
                raise

    caller.call(make, wanted.name)
    found = caller.call(lambda: client.get_collection(collection), wanted.name, until_known=True)
    _check_same(_info_of(wanted.name, found), wanted)
    for field, schema in FIELD_INDEXES.items():
        if field not in found.payload_schema:
            caller.call(partial(client.create_payload_index, collection, field, schema, wait=True), wanted.name)


def drop_index(client: QdrantClient, caller: Caller, index: str) -> None:
    """Removes ``index``; no error when there is none."""

    def drop() -> None:
        try:
            client.delete_collection(collection_of(index))
        except CALL_ERRORS as error:
            if not is_failure(error, FailureKind.UNKNOWN):
                raise

    caller.call(drop, index)


def _info_of(index: str, found: models.CollectionInfo) -> IndexInfo:
    vectors = found.config.params.vectors
    if not isinstance(vectors, dict) or len(vectors) != 1:
        raise StoreRejected(f"index {index!r}: the collection {collection_of(index)!r} was not made by docmill; remove or rename it")
    [(name, parameters)] = vectors.items()
    similarity = _SIMILARITIES.get(parameters.distance)
    if similarity is None:
        raise StoreRejected(f"index {index!r}: the collection {collection_of(index)!r} has the distance {parameters.distance}; remove it")
    return IndexInfo(index, unquote(name), parameters.size, similarity)


def _check_same(found: IndexInfo, wanted: IndexInfo) -> None:
    if found.dimensions != wanted.dimensions:
        raise WrongDimension(
            f"index {wanted.name!r} has {found.dimensions} dimensions in Qdrant, not the {wanted.dimensions} that its configuration says;"
            f" remove the collection {wanted.collection!r} to index everything again"
        )
    if found.similarity is not wanted.similarity:
        raise WrongDimension(
            f"index {wanted.name!r} compares by {found.similarity.value} in Qdrant, not by {wanted.similarity.value};"
            f" remove the collection {wanted.collection!r} to index everything again"
        )
    if found.strategy != wanted.strategy:
        raise StoreRejected(f"index {wanted.name!r} holds chunks of the strategy {found.strategy!r}, not of {wanted.strategy!r}")
