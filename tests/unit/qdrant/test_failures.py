"""What a failed call means, and what is done about it."""

import json
from typing import Any

import grpc
import httpx
import pytest
from pydantic import BaseModel, ValidationError
from qdrant_client.common.client_exceptions import QdrantException, ResourceExhaustedResponse
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

from docmill.adapters.qdrant.calling import Caller, error_of
from docmill.adapters.qdrant.failures import TRANSIENT, Failure, FailureKind, NotCompleted, failure_of
from docmill.domain.errors import DiskFull, ExitCode, StoreDown, StoreRejected, WrongDimension


def answered(status: int, said: str = "", body: bytes | None = None) -> UnexpectedResponse:
    """What the client raises for this answer."""
    content = json.dumps({"status": {"error": said}, "time": 0.0}).encode() if body is None else body
    return UnexpectedResponse(status, "", content, httpx.Headers())


class Ended(grpc.RpcError, grpc.Call):
    """A gRPC call that ended without an answer."""

    def __init__(self, code: grpc.StatusCode, details: str = "", metadata: tuple[tuple[str, str], ...] = ()) -> None:
        self._parts = code, details, metadata

    def code(self) -> grpc.StatusCode:
        return self._parts[0]

    def details(self) -> str:
        return self._parts[1]

    def trailing_metadata(self) -> Any:
        return self._parts[2]

    initial_metadata = trailing_metadata

    def is_active(self) -> bool:
        return False

    def time_remaining(self) -> None:
        return None

    def cancel(self) -> bool:
        return False

    def add_callback(self, callback: object) -> bool:
        return False


class Wanted(BaseModel):
    title: str


def not_understood() -> ValidationError:
    with pytest.raises(ValidationError) as caught:
        Wanted.model_validate({})
    return caught.value


CODE = grpc.StatusCode
TABLE = [
    (ResponseHandlingException(httpx.ConnectError("[Errno 111] Connection refused")), FailureKind.UNREACHABLE),
    (ResponseHandlingException(httpx.RemoteProtocolError("Server disconnected without sending a response.")), FailureKind.UNREACHABLE),
    (ResponseHandlingException(httpx.ReadError("")), FailureKind.UNREACHABLE),
    (ResponseHandlingException(httpx.ReadTimeout("timed out")), FailureKind.TIMED_OUT),
    (ResponseHandlingException(httpx.ConnectTimeout("timed out")), FailureKind.TIMED_OUT),
    (ResponseHandlingException(httpx.PoolTimeout("")), FailureKind.TIMED_OUT),
    (ResponseHandlingException(httpx.ConnectError("[SSL: CERTIFICATE_VERIFY_FAILED] self-signed")), FailureKind.UNTRUSTED),
    (ResponseHandlingException(httpx.ConnectError("[SSL: WRONG_VERSION_NUMBER] wrong version number")), FailureKind.UNTRUSTED),
    (ResponseHandlingException(not_understood()), FailureKind.NOT_QDRANT),
    (json.JSONDecodeError("Expecting value", "<html>", 0), FailureKind.NOT_QDRANT),
    (ResourceExhaustedResponse("Write rate limit exceeded", 3), FailureKind.RATE_LIMITED),
    (QdrantException("Retry-After header value is not a valid integer: soon"), FailureKind.BUSY),
    (answered(301), FailureKind.NOT_QDRANT),
    (answered(400, "Wrong input: Vector dimension error: expected dim: 3, got 2"), FailureKind.WRONG_DIMENSION),
    (answered(400, "Payload error: JSON payload (33554500 bytes) is larger than allowed (limit: 33554432 bytes)."), FailureKind.TOO_LARGE),
    (answered(400, "Wrong input: Collection `a` already exists!"), FailureKind.EXISTS),
    (answered(400, "Format error in JSON body: value x is not a valid point ID"), FailureKind.REJECTED),
    (answered(401, "Must provide an API key"), FailureKind.DENIED),
    (answered(403, "Forbidden"), FailureKind.DENIED),
    (answered(404, "Not found: Collection `a` doesn't exist!"), FailureKind.UNKNOWN),
    (answered(408, "Request timeout"), FailureKind.TIMED_OUT),
    (answered(409, "Wrong input: Collection `a` already exists!"), FailureKind.EXISTS),
    (answered(413), FailureKind.TOO_LARGE),
    (answered(422, "unknown field"), FailureKind.REJECTED),
    (answered(429, "Operation requires 300 tokens but limit allows only 100 tokens"), FailureKind.TOO_LARGE),
    (answered(429, body=b"<html>"), FailureKind.TOO_LARGE),
    (answered(500, "Service internal error: boom"), FailureKind.FAILED),
    (answered(500, "Service internal error: No space left on device (os error 28)"), FailureKind.NO_ROOM),
    (answered(507, "Not enough space"), FailureKind.NO_ROOM),
    (answered(502, body=b"<html>bad gateway</html>"), FailureKind.BUSY),
    (answered(503), FailureKind.BUSY),
    (answered(504), FailureKind.BUSY),
    (Ended(CODE.UNAVAILABLE, "failed to connect to all addresses; Connection refused"), FailureKind.UNREACHABLE),
    (Ended(CODE.UNAVAILABLE, "Ssl handshake failed: CERTIFICATE_VERIFY_FAILED"), FailureKind.UNTRUSTED),
    (Ended(CODE.DEADLINE_EXCEEDED), FailureKind.TIMED_OUT),
    (Ended(CODE.RESOURCE_EXHAUSTED, "Received message larger than max"), FailureKind.TOO_LARGE),
    (Ended(CODE.RESOURCE_EXHAUSTED, "later", (("retry-after", "0.5"),)), FailureKind.BUSY),
    (Ended(CODE.OUT_OF_RANGE, "decoded message length too large"), FailureKind.TOO_LARGE),
    (Ended(CODE.NOT_FOUND, "Not found: Collection `a` doesn't exist!"), FailureKind.UNKNOWN),
    (Ended(CODE.ALREADY_EXISTS), FailureKind.EXISTS),
    (Ended(CODE.INVALID_ARGUMENT, "Wrong input: Collection `a` already exists!"), FailureKind.EXISTS),
    (Ended(CODE.INVALID_ARGUMENT, "Wrong input: Vector dimension error: expected dim: 3, got 2"), FailureKind.WRONG_DIMENSION),
    (Ended(CODE.INVALID_ARGUMENT, "bad"), FailureKind.REJECTED),
    (Ended(CODE.UNAUTHENTICATED), FailureKind.DENIED),
    (Ended(CODE.PERMISSION_DENIED), FailureKind.DENIED),
    (Ended(CODE.UNIMPLEMENTED), FailureKind.NOT_QDRANT),
    (Ended(CODE.INTERNAL, "boom"), FailureKind.FAILED),
    (answered(400, 'Bad request: Limit exceeded 1000 > 100 for "limit". Help: Reduce the "limit" parameter'), FailureKind.TOO_LARGE),
    (NotCompleted(), FailureKind.TIMED_OUT),
    (ValueError("Cannot invoke RPC on closed channel!"), FailureKind.FAILED),
    (ValueError("Collection a not found"), FailureKind.UNKNOWN),
    (ValueError("Point id x is not a valid UUID"), FailureKind.REJECTED),
    (KeyError("a defect of ours"), None),
    (KeyboardInterrupt(), None),
]


@pytest.mark.parametrize(("error", "kind"), TABLE, ids=lambda value: f"{value}"[:60] if not isinstance(value, str) else value)
def test_every_failure_of_the_client_has_its_meaning(error: BaseException, kind: FailureKind | None) -> None:
    failure = failure_of(error)
    assert (failure.kind if failure else None) == kind


@pytest.mark.parametrize(("error", "kind"), TABLE, ids=lambda value: f"{value}"[:60] if not isinstance(value, str) else value)
def test_a_call_is_made_again_only_where_the_same_call_may_work_later(error: BaseException, kind: FailureKind | None) -> None:
    calls = []

    def work() -> None:
        calls.append(1)
        raise error

    caller = Caller("here:1", attempts=3, budget_seconds=60.0, sleep=lambda _: None)
    with pytest.raises(BaseException):  # noqa: B017, PT011  # which one it is, is the next test's
        caller.call(work, "handbook")
    assert len(calls) == (3 if kind in TRANSIENT else 1)


@pytest.mark.parametrize("kind", FailureKind)
def test_every_kind_has_an_error_of_one_line_that_names_the_server(kind: FailureKind) -> None:
    error = error_of(Failure(kind, "the server's words", 3.0), "db.example:6333", "handbook")
    assert "db.example:6333" in str(error)
    assert "\n" not in str(error)
    match kind:
        case FailureKind.UNKNOWN | FailureKind.REJECTED | FailureKind.TOO_LARGE | FailureKind.EXISTS:
            assert type(error) is StoreRejected
        case FailureKind.WRONG_DIMENSION:
            assert type(error) is WrongDimension
        case FailureKind.NO_ROOM:
            assert type(error) is DiskFull
        case _:
            assert type(error) is StoreDown
            assert error.exit_code == ExitCode.SERVICE_DOWN


def test_a_refused_key_is_told_with_its_setting() -> None:
    assert "DOCMILL_QDRANT_API_KEY" in str(error_of(Failure(FailureKind.DENIED, "401"), "here:1", None))


def test_a_server_that_names_a_time_is_left_alone_until_then() -> None:
    waits: list[float] = []
    errors: list[Exception] = [ResourceExhaustedResponse("later", 7), answered(503)]

    def work() -> str:
        if errors:
            raise errors.pop(0)
        return "done"

    assert Caller("here:1", attempts=5, budget_seconds=60.0, sleep=waits.append).call(work) == "done"
    assert 7.0 <= waits[0] <= 8.0
    assert 0.0 <= waits[1] <= 0.4


def test_a_time_that_is_longer_than_the_budget_is_not_waited_for() -> None:
    waits: list[float] = []

    def work() -> None:
        raise ResourceExhaustedResponse("later", 3600)

    with pytest.raises(StoreDown, match="3600 s"):
        Caller("here:1", attempts=5, budget_seconds=60.0, sleep=waits.append).call(work)
    assert waits == []


def test_a_request_that_is_too_large_is_sent_in_parts_and_never_again_unchanged() -> None:
    sent: list[list[int]] = []

    def work(part: Any) -> int:
        sent.append(list(part))
        if len(part) > 3:
            raise answered(429, "Operation requires more tokens")
        return len(part)

    caller = Caller("here:1", attempts=5, budget_seconds=60.0, sleep=lambda _: None)
    assert sum(caller.call_in_parts(list(range(10)), work, "handbook")) == 10
    assert len({tuple(part) for part in sent}) == len(sent)
    assert [item for part in sent if len(part) <= 3 for item in part] == list(range(10))


def test_one_item_that_is_too_large_is_rejected_at_once() -> None:
    sent = []

    def work(part: Any) -> None:
        sent.append(part)
        raise answered(429, "Operation requires 2 tokens but limit allows only 1 tokens")

    with pytest.raises(StoreRejected, match="limit allows only"):
        Caller("here:1", attempts=5, budget_seconds=60.0, sleep=lambda _: None).call_in_parts([1], work, "handbook")
    assert len(sent) == 1
