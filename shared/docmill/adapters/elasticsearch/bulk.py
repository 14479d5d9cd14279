"""Bulk requests: bounded, and read item by item, since a bulk answer is a success even when every item failed."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from elasticsearch import Elasticsearch

from docmill.adapters.elasticsearch.answers import Failure, ItemsWaiting, Verdict, refusal
from docmill.adapters.elasticsearch.connection import Connection
from docmill.adapters.elasticsearch.names import alias_of

MAX_OPERATIONS: Final = 500
MAX_BYTES: Final = 8_000_000


@dataclass(frozen=True, slots=True)
class Operation:
    """One line or two of a bulk request.

    Attributes:
        chunk: what a message calls it.
        lines: the action, and for a write the document; without the ends of lines.
    """

    chunk: str
    lines: tuple[bytes, ...]

    @property
    def size_bytes(self) -> int:
        """How much it adds to a request."""
        return sum(len(line) + 1 for line in self.lines)


def writing(point_id: str, chunk: str, source: dict[str, Any]) -> Operation:
    """Puts a document in place of the one with its id, if there is one."""
    return Operation(chunk, (_line({"index": {"_id": point_id}}), _line(source)))


def deleting(point_id: str, chunk: str) -> Operation:
    """Removes a document."""
    return Operation(chunk, (_line({"delete": {"_id": point_id}}),))


def in_requests(operations: Iterable[Operation]) -> Iterator[list[Operation]]:
    """``operations`` in parts of at most ``MAX_OPERATIONS`` and ``MAX_BYTES``; a larger one goes alone."""
    part: list[Operation] = []
    size_bytes = 0
    for operation in operations:
        if part and (len(part) == MAX_OPERATIONS or size_bytes + operation.size_bytes > MAX_BYTES):
            yield part
            part, size_bytes = [], 0
        part.append(operation)
        size_bytes += operation.size_bytes
    if part:
        yield part


def send(connection: Connection, index: str, operations: Iterable[Operation]) -> None:
    """Sends all, in bounded requests; items that the server has no room for are sent again.

    Raises:
        StoreDown: the server does not answer, is busy at each try, or takes no writes.
        StoreRejected: it refuses an item, or the index does not exist. Other items may have been applied.
    """
    for part in in_requests(operations):
        _send_one(connection, index, part)


def _send_one(connection: Connection, index: str, part: Sequence[Operation]) -> None:
    waiting = list(part)
    failed: list[tuple[Operation, Failure]] = []

    def request(client: Elasticsearch) -> None:
        nonlocal waiting
        failed.clear()
        lines: list[Any] = [line for operation in waiting for line in operation.lines]
        answer = client.bulk(
            index=alias_of(index),
            operations=lines,
            require_alias=True,
            timeout=connection.server_timeout,
            filter_path=["items.*.status", "items.*.error.type", "items.*.error.reason"],
        )
        again: list[tuple[Operation, Failure]] = []
        for operation, failure in zip(waiting, _failures(answer.body), strict=True):
            if failure is not None:
                (again if failure.verdict is Verdict.AGAIN else failed).append((operation, failure))
        if again and not failed:
            waiting = [operation for operation, _ in again]
            raise ItemsWaiting(again[0][1])

    connection.call(index, request)
    if failed:
        # An outage says nothing about the data, so it comes first.
        _, worst = min(failed, key=lambda item: item[1].verdict is Verdict.REFUSED)
        raise refusal(
            worst, connection.place, index, [operation.chunk for operation, failure in failed if failure.verdict is worst.verdict]
        )


def _failures(answer: dict[str, Any]) -> Iterator[Failure | None]:
    """What went wrong with each item; removing what is not there is no failure."""
    for item in answer.get("items", ()):
        (result,) = item.values()
        error = result.get("error")
        yield None if error is None else Failure.of_item(int(result["status"]), error)


def _line(value: dict[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
