"""Keeps the records that searches returned last: reading one from the engine and parsing it costs ten times what finding it does.

A point's id holds its document, its generation and its place, and a generation is written once: so a record that is kept never goes stale.
Whether a point is there is always the engine's word.
"""

from collections import OrderedDict
from collections.abc import Iterable
from threading import Lock
from typing import Final

from docmill.adapters.embedded.edge_payload import RECORD_FIELDS, record_of
from docmill.adapters.embedded.edge_shard import PointId, Shard
from docmill.domain.chunks import ChunkRecord

#: Of all texts that one store keeps together: some 6,000 chunks of 1,000 characters, each with what is indexed of it.
MAX_CHARACTERS: Final = 12_000_000
#: Points in one call of the engine, which holds the interpreter's lock.
_POINTS_AT_ONCE: Final = 200

_Key = tuple[Shard, PointId]


class RecordCache:
    """The records of the points of any number of shards; safe for several threads."""

    def __init__(self, max_characters: int = MAX_CHARACTERS) -> None:
        """Keeps texts of at most ``max_characters`` together; those that were asked for last."""
        self._max_characters = max_characters
        self._records: OrderedDict[_Key, ChunkRecord] = OrderedDict()
        self._characters = 0
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._records)

    def records_of(self, shard: Shard, point_ids: Iterable[PointId]) -> dict[PointId, ChunkRecord]:
        """The records of those points that the shard has; raises as ``Shard.retrieve``."""
        found: dict[PointId, ChunkRecord] = {}
        missing: list[PointId] = []
        with self._lock:
            for point_id in point_ids:
                record = self._records.get((shard, point_id))
                if record is None:
                    missing.append(point_id)
                else:
                    found[point_id] = record
                    self._records.move_to_end((shard, point_id))
        for begin in range(0, len(missing), _POINTS_AT_ONCE):
            for point in shard.retrieve(missing[begin : begin + _POINTS_AT_ONCE], RECORD_FIELDS):
                found[point.id] = record_of(point.payload or {})
        self._keep(shard, {point_id: found[point_id] for point_id in missing if point_id in found})
        return found

    def forget(self, shard: Shard, point_ids: Iterable[PointId]) -> None:
        """Forgets points that are written again."""
        with self._lock:
            if not self._records:
                return
            for point_id in point_ids:
                self._characters -= _characters_of(self._records.pop((shard, point_id), None))

    def clear(self) -> None:
        """Forgets everything."""
        with self._lock:
            self._records.clear()
            self._characters = 0

    def _keep(self, shard: Shard, records: dict[PointId, ChunkRecord]) -> None:
        with self._lock:
            for point_id, record in records.items():
                self._characters += _characters_of(record) - _characters_of(self._records.get((shard, point_id)))
                self._records[shard, point_id] = record
            while self._characters > self._max_characters:
                self._characters -= _characters_of(self._records.popitem(last=False)[1])


def _characters_of(record: ChunkRecord | None) -> int:
    return 0 if record is None else len(record.text) + len(record.indexed_text)
