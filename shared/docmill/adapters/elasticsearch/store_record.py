"""The store's own record: who it is, and the highest epoch that it was told."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import tenacity
from elasticsearch import ApiError, ConflictError, Elasticsearch, NotFoundError

from docmill.adapters.elasticsearch.answers import Failure, Verdict
from docmill.adapters.elasticsearch.connection import Connection
from docmill.adapters.elasticsearch.definition import STATE_MAPPING, STATE_SETTINGS
from docmill.adapters.elasticsearch.making import create
from docmill.adapters.elasticsearch.names import STATE_ALIAS, STATE_INDEX
from docmill.domain.errors import StoreDown

_ID: Final = "store"
_MOST_STEPS: Final = 100
_LONGEST_PAUSE_SECONDS: Final = 0.05


@dataclass(frozen=True, slots=True)
class StoreRecord:
    """What the record says, with the place in the server's history that a change must follow on."""

    identity: str
    epoch: int
    sequence: int
    term: int


def read_record(connection: Connection) -> StoreRecord:
    """The record, which is made when there is none: in a new store, and in one that was wiped."""

    def step(client: Elasticsearch) -> StoreRecord | None:
        record = _read(client)
        if record is None:
            _make(client, connection.server_timeout)
        return record

    return _until_there(connection, step)


def raise_epoch(connection: Connection, epoch: int) -> None:
    """Writes ``epoch`` into the record unless a higher one is there, whoever else does so at the same moment."""

    def step(client: Elasticsearch) -> StoreRecord | None:
        record = _read(client)
        if record is None:
            _make(client, connection.server_timeout)
        elif record.epoch < epoch:
            _replace(client, record, epoch)
            return None
        return record

    _until_there(connection, step)


def _until_there(connection: Connection, step: Callable[[Elasticsearch], StoreRecord | None]) -> StoreRecord:
    """Repeats ``step`` until it finds the record as it should be; each one writes what is missing, or another process has."""
    steps = tenacity.Retrying(
        retry=tenacity.retry_if_result(lambda record: record is None),
        wait=tenacity.wait_random(0, _LONGEST_PAUSE_SECONDS),
        stop=tenacity.stop_after_attempt(_MOST_STEPS) | tenacity.stop_after_delay(3 * connection.timeout_seconds),
    )
    try:
        record = steps(lambda: connection.call(STATE_ALIAS, step))
    except tenacity.RetryError as error:
        raise StoreDown(f"the record {STATE_ALIAS!r} in Elasticsearch at {connection.place} was changed by others all the while") from error
    assert record is not None
    return record


def _read(client: Elasticsearch) -> StoreRecord | None:
    try:
        # Reading by id sees the last write, whatever was refreshed.
        found = client.get(index=STATE_ALIAS, id=_ID, realtime=True).body
    except NotFoundError:
        return None
    source = found["_source"]
    return StoreRecord(source["identity"], source["epoch"], found["_seq_no"], found["_primary_term"])


def _make(client: Elasticsearch, timeout: str) -> None:
    """Makes the record unless another process does; the next reading says whose it is."""
    create(client, STATE_INDEX, STATE_ALIAS, STATE_SETTINGS, STATE_MAPPING, timeout)
    record = {"identity": secrets.token_hex(16), "epoch": 0}
    _write(lambda: client.index(index=STATE_ALIAS, id=_ID, document=record, op_type="create", require_alias=True, timeout=timeout))


def _replace(client: Elasticsearch, record: StoreRecord, epoch: int) -> None:
    changed = {"identity": record.identity, "epoch": epoch}
    _write(
        lambda: client.index(
            index=STATE_ALIAS, id=_ID, document=changed, if_seq_no=record.sequence, if_primary_term=record.term, require_alias=True
        )
    )


def _write(request: Callable[[], object]) -> None:
    """Makes a request that comes to nothing when another process was first, or the index went away; the next step sees what is there."""
    try:
        request()
    except ConflictError:
        return
    except ApiError as error:
        if Failure.of_answer(error).verdict is not Verdict.MISSING:
            raise
