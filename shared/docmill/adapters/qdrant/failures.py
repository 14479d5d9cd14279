"""What a failed call of Qdrant means, over REST or gRPC: one pure table.

===================  ======================================  =================================  ==================
kind                 REST                                    gRPC                               tried again
===================  ======================================  =================================  ==================
``unreachable``      no connection, or it broke              UNAVAILABLE                        yes
``timed_out``        no answer in time; 408                  DEADLINE_EXCEEDED                  yes
                     a write that is not completed           the same
``busy``             502, 503, 504                                                              yes
``rate_limited``     429 with ``retry-after``                RESOURCE_EXHAUSTED with it         yes, not before it
``too_large``        429 without it; 413; 400 that says so   RESOURCE_EXHAUSTED, OUT_OF_RANGE   only in parts
``unknown``          404                                     NOT_FOUND                          no
``exists``           409                                     ALREADY_EXISTS                     no
``wrong_dimension``  400 that says so                        INVALID_ARGUMENT that says so      no
``rejected``         other 4xx                               other of the caller's faults       no
``denied``           401, 403                                UNAUTHENTICATED and its like       no
``untrusted``        TLS fails                               TLS fails                          no
``not_qdrant``       3xx, an answer that is not Qdrant's     UNIMPLEMENTED                      no
``no_room``          507, 500 that says so                   INTERNAL that says so              no
``failed``           other 5xx                               INTERNAL and the rest              no
===================  ======================================  =================================  ==================
"""

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, cast

import grpc
import httpx
from pydantic import ValidationError
from qdrant_client.common.client_exceptions import QdrantException, ResourceExhaustedResponse
from qdrant_client.http.exceptions import ApiException, ResponseHandlingException, UnexpectedResponse

_WORDS_AT_MOST: Final = 300


class FailureKind(StrEnum):
    """See the table above."""

    UNREACHABLE = "unreachable"
    TIMED_OUT = "timed_out"
    BUSY = "busy"
    RATE_LIMITED = "rate_limited"
    TOO_LARGE = "too_large"
    UNKNOWN = "unknown"
    EXISTS = "exists"
    WRONG_DIMENSION = "wrong_dimension"
    REJECTED = "rejected"
    DENIED = "denied"
    UNTRUSTED = "untrusted"
    NOT_QDRANT = "not_qdrant"
    NO_ROOM = "no_room"
    FAILED = "failed"


#: What the same call may do better at another time.
TRANSIENT: Final = frozenset({FailureKind.UNREACHABLE, FailureKind.TIMED_OUT, FailureKind.BUSY, FailureKind.RATE_LIMITED})


class NotCompleted(Exception):
    """The server took a write, but had not made it when it answered."""


#: What a call can raise that has a meaning in the table.
CALL_ERRORS: Final = (ApiException, QdrantException, httpx.HTTPError, grpc.RpcError, ValueError, NotCompleted)


@dataclass(frozen=True, slots=True)
class Failure:
    """A failed call.

    Attributes:
        words: what the server or the connection says, one line.
        retry_after_seconds: how long the server asks to be left alone.
    """

    kind: FailureKind
    words: str
    retry_after_seconds: float | None = None


_STATUSES: Final = {
    401: FailureKind.DENIED,
    403: FailureKind.DENIED,
    404: FailureKind.UNKNOWN,
    408: FailureKind.TIMED_OUT,
    409: FailureKind.EXISTS,
    413: FailureKind.TOO_LARGE,
    429: FailureKind.TOO_LARGE,
    502: FailureKind.BUSY,
    503: FailureKind.BUSY,
    504: FailureKind.BUSY,
    507: FailureKind.NO_ROOM,
}
_CODES: Final = {
    grpc.StatusCode.UNAVAILABLE: FailureKind.UNREACHABLE,
    grpc.StatusCode.DEADLINE_EXCEEDED: FailureKind.TIMED_OUT,
    grpc.StatusCode.RESOURCE_EXHAUSTED: FailureKind.TOO_LARGE,
    grpc.StatusCode.OUT_OF_RANGE: FailureKind.TOO_LARGE,
    grpc.StatusCode.NOT_FOUND: FailureKind.UNKNOWN,
    grpc.StatusCode.ALREADY_EXISTS: FailureKind.EXISTS,
    grpc.StatusCode.INVALID_ARGUMENT: FailureKind.REJECTED,
    grpc.StatusCode.FAILED_PRECONDITION: FailureKind.REJECTED,
    grpc.StatusCode.UNAUTHENTICATED: FailureKind.DENIED,
    grpc.StatusCode.PERMISSION_DENIED: FailureKind.DENIED,
    grpc.StatusCode.UNIMPLEMENTED: FailureKind.NOT_QDRANT,
}
#: Older servers, and servers over gRPC, say in words what newer ones say by the status; the first row that fits counts.
_SAID: Final[tuple[tuple[frozenset[FailureKind], str, FailureKind], ...]] = (
    (frozenset({FailureKind.FAILED}), "no space left", FailureKind.NO_ROOM),
    (frozenset({FailureKind.FAILED}), "not enough space", FailureKind.NO_ROOM),
    (frozenset({FailureKind.REJECTED}), "dimension error", FailureKind.WRONG_DIMENSION),
    (frozenset({FailureKind.REJECTED}), "expected dim:", FailureKind.WRONG_DIMENSION),
    (frozenset({FailureKind.REJECTED}), "larger than allowed", FailureKind.TOO_LARGE),
    (frozenset({FailureKind.REJECTED}), "limit exceeded", FailureKind.TOO_LARGE),  # of strict mode: items asked for or sent at once
    (frozenset({FailureKind.REJECTED}), "closed channel", FailureKind.FAILED),  # the client was closed meanwhile
    (frozenset({FailureKind.REJECTED, FailureKind.FAILED}), "already exists", FailureKind.EXISTS),
    (frozenset({FailureKind.REJECTED, FailureKind.FAILED}), "doesn't exist", FailureKind.UNKNOWN),
    (frozenset({FailureKind.UNREACHABLE, FailureKind.FAILED}), "certificate", FailureKind.UNTRUSTED),
    (frozenset({FailureKind.UNREACHABLE, FailureKind.FAILED}), "ssl", FailureKind.UNTRUSTED),
)


def failure_of(error: BaseException) -> Failure | None:
    """What ``error`` means, or None when it is not a failure of the store but a defect here, or a stop."""
    match error:
        case ResourceExhaustedResponse():
            return Failure(FailureKind.RATE_LIMITED, _one_line(str(error)), float(error.retry_after_s))
        case QdrantException():  # the client reads no `retry-after` but whole seconds
            return Failure(FailureKind.BUSY, _one_line(str(error)))
        case NotCompleted():
            return Failure(FailureKind.TIMED_OUT, "the write is not completed")
        case UnexpectedResponse():
            return _of_status(error)
        case ResponseHandlingException():
            return _of_transport(error.source)
        case httpx.HTTPError() | json.JSONDecodeError():
            return _of_transport(error)
        case grpc.RpcError():
            return _of_code(cast("grpc.Call", error))  # what a call raises is that call
        case ValueError():  # the client itself refuses what it is given; its engine in this process, what the server would refuse
            return _said(FailureKind.UNKNOWN if "not found" in str(error) else FailureKind.REJECTED, _one_line(str(error)))
    return None


def is_failure(error: BaseException, kind: FailureKind) -> bool:
    """Whether ``error`` is a failure of this kind."""
    failure = failure_of(error)
    return failure is not None and failure.kind is kind


def _of_status(error: UnexpectedResponse) -> Failure:
    status = error.status_code or 0
    words = _words_of(error.content) or error.reason_phrase or "no reason given"
    if status < 400:
        return Failure(FailureKind.NOT_QDRANT, f"{status} {words}")
    kind = _STATUSES.get(status, FailureKind.REJECTED if status < 500 else FailureKind.FAILED)
    return _said(kind, f"{status} {words}")


def _of_transport(error: Exception) -> Failure:
    words = _one_line(str(error)) or type(error).__name__
    if isinstance(error, httpx.TimeoutException):
        return Failure(FailureKind.TIMED_OUT, words)
    if isinstance(error, httpx.TransportError):
        return _said(FailureKind.UNREACHABLE, words)
    if isinstance(error, ValidationError | json.JSONDecodeError):
        return Failure(FailureKind.NOT_QDRANT, "the answer is not one of Qdrant's")
    return Failure(FailureKind.FAILED, words)


def _of_code(call: grpc.Call) -> Failure:
    words = _one_line(call.details() or "") or call.code().name
    metadata = dict(call.trailing_metadata() or ())
    if call.code() is grpc.StatusCode.RESOURCE_EXHAUSTED and "retry-after" in metadata:  # the client reads no other than whole seconds
        return Failure(FailureKind.BUSY, words)
    return _said(_CODES.get(call.code(), FailureKind.FAILED), words)


def _said(kind: FailureKind, words: str) -> Failure:
    lower = words.lower()
    for kinds, sign, meant in _SAID:
        if kind in kinds and sign in lower:
            return Failure(meant, words)
    return Failure(kind, words)


def _words_of(content: bytes) -> str:
    """The reason in an error's body, ``{"status": {"error": "..."}}``, or the body itself."""
    try:
        body = json.loads(content)
    except ValueError:
        return _one_line(content.decode("utf-8", "replace"))
    status = body.get("status") if isinstance(body, dict) else None
    return _one_line(str(status.get("error") if isinstance(status, dict) else body))


def _one_line(text: str) -> str:
    return " ".join(text.split())[:_WORDS_AT_MOST]
