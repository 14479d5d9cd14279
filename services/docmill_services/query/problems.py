"""Errors as RFC 9457 problem documents, each with a stable ``code``."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

from pydantic_core import to_json
from starlette.exceptions import HTTPException
from starlette.responses import Response

from docmill.domain.errors import (
    AllStrategiesFailed,
    CallCancelled,
    DiskFull,
    DocmillError,
    DocumentUnknown,
    KeyUnknown,
    KnowledgeBaseUnknown,
    NotAvailable,
    ProviderError,
    ProviderPermanent,
    ProviderRateLimited,
    ProviderTransient,
    QueryInvalid,
    RootUnavailable,
    RunUnknown,
    ServiceDown,
    StrategyLate,
    Superseded,
    UsageError,
)

MEDIA_TYPE: Final = "application/problem+json"

#: The status of each error; one that is not here has its parent's, and 500 stands for all others.
STATUS_OF: Final[Mapping[type[DocmillError], int]] = {
    QueryInvalid: 422,
    UsageError: 400,
    KnowledgeBaseUnknown: 404,
    DocumentUnknown: 404,
    RunUnknown: 404,
    KeyUnknown: 404,
    Superseded: 409,
    NotAvailable: 501,
    ProviderPermanent: 502,
    ProviderError: 502,
    ProviderRateLimited: 503,
    CallCancelled: 503,
    ProviderTransient: 503,
    AllStrategiesFailed: 503,
    StrategyLate: 503,
    ServiceDown: 503,
    RootUnavailable: 503,
    DiskFull: 503,
    DocmillError: 500,
}

#: Codes of what is wrong with the request as HTTP, with their status.
REQUEST_CODES: Final[Mapping[str, int]] = {
    "request.malformed": 400,
    "request.unauthorized": 401,
    "request.forbidden": 403,
    "request.host_refused": 403,
    "request.origin_refused": 403,
    "request.not_found": 404,
    "request.method_not_allowed": 405,
    "request.too_large": 413,
    "request.invalid": 422,
    "request.too_many": 429,
    "server.busy": 503,
    "server.stopping": 503,
    "internal": 500,
}

_FOLDERS: Final = re.compile(r"(?<![\w.:/~-])/(?:[^\s/:'\"]+/)+")
#: RFC 9110's words, which older Pythons do not have: a title is the same on each of them.
_TITLES: Final = {413: "Content Too Large", 416: "Range Not Satisfiable", 422: "Unprocessable Content"}


@dataclass(frozen=True, slots=True)
class FieldError:
    """What is wrong with one field; ``field`` is its path with dots, "" for the body itself."""

    field: str
    message: str


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem document before it is written."""

    code: str
    status: int
    title: str
    detail: str
    errors: Sequence[FieldError] = ()
    retry_after_seconds: int | None = None

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers that go with it: when to ask again (RFC 9110, section 10.2.3)."""
        return {} if self.retry_after_seconds is None else {"retry-after": str(self.retry_after_seconds)}


class RefusedRequest(HTTPException):
    """A request that HTTP itself refuses; passes through the framework with its problem."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(REQUEST_CODES[code], detail)
        self.problem = request_problem(code, detail)


def request_problem(code: str, detail: str, errors: Sequence[FieldError] = (), *, retry_after_seconds: int | None = None) -> Problem:
    """The problem of one of ``REQUEST_CODES``."""
    status = REQUEST_CODES[code]
    return Problem(code, status, _TITLES.get(status) or HTTPStatus(status).phrase, detail, errors, retry_after_seconds)


def problem_of(error: DocmillError) -> Problem:
    """The problem of an error of ours; folders of this machine are cut from its message."""
    status = next(STATUS_OF[kind] for kind in type(error).__mro__ if kind in STATUS_OF)
    title = (type(error).__doc__ or "").strip().partition("\n")[0].rstrip(".")
    return Problem(error.code, status, title, without_folders(str(error)), retry_after_seconds=_retry_after_of(error))


def _retry_after_of(error: DocmillError) -> int | None:
    """When to ask again, in whole seconds, rounded up: sooner, a provider would be left alone still."""
    return None if error.retry_after_seconds is None else max(1, math.ceil(error.retry_after_seconds))


def without_folders(message: str) -> str:
    """``message`` with absolute paths reduced to their last part."""
    return _FOLDERS.sub("…/", message)


def problem_body(problem: Problem, request_id: str) -> bytes:
    """The document as JSON."""
    body: dict[str, object] = {
        "type": f"urn:docmill:problem:{problem.code}",
        "title": problem.title,
        "status": problem.status,
        "code": problem.code,
        "detail": problem.detail,
        "request_id": request_id,
    }
    if problem.errors:
        body["errors"] = [{"field": error.field, "message": error.message} for error in problem.errors]
    return to_json(body)


def problem_response(problem: Problem, request_id: str, headers: Mapping[str, str] | None = None) -> Response:
    """The response that carries it."""
    return Response(problem_body(problem, request_id), problem.status, {**problem.headers, **(headers or {})}, MEDIA_TYPE)
