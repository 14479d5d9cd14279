"""A small HTTP server before Elasticsearch, or in its place, that does what servers and networks do on bad days.

A plan is one action for each of the next requests whose path contains a text; requests without an action are passed on.
"""

import json
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

Json = Any


@dataclass(frozen=True)
class Answer:
    """This answer, without passing the request on."""

    status: int
    body: Json
    product: str | None = "Elasticsearch"


@dataclass(frozen=True)
class RefuseItems:
    """The bulk request without some of its items, which are answered with ``status``."""

    status: int
    positions: frozenset[int]
    kind: str = "es_rejected_execution_exception"


@dataclass(frozen=True)
class Drop:
    """No answer: the connection ends, before or after the request was applied."""

    after_applying: bool = False


@dataclass(frozen=True)
class Hang:
    """The request is applied, and no answer comes until the client gives up."""


Action = Answer | RefuseItems | Drop | Hang


class ElasticsearchProxy:
    """A running proxy, seen from the test."""

    def __init__(self, server: "_Server") -> None:
        self._server = server
        scheme = "https" if isinstance(server.socket, ssl.SSLSocket) else "http"
        self.url = f"{scheme}://127.0.0.1:{server.server_address[1]}"

    def plan(self, path: str, *actions: Action) -> None:
        """The next requests whose path contains ``path`` meet these actions, in this order."""
        with self._server.lock:
            self._server.plans += [(path, action) for action in actions]

    def forget(self) -> None:
        """Nothing is planned any more."""
        with self._server.lock:
            self._server.plans.clear()

    @property
    def unmet(self) -> int:
        """How many planned actions no request has met yet."""
        return len(self._server.plans)

    def take_requests(self) -> list[tuple[str, str]]:
        """Method and path of each request since the last call."""
        with self._server.lock:
            taken, self._server.requests = self._server.requests, []
        return taken

    @property
    def authorizations(self) -> list[str | None]:
        """The ``Authorization`` of each request."""
        return [headers.get("authorization") for headers in self._server.headers]

    @property
    def media_types(self) -> set[str]:
        """What was sent and what was wanted, over all requests."""
        return {headers[name] for headers in self._server.headers for name in ("accept", "content-type") if name in headers}


@contextmanager
def running_proxy(upstream: str | None, tls: ssl.SSLContext | None = None) -> Iterator[ElasticsearchProxy]:
    """A proxy before ``upstream``, with TLS where that is given; without an upstream every request must meet a plan."""
    server = _Server(upstream)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield ElasticsearchProxy(server)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, upstream: str | None) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.upstream = upstream
        self.lock = threading.Lock()
        self.plans: list[tuple[str, Action]] = []
        self.requests: list[tuple[str, str]] = []
        self.headers: list[dict[str, str]] = []

    def next_action(self, method: str, path: str, headers: dict[str, str]) -> Action | None:
        with self.lock:
            self.requests.append((method, path))
            self.headers.append(headers)
            for place, (part, action) in enumerate(self.plans):
                if part in path:
                    del self.plans[place]
                    return action
        return None


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def __getattr__(self, name: str) -> Any:
        if name.startswith("do_"):
            return self._handle
        raise AttributeError(name)

    def _handle(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        match self.server.next_action(self.command, self.path, {name.lower(): value for name, value in self.headers.items()}):
            case None:
                self._answer(*self._upstream(body))
            case Answer(status, said, product):
                self._answer(status, said if isinstance(said, bytes) else json.dumps(said).encode(), product)
            case RefuseItems() as refusal:
                self._answer(*self._without_items(body, refusal))
            case Drop(after_applying):
                if after_applying:
                    self._upstream(body)
                self.close_connection = True
            case Hang():
                self._upstream(body)
                with suppress(OSError):
                    self.connection.recv(1, socket.MSG_PEEK)
                self.close_connection = True

    def _upstream(self, body: bytes) -> tuple[int, bytes, str | None]:
        if self.server.upstream is None:
            return 500, b'{"error": "no action is planned for this request"}', None
        connection = HTTPConnection(urlsplit(self.server.upstream).netloc, timeout=30)
        headers = {name: value for name, value in self.headers.items() if name.lower() in ("accept", "content-type", "authorization")}
        try:
            connection.request(self.command, self.path, body or None, headers)
            answer = connection.getresponse()
            return answer.status, answer.read(), answer.getheader("X-elastic-product")
        finally:
            connection.close()

    def _without_items(self, body: bytes, refusal: RefuseItems) -> tuple[int, bytes, str | None]:
        items = _items(body.splitlines())
        kept = [item for place, item in enumerate(items) if place not in refusal.positions]
        passed = iter(())
        status, product = 200, "Elasticsearch"
        if kept:
            status, said, _ = self._upstream(b"".join(line + b"\n" for item in kept for line in item))
            passed = iter(json.loads(said)["items"])
        refused = {"status": refusal.status, "error": {"type": refusal.kind, "reason": "planned by the test"}}
        answers = [{"index": refused} if place in refusal.positions else next(passed) for place in range(len(items))]
        return status, json.dumps({"items": answers}).encode(), product

    def _answer(self, status: int, body: bytes, product: str | None) -> None:
        named = f"X-elastic-product: {product}\r\n" if product else ""
        head = f"HTTP/1.1 {status} -\r\nContent-Type: application/json\r\n{named}Content-Length: {len(body)}\r\n\r\n"
        # In one write: a second small one would wait for the first one's acknowledgement.
        self.wfile.write(head.encode() + (b"" if self.command == "HEAD" else body))

    def handle(self) -> None:
        # A client that does not trust the certificate ends the connection.
        with suppress(ssl.SSLError, ConnectionError):
            super().handle()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Says nothing."""


def _items(lines: list[bytes]) -> list[list[bytes]]:
    """The lines of each operation of a bulk request."""
    items: list[list[bytes]] = []
    rest = iter(lines)
    for line in rest:
        items.append([line] if "delete" in json.loads(line) else [line, next(rest)])
    return items
