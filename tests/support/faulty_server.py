"""What the small model servers share: each is a process of its own, notes its requests, and can be told to misbehave.

Faults are dictionaries, each for one of the next requests; what they may say is told by the server. ``{"refuses": "word"}`` is a fault for
every request from then on, until ``null``.
"""

import json
import os
import subprocess
import sys
import threading
import urllib.request
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeVar

Json = Any


class ServerSeen:
    """A running server, seen from the test."""

    def __init__(self, port: int) -> None:
        self.address = f"http://127.0.0.1:{port}"

    def misbehave(self, *faults: dict[str, Json]) -> None:
        """The next requests meet these faults, in this order."""
        self.call("/control/faults", json.dumps(faults).encode())

    def behave(self) -> None:
        """Whatever an earlier test wanted and did not meet is forgotten, and so is what it asked."""
        self.call("/control/behave", b"")

    def take_requests(self) -> list[dict[str, Json]]:
        """The requests since the last call, as the server notes them."""
        taken: list[dict[str, Json]] = self.call("/control/take", b"")
        return taken

    def call(self, path: str, body: bytes) -> Json:
        with urllib.request.urlopen(urllib.request.Request(self.address + path, body), timeout=10) as answer:
            return json.load(answer)


Seen = TypeVar("Seen", bound=ServerSeen)


@contextmanager
def server_process(module: str, seen: type[Seen], *options: str) -> Iterator[Seen]:
    """Runs ``module``, whose ``main`` ends with ``serve``, until the context ends."""
    settings = os.environ | {"PYTHONPATH": ":".join(folder for folder in sys.path if folder)}
    with subprocess.Popen([sys.executable, "-u", "-m", module, *options], stdout=subprocess.PIPE, text=True, env=settings) as process:
        try:
            assert process.stdout is not None
            yield seen(int(process.stdout.readline().rpartition(":")[2]))
        finally:
            process.kill()


class FaultyServer(ThreadingHTTPServer):
    """Keeps what it was told and asked."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, handler: type["FaultyHandler"]) -> None:
        super().__init__(("127.0.0.1", 0), handler)
        self.lock = threading.Lock()
        self.faults: deque[dict[str, Json]] = deque()
        self.refused_word: str | None = None
        self.requests: list[dict[str, Json]] = []

    def forget(self) -> None:
        """Begins anew; the lock is held."""
        self.faults.clear()
        self.refused_word = None
        self.requests = []

    def take_fault(self, fault: dict[str, Json]) -> None:
        """Notes one fault; the lock is held."""
        if "refuses" in fault:
            self.refused_word = fault["refuses"]
        else:
            self.faults.append(fault)

    def note(self, request: dict[str, Json]) -> dict[str, Json]:
        """Notes a request; the fault that it meets, empty for none."""
        with self.lock:
            self.requests.append(request)
            return self.faults.popleft() if self.faults else {}


class FaultyHandler(BaseHTTPRequestHandler):
    """Answers the test, and leaves everything else to ``serve``."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: FaultyServer

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if not self.path.startswith("/control/"):
            self.serve(json.loads(body))
            return
        with self.server.lock:
            told = self.control(self.path.removeprefix("/control/"), body)
        self.answer(200, told)

    def control(self, what: str, body: bytes) -> Json:
        """Does what the test wants; the lock is held."""
        match what:
            case "faults":
                for fault in json.loads(body):
                    self.server.take_fault(fault)
                return {}
            case "behave":
                self.server.forget()
                return {}
            case "take":
                taken, self.server.requests = self.server.requests, []
                return taken
        raise ValueError(what)

    def serve(self, body: dict[str, Json]) -> None:
        """Serves a request of the API."""
        raise NotImplementedError

    def lower_headers(self) -> dict[str, str]:
        return {name.lower(): value for name, value in self.headers.items()}

    def answer(self, status: int, body: Json, headers: Mapping[str, str] | None = None) -> None:
        """An answer as it should be; a string as body is sent as it is."""
        head, content = self.message(status, body, headers)
        # In one write: a second small one would wait for the first one's acknowledgement.
        self.wfile.write(head + content)

    def message(self, status: int, body: Json, headers: Mapping[str, str] | None = None) -> tuple[bytes, bytes]:
        """The head and the body of an answer."""
        content = body if isinstance(body, bytes) else body.encode() if isinstance(body, str) else json.dumps(body).encode()
        fields = {"Content-Type": "application/json", "Content-Length": str(len(content)), **(headers or {})}
        lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        return f"HTTP/1.1 {status} -\r\n{lines}\r\n".encode(), content

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Says nothing: only the port goes to the output."""


def serve(server: FaultyServer) -> None:
    """Tells its port, and serves until the process is killed."""
    sys.stdout.write(f"{server.server_address[1]}\n")
    sys.stdout.flush()
    server.serve_forever()
