"""A server that speaks the part of Qdrant's REST API that docmill uses, as a process or in a thread, and can be told to misbehave.

``python -m support.qdrant_server --port N --folder DIR`` prints its port when it listens. What it should do wrong, one item for each of the
next requests of that kind (``"on": "write"``, the default, ``"read"`` or ``"any"``):

- ``{"status": 503, "headers": {...}}``: that answer; ``"message"`` is its error, ``"body"`` the whole body;
- ``{"disconnect": true}``: no answer, the connection ends; ``{"delay_seconds": 60}``: the right answer, late;
- with ``"apply": true`` the request is served first: so a write may be applied, and its answer lost.
"""

import argparse
import json
import ssl
import subprocess
import sys
import threading
import time
import urllib.request
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from support.qdrant_engine import QdrantEngine, Refused

Json = Any
BODY_LIMIT = 32 * 2**20
_TITLE = "qdrant - vector search engine"
_WRITES = {"PUT", "DELETE", "PATCH"}


class QdrantServer:
    """A running server, seen from the test."""

    def __init__(self, port: int, scheme: str = "http") -> None:
        self.port = port
        self.url = f"{scheme}://127.0.0.1:{port}"
        self._tls = ssl._create_unverified_context() if scheme == "https" else None

    def misbehave(self, *faults: dict[str, Json]) -> None:
        """The next requests meet these faults, in this order."""
        self._call("faults", list(faults))

    def behave(self) -> None:
        """No fault is left, nothing is limited, and the server is up."""
        self._call("behave", {})

    def be_down(self) -> None:
        """Every connection ends without an answer, until it is told to ``behave``."""
        self._call("down", True)

    def limit(self, *, writes: int | None = None, per_second: float = 1.0, reads: int | None = None) -> None:
        """At most so many points in one write, and so many new ones per second once they are used up; at most so many in one answer."""
        self._call("limit", {"writes": writes, "per_second": per_second, "reads": reads})

    def take_requests(self) -> list[dict[str, Json]]:
        """The requests since the last call, each ``{"method", "path", "size_bytes", "points", "key"}``."""
        taken: list[dict[str, Json]] = self._call("take", {})
        return taken

    def _call(self, what: str, body: Json) -> Json:
        request = urllib.request.Request(f"{self.url}/control/{what}", json.dumps(body).encode())
        with urllib.request.urlopen(request, timeout=10, context=self._tls) as answer:
            return json.load(answer)


class FrontServer(ThreadingHTTPServer):
    """The server itself."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, port: int, engine: QdrantEngine, *, api_key: str | None, version: str, title: str = _TITLE) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.engine = engine
        self.api_key = api_key
        self.root = {"title": title, "version": version, "commit": "0"}
        self.lock = threading.Lock()
        self.faults: deque[dict[str, Json]] = deque()
        self.requests: list[dict[str, Json]] = []
        self.is_down = False
        self.most_writes: int | None = None
        self.most_reads: int | None = None
        self.per_second = 1.0
        self.tokens = 0.0
        self.counted_at = time.monotonic()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Says nothing of clients that went away."""
        if not isinstance(sys.exception() if sys.version_info >= (3, 12) else sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)

    def control(self, what: str, body: Json) -> Json:
        """Does what the test wants."""
        with self.lock:
            match what:
                case "faults":
                    self.faults.extend(body)
                case "down":
                    self.is_down = True
                case "behave":
                    self.faults.clear()
                    self.is_down, self.most_writes, self.most_reads = False, None, None
                case "limit":
                    self.most_writes, self.per_second, self.most_reads = body["writes"], body["per_second"], body["reads"]
                    self.tokens = float(body["writes"] or 0)
                case "take":
                    taken, self.requests = self.requests, []
                    return taken
        return {}

    def fault_for(self, is_write: bool) -> dict[str, Json]:
        """The next fault that is for such a request."""
        with self.lock:
            for fault in self.faults:
                if fault.get("on", "write") in ("any", "write" if is_write else "read"):
                    self.faults.remove(fault)
                    return fault
        return {}

    def charge(self, cost: int) -> None:
        """Refuses a write of so many points when there are too many at once, or for now."""
        with self.lock:
            if self.most_writes is None:
                return
            if cost > self.most_writes:
                words = f"Operation requires {cost} tokens but limit allows only {self.most_writes} tokens"
                raise Refused(429, f"Rate limiting exceeded: Write rate limit exceeded: {words}")
            now = time.monotonic()
            self.tokens = min(self.most_writes, self.tokens + (now - self.counted_at) * self.per_second)
            self.counted_at = now
            if cost > self.tokens:
                wait = max(1, round((cost - self.tokens) / self.per_second + 0.5))
                raise Refused(429, "Rate limiting exceeded: Write rate limit exceeded, retry later", {"Retry-After": str(wait)})
            self.tokens -= cost


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: FrontServer

    def do_GET(self) -> None:
        self._serve()

    def do_PUT(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def do_DELETE(self) -> None:
        self._serve()

    def _serve(self) -> None:
        began = time.perf_counter()
        size = int(self.headers.get("Content-Length") or 0)
        content = self.rfile.read(size)
        path = [unquote(part) for part in urlsplit(self.path).path.strip("/").split("/")]
        if path[0] == "control":
            self._answer(200, self.server.control(path[1], json.loads(content)))
            return
        if self.server.is_down:
            self.close_connection = True
            return
        is_write = self.command in _WRITES or path[-1] == "delete"
        fault = self.server.fault_for(is_write) if path != [""] else {}
        status, headers, body = 200, {}, None
        if not fault or fault.get("apply") or "delay_seconds" in fault:
            try:
                body = self._result(path, size, content)
            except Refused as refused:
                status, headers, body = refused.status, refused.headers, _error(refused.message)
            else:
                body = body if path == [""] else {"result": body, "status": "ok", "time": time.perf_counter() - began}
        if "delay_seconds" in fault:
            time.sleep(fault["delay_seconds"])
        if fault.get("disconnect"):
            self.close_connection = True
            return
        if "status" in fault:
            status, headers = fault["status"], fault.get("headers", {})
            body = fault.get("body", _error(fault.get("message", "as the test wants")))
        self._answer(status, body, headers)

    def _result(self, path: list[str], size: int, content: bytes) -> Json:
        if path == [""]:
            return self.server.root
        key = self.headers.get("api-key")
        if self.server.api_key is not None and key != self.server.api_key:
            raise Refused(401, "Must provide an API key or an Authorization bearer token" if key is None else "Invalid API key or JWT")
        if size > BODY_LIMIT:
            raise Refused(400, f"Payload error: JSON payload ({size} bytes) is larger than allowed (limit: {BODY_LIMIT} bytes).")
        body = json.loads(content) if content else {}
        points = len(body.get("points") or body.get("ids") or []) if isinstance(body, dict) else 0
        with self.server.lock:
            noted = {"method": self.command, "path": "/".join(path), "size_bytes": size, "points": points, "key": key}
            self.server.requests.append(noted)
        return self._routed(path, body, points)

    def _routed(self, path: list[str], body: Json, points: int) -> Json:
        engine = self.server.engine
        most, asked = self.server.most_reads, body.get("limit", 0)
        if most is not None and asked > most:
            raise Refused(400, f'Bad request: Limit exceeded {asked} > {most} for "limit". Help: Reduce the "limit" parameter.')
        match [self.command, *path]:
            case ["GET", "collections"]:
                return engine.names()
            case ["GET", "collections", name]:
                return engine.info(name)
            case ["PUT", "collections", name]:
                return engine.create(name, body)
            case ["DELETE", "collections", name]:
                return engine.drop(name)
            case ["PUT", "collections", name, "index"]:
                return engine.index_field(name, body)
            case ["PUT", "collections", name, "points"]:
                self.server.charge(points)
                return engine.upsert(name, body)
            case ["POST", "collections", name, "points", "delete"]:
                self.server.charge(max(1, points))
                return engine.delete(name, body)
            case ["POST", "collections", name, "points"]:
                return engine.retrieve(name, body)
            case ["POST", "collections", name, "points", "scroll"]:
                return engine.scroll(name, body)
            case ["POST", "collections", name, "points", "query"]:
                return engine.query(name, body)
            case ["POST", "collections", name, "points", "count"]:
                return engine.count(name, body)
        raise Refused(404, "")

    def _answer(self, status: int, body: Json, headers: dict[str, str] | None = None) -> None:
        content = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        lines = [f"HTTP/1.1 {status} -", "Content-Type: application/json", f"Content-Length: {len(content)}"]
        lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
        # In one write: a second small one would wait for the first one's acknowledgement.
        self.wfile.write("\r\n".join([*lines, "", ""]).encode() + content)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Says nothing: only the port goes to the output."""


def _error(message: str) -> Json:
    return {"status": {"error": message}, "time": 0.0}


@contextmanager
def qdrant_server_in_thread(
    folder: Path,
    *,
    port: int = 0,
    api_key: str | None = None,
    version: str = "1.18.0",
    title: str = _TITLE,
    tls: ssl.SSLContext | None = None,
) -> Iterator[QdrantServer]:
    """A server in a thread of this process."""
    engine = QdrantEngine(folder)
    server = FrontServer(port, engine, api_key=api_key, version=version, title=title)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield QdrantServer(server.server_address[1], "https" if tls is not None else "http")
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
        engine.close()


@contextmanager
def qdrant_server_process(folder: Path, *, port: int = 0, api_key: str | None = None) -> Iterator[QdrantServer]:
    """A server that is a process of its own; killed at the end, after which another one may go on in its folder."""
    command = [sys.executable, "-u", "-m", "support.qdrant_server", f"--port={port}", f"--folder={folder}"]
    command += [f"--api-key={api_key}"] if api_key is not None else []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[1]) as process:
        try:
            assert process.stdout is not None
            yield QdrantServer(int(process.stdout.readline()))
        finally:
            process.kill()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--api-key")
    parser.add_argument("--version", default="1.18.0")
    given = parser.parse_args()
    server = FrontServer(given.port, QdrantEngine(given.folder), api_key=given.api_key, version=given.version)
    sys.stdout.write(f"{server.server_address[1]}\n")
    sys.stdout.flush()
    server.serve_forever()


if __name__ == "__main__":
    main()
