"""The outermost layer: request ids, who may ask, how much may be sent, metrics, and the last resort for errors."""

import asyncio
import re
from ipaddress import ip_address
from time import perf_counter
from typing import Final
from uuid import uuid4

import structlog
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from docmill.domain.access import ApiKey, Right
from docmill_services.query.guard import CALLER, NOBODY, Guard, right_for
from docmill_services.query.metrics import Metrics
from docmill_services.query.problems import Problem, RefusedRequest, problem_response, request_problem

MAX_BODY_BYTES: Final = 1024 * 1024
REQUEST_ID_KEY: Final = "docmill.request_id"
#: In the scope of what the service asks itself for a request that was counted.
COUNTED_KEY: Final = "docmill.counted"

_HEADERS: Final = (b"host", b"origin", b"authorization", b"x-request-id", b"content-length")
_FOR_ALL: Final = " for all knowledge bases"
_REQUEST_ID: Final = re.compile(rb"[A-Za-z0-9._-]{1,128}")
_log = structlog.get_logger("docmill.http")


class Edge:
    """ASGI middleware around the whole application.

    A browser page must not reach a service on this machine: a ``Host`` that is no loopback name is refused (it is how DNS rebinding
    shows), and so is an ``Origin`` that is not this service's own. Where a key is needed, every request but those for the service's own
    health must bring one instead, which no page of another origin can.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics, guard: Guard) -> None:
        self._app = app
        self._metrics = metrics
        self._guard = guard

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = {name: value for name, value in scope["headers"] if name in _HEADERS}
        given_id = headers.get(b"x-request-id", b"")
        request_id = given_id.decode() if _REQUEST_ID.fullmatch(given_id) else uuid4().hex
        scope[REQUEST_ID_KEY] = request_id
        sent_status = 0

        async def send_with_headers(message: Message) -> None:
            nonlocal sent_status
            if message["type"] == "http.response.start":
                sent_status = message["status"]
                message["headers"] = [
                    *message.get("headers", ()),
                    (b"x-request-id", request_id.encode()),
                    (b"x-content-type-options", b"nosniff"),
                ]
            await send(message)

        started = perf_counter()
        try:
            refused = await self._refusal(scope, headers)
            if refused is not None:
                challenge = {"www-authenticate": "Bearer"} if refused.status == 401 else None
                await problem_response(refused, request_id, challenge)(scope, receive, send_with_headers)
            else:
                await self._app(scope, _bounded(receive), send_with_headers)
        except asyncio.CancelledError:
            # The server stops and this request had its time; its client gets an answer instead of a broken connection.
            if sent_status:
                raise
            stopping = request_problem("server.stopping", "docmill is stopping; ask again when it runs")
            await problem_response(stopping, request_id)(scope, receive, send_with_headers)
        except Exception:
            _log.exception("request failed", request_id=request_id, method=scope["method"], seconds=round(perf_counter() - started, 3))
            if sent_status:
                raise
            problem = request_problem("internal", f"docmill failed to answer; its log has more under request {request_id}")
            await problem_response(problem, request_id)(scope, receive, send_with_headers)
        finally:
            self._metrics.count_request(scope["method"], getattr(scope.get("route"), "path", "unknown"), sent_status)

    async def _refusal(self, scope: Scope, headers: dict[bytes, bytes]) -> Problem | None:
        caller = await self._guard.caller(headers.get(b"authorization", b""))
        CALLER.set(NOBODY if isinstance(caller, Problem) else caller)  # always: this may be a task of a request before it
        refused = _caller_refusal(headers) if caller is None else await self._key_refusal(caller, scope)
        if refused is not None:
            return refused
        length = headers.get(b"content-length", b"0")
        if length.isdigit() and int(length) > MAX_BODY_BYTES:
            return _too_large().problem
        return None

    async def _key_refusal(self, caller: ApiKey | Problem, scope: Scope) -> Problem | None:
        wanted = right_for(scope["method"], scope["path"])
        if wanted is None:
            return None
        if isinstance(caller, Problem):
            return caller
        if not caller.right.has(wanted) or (wanted is Right.ADMIN and caller.knowledge_bases is not None):
            return request_problem(
                "request.forbidden", f"this needs a key with the right `{wanted}`{_FOR_ALL if wanted is Right.ADMIN else ''}"
            )
        return None if COUNTED_KEY in scope else await self._guard.too_many(caller)


def is_loopback(host: str) -> bool:
    """Whether ``host`` names this machine to itself: ``localhost`` or a loopback address."""
    if host.lower() == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _caller_refusal(headers: dict[bytes, bytes]) -> Problem | None:
    host = headers.get(b"host", b"").decode("latin-1")
    if not is_loopback(_without_port(host)):
        return request_problem("request.host_refused", "the Host header names no loopback address; use 127.0.0.1 or localhost")
    origin = headers.get(b"origin")
    if origin is not None and origin.decode("latin-1").lower() != f"http://{host.lower()}":
        return request_problem("request.origin_refused", "requests from web pages of other origins are refused")
    return None


def _without_port(host: str) -> str:
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]


def _bounded(receive: Receive) -> Receive:
    received = 0

    async def receive_bounded() -> Message:
        nonlocal received
        message = await receive()
        if message["type"] == "http.request":
            received += len(message.get("body", b""))
            if received > MAX_BODY_BYTES:
                raise _too_large()
        return message

    return receive_bounded


def _too_large() -> RefusedRequest:
    return RefusedRequest("request.too_large", f"the body is larger than {MAX_BODY_BYTES} bytes")
