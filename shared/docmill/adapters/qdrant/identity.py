"""Who this store is, and its highest epoch, in the collection ``docmill``; right with any number of processes at once.

The identity is the name of the collection's one vector. A collection is made once, whoever tries at the same time: so all processes
read the same identity, with no moment at which there is a collection without one.

An epoch is the id of a point. Points are only added, and those below the highest removed: so the highest never falls.
"""

import secrets
from functools import partial
from typing import Final

from qdrant_client import QdrantClient, models

from docmill.adapters.qdrant.calling import Caller
from docmill.adapters.qdrant.failures import CALL_ERRORS, FailureKind, is_failure
from docmill.adapters.qdrant.points import upsert
from docmill.domain.errors import StoreRejected

COLLECTION: Final = "docmill"
_PAGE: Final = 1_000


class IdentityRecord:
    """The record of one store; every method may be called from several threads and raises what ``Caller.call`` does."""

    def __init__(self, client: QdrantClient, caller: Caller) -> None:
        self._client = client
        self._caller = caller

    def identity(self) -> str:
        """A random text, made when the store had none."""
        found = self._caller.call(self._find, COLLECTION)
        if found is None:
            self._caller.call(self._make, COLLECTION)
            found = self._caller.call(lambda: self._client.get_collection(COLLECTION), COLLECTION, until_known=True)
        vectors = found.config.params.vectors
        if not isinstance(vectors, dict) or len(vectors) != 1:
            raise StoreRejected(f"the collection {COLLECTION!r} in Qdrant was not made by docmill; rename or remove it")
        return str(next(iter(vectors)))

    def epoch(self) -> int:
        """The highest epoch recorded; 0 in a new store."""
        self.identity()
        return max(self._epochs(), default=0)

    def raise_epoch(self, epoch: int) -> None:
        """Records ``epoch`` durably, unless a higher one is recorded."""
        identity = self.identity()
        recorded = self._epochs()
        if epoch <= max(recorded, default=0):
            return
        point = models.PointStruct(id=epoch, vector={identity: [0.0]})
        self._caller.call(partial(upsert, self._client, COLLECTION, [point]), COLLECTION)
        if recorded:
            selector = models.PointIdsList(points=[*recorded])
            self._caller.call(lambda: self._client.delete(COLLECTION, selector, wait=True), COLLECTION)

    def _epochs(self) -> list[int]:
        epochs: list[int] = []
        offset: models.ExtendedPointId | None = None
        while True:
            page, offset = self._page_from(offset)
            epochs += [int(point.id) for point in page]
            if offset is None:
                return epochs

    def _page_from(self, offset: models.ExtendedPointId | None) -> tuple[list[models.Record], models.ExtendedPointId | None]:
        return self._caller.call(
            lambda: self._client.scroll(COLLECTION, limit=_PAGE, offset=offset, with_payload=False, with_vectors=False), COLLECTION
        )

    def _find(self) -> models.CollectionInfo | None:
        try:
            return self._client.get_collection(COLLECTION)
        except CALL_ERRORS as error:
            if is_failure(error, FailureKind.UNKNOWN):
                return None
            raise

    def _make(self) -> None:
        vectors = {secrets.token_hex(16): models.VectorParams(size=1, distance=models.Distance.DOT)}
        try:
            self._client.create_collection(COLLECTION, vectors_config=vectors, on_disk_payload=True)
        except CALL_ERRORS as error:
            if not is_failure(error, FailureKind.EXISTS):
                raise
