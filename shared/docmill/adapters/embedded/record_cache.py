"""Keeps the records that searches returned last: reading one from the engine and parsing it costs ten times what finding it does.

A point's id holds its document, its generation and its place, and a generation is written once: so a record that is kept never goes stale.
Whether a point is there is always the engine's word.
"""

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from threading import Lock
from typing import Final, cast
from uuid import UUID

from docmill.adapters.chunk_payload import RECORD_FIELDS, record_of
from docmill.adapters.embedded.edge_shard import Shard
from docmill.domain.chunks import ChunkRecord

#: Of all texts that one store keeps together: some 6,000 chunks of 1,000 characters, each with what is indexed of it.
MAX_CHARACTERS: Final = 12_000_000
#: Points in one call of the engine, which holds the interpreter's lock.
_POINTS_AT_ONCE: Final = 200

#: The shard and the id as a number: a UUID's own hash is computed in Python, at a microsecond a look-up.
_Key = tuple[Shard, int]


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

    def records_of(self, shard: Shard, point_ids: Sequence[UUID]) -> list[ChunkRecord | None]:
        """The record of each point, None for one that the shard has not; raises as ``Shard.retrieve``."""
        keys: list[_Key] = [(shard, point_id.int) for point_id in point_ids]
        with self._lock:
            found = [self._records.get(key) for key in keys]
            for key, record in zip(keys, found, strict=True):
                if record is not None:
                    self._records.move_to_end(key)
        missing = [place for place, record in enumerate(found) if record is None]
        for begin in range(0, len(missing), _POINTS_AT_ONCE):
            places = {point_ids[place]: place for place in missing[begin : begin + _POINTS_AT_ONCE]}
            for point in shard.retrieve(list(places), RECORD_FIELDS):
                found[places[cast("UUID", point.id)]] = record_of(point.payload or {})
        self._keep((keys[place], record) for place in missing if (record := found[place]) is not None)
        return found

    def forget(self, shard: Shard, point_ids: Iterable[str]) -> None:
        """Forgets points that are written again."""
        with self._lock:
            if not self._records:
                return
            for point_id in point_ids:
                self._characters -= _characters_of(self._records.pop((shard, UUID(point_id).int), None))

    def clear(self) -> None:
        """Forgets everything."""
        with self._lock:
            self._records.clear()
            self._characters = 0

    def _keep(self, records: Iterable[tuple[_Key, ChunkRecord]]) -> None:
        with self._lock:
            for key, record in records:
                self._characters += _characters_of(record) - _characters_of(self._records.get(key))
                self._records[key] = record
            while self._characters > self._max_characters:
                self._characters -= _characters_of(self._records.popitem(last=False)[1])


def _characters_of(record: ChunkRecord | None) -> int:
    return 0 if record is None else len(record.text) + len(record.indexed_text)
