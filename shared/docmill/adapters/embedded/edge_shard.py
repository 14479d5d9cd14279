"""One shard of the Qdrant engine behind one lock, with room on the disk checked before each write.

Every call of the engine holds the interpreter's lock from begin to end, so calls of one shard never overlap anyway; the lock here makes
``close`` safe beside them. ``optimize`` froze the interpreter for 0.35 s at 15,000 and 1 s at 38,000 points: it is called on
opening only, where it removes deleted points once they are a fifth of the shard.

The engine maps its files into memory: on a full disk the kernel kills the process with SIGBUS. So a write is refused while
there is still room, and so is opening a shard that was not closed, whose log is written to its place again. A shard that was closed is
opened and searched on a full disk, except in memory and on other file systems without a device: there the kernel may want room for what
is only read.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any, Final, cast
from uuid import UUID

import structlog
from qdrant_edge import (
    CountRequest,
    EdgeConfig,
    EdgeOptimizersConfig,
    EdgeShard,
    EdgeSparseVectorParams,
    EdgeVectorParams,
    Filter,
    IntegerIndexParams,
    KeywordIndexParams,
    Point,
    QueryRequest,
    Record,
    ScoredPoint,
    ScrollRequest,
    TextIndexParams,
    UpdateOperation,
)

from docmill.adapters.embedded.edge_errors import engine_errors
from docmill.domain.errors import DiskFull, StoreDown

_log = structlog.get_logger(__name__)

#: The engine makes files of up to 32 MB at once (log segments, payload pages), several in a bad moment.
MIN_FREE_BYTES: Final = 192 * 1024 * 1024
#: After so many changed points, what the log holds is written to its place, which frees the log's files. The engine waits some sixty times
#: for the disk then, with the interpreter's lock: so the files are written back before, without it.
POINTS_PER_FLUSH: Final = 5_000
#: No graph is ever built: exact search over 50,000 x 384 takes 3 to 5 ms; building a graph freezes the interpreter for many seconds.
_OPTIMIZERS: Final = EdgeOptimizersConfig(indexing_threshold=1_000_000_000)

FieldIndex = KeywordIndexParams | IntegerIndexParams | TextIndexParams
#: Ids are UUIDs; the engine takes them as text too, which costs it more than those that it returned.
PointId = int | UUID | str


class Shard:
    """An open shard; every method may be called from several threads.

    Every method raises ``StoreDown`` when the shard is closed or the engine fails, ``StoreRejected`` when it refuses the data.
    """

    def __init__(self, engine: EdgeShard, folder: Path) -> None:
        """Use :meth:`create` or :meth:`load`."""
        self._engine: EdgeShard | None = engine
        self._folder = folder
        self._lock = Lock()
        self._changed_points = 0

    @classmethod
    def create(cls, folder: Path, vectors: EdgeVectorParams | None, indexes: dict[str, FieldIndex]) -> "Shard":
        """Makes a shard in the empty ``folder``; takes some 7 ms for each of ``indexes``."""
        require_room(folder)
        with engine_errors(str(folder)):
            # The engine wants some kind of vector; a shard without dense ones has an empty sparse one.
            sparse = {"none": EdgeSparseVectorParams()} if vectors is None else None
            engine = EdgeShard.create(str(folder), EdgeConfig(vectors=vectors, sparse_vectors=sparse, optimizers=_OPTIMIZERS))
            for field, params in indexes.items():
                engine.update(UpdateOperation.create_field_index(field, params))
            engine.flush()
        return cls(engine, folder)

    @classmethod
    def load(cls, folder: Path) -> "Shard":
        """Opens the shard in ``folder`` and, when a fifth of it is deleted points and there is room to write it anew, removes those."""
        was_closed = _closed_mark(folder).exists()
        if not was_closed or os.major(os.stat(folder).st_dev) == 0:
            require_room(folder)
        with engine_errors(str(folder)):
            _closed_mark(folder).unlink(missing_ok=True)
            engine = EdgeShard.load(str(folder))
        try:
            require_room(folder)
            with engine_errors(str(folder)):
                engine.optimize()
        except DiskFull as error:
            _log.debug("deleted_points_stay", error=str(error))
        return cls(engine, folder)

    def upsert(self, points: list[Point]) -> None:
        """Writes points; once it returns they survive any end of the process.

        A power cut may take the latest, which the kernel has not written yet: at most ``POINTS_PER_FLUSH``.
        """
        require_room(self._folder)
        operation = UpdateOperation.upsert_points(points)
        with self._open_engine() as engine:
            engine.update(operation)
        self._flush_sometimes(len(points))

    def delete(self, point_ids: Sequence[str]) -> None:
        """Removes points by id; what is not there is no error."""
        with self._open_engine() as engine:
            engine.update(UpdateOperation.delete_points([*point_ids]))
        self._flush_sometimes(len(point_ids))

    def query(self, request: QueryRequest) -> list[ScoredPoint]:
        """Points with their scores, best first, with as much of them as ``request`` asks for."""
        with self._open_engine() as engine:
            return engine.query(request)

    def retrieve(self, point_ids: Sequence[PointId], payload: bool | list[str]) -> list[Record]:
        """The points that are there, in any order."""
        with self._open_engine() as engine:
            return engine.retrieve([*point_ids], payload, False)

    def scroll(
        self, *, limit: int, matching: Filter | None = None, payload: bool | list[str] = False, vector: bool = False, offset: Any = None
    ) -> tuple[list[Record], Any]:
        """One page, by id, and the offset of the next one (None after the last)."""
        request = ScrollRequest(offset=offset, limit=limit, filter=matching, with_payload=payload, with_vector=vector)
        with self._open_engine() as engine:
            return engine.scroll(request)

    def count(self) -> int:
        """All points."""
        with self._open_engine() as engine:
            return engine.count(CountRequest(exact=True))

    def close(self) -> None:
        """Writes everything to its place and lets go of the files; a second call does nothing."""
        with self._lock, engine_errors(str(self._folder)):
            engine, self._engine = self._engine, None
            if engine is not None:
                engine.flush()
                engine.close()
                _closed_mark(self._folder).touch()

    @contextmanager
    def _open_engine(self) -> Iterator[EdgeShard]:
        with self._lock, engine_errors(str(self._folder)):
            if self._engine is None:
                raise StoreDown(f"the index in {self._folder} is closed")
            yield self._engine

    def _flush_sometimes(self, points: int) -> None:
        with self._lock:
            self._changed_points += points
            if self._changed_points < POINTS_PER_FLUSH:
                return
            self._changed_points = 0
        with engine_errors(str(self._folder)):
            _write_back(self._folder)
        with self._open_engine() as engine:
            engine.flush()


def scored_ids(points: Sequence[ScoredPoint]) -> list[tuple[UUID, float]]:
    """Ids and scores; the engine's ids are UUIDs, since all that is written has such an id."""
    return [(cast("UUID", point.id), point.score) for point in points]


def _write_back(folder: Path) -> None:
    """Lets the kernel write what was changed in the files of ``folder``, and waits for it; other threads go on meanwhile."""
    for home, _, names in os.walk(folder):
        for name in names:
            try:
                file = os.open(os.path.join(home, name), os.O_RDONLY)
            except FileNotFoundError:
                continue  # the engine needed it no longer
            try:
                os.fsync(file)
            finally:
                os.close(file)


def _closed_mark(folder: Path) -> Path:
    """The file that is there while the shard is closed."""
    return folder.with_name(f"{folder.name}.closed")


def require_room(folder: Path) -> None:
    """Raises ``DiskFull`` when less than ``MIN_FREE_BYTES`` are free, while there is still room to go on."""
    found = os.statvfs(folder)
    free = found.f_bavail * found.f_frsize
    if free < MIN_FREE_BYTES:
        needed = MIN_FREE_BYTES // 2**20
        raise DiskFull(f"{folder}: only {free // 2**20} MB are free on its disk, {needed} MB are needed; free some and try again")
