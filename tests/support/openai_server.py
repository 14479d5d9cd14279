"""A small server of the OpenAI embeddings API, as a process of its own, that can be told to misbehave.

A vector is a hash of its text. What it should do wrong, one item for each of the next requests:

- ``{"status": 429, "body": {...}}``: that answer; a string as body is sent as it is;
- ``{"delay_seconds": 60}``: the right answer, late;
- ``{"disconnect": true}``: no answer, the connection ends;
- ``{"refuses": "word"}``: from then on, 400 for every request with a text that has the word, which ``""`` is in; ``null`` ends that;
- ``{"data": "turned" | "repeated" | "missing" | "renumbered" | "zero" | "nan" | "huge" | "short" | "text"}``: an answer with such vectors.
"""

import argparse
import json
import subprocess
import sys
import threading
import time
import urllib.request
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from docmill.adapters.memory.models import hash_vector

Json = Any


class OpenAiServer:
    """A running server, seen from the test."""

    def __init__(self, port: int) -> None:
        self.address = f"http://127.0.0.1:{port}"
        self.base_url = f"{self.address}/v1"

    def misbehave(self, *faults: dict[str, Json]) -> None:
        """The next requests meet these faults, in this order."""
        self._call("/control/faults", json.dumps(faults).encode())

    def take_requests(self) -> list[dict[str, Json]]:
        """The requests since the last call, each ``{"path", "authorization", "body"}``."""
        taken: list[dict[str, Json]] = self._call("/control/take", b"")
        return taken

    def _call(self, path: str, body: bytes) -> Json:
        with urllib.request.urlopen(urllib.request.Request(self.address + path, body), timeout=10) as answer:
            return json.load(answer)


@contextmanager
def running_openai_server(*, dimensions: int = 8, delay_seconds: float = 0.0) -> Iterator[OpenAiServer]:
    """A server that makes vectors of ``dimensions`` where a request does not say, ``delay_seconds`` after each request."""
    command = [sys.executable, "-u", __file__, f"--dimensions={dimensions}", f"--delay-seconds={delay_seconds}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield OpenAiServer(int(process.stdout.readline()))
        finally:
            process.kill()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, dimensions: int, delay_seconds: float) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.dimensions = dimensions
        self.delay_seconds = delay_seconds
        self.lock = threading.Lock()
        self.faults: deque[dict[str, Json]] = deque()
        self.refused_word: str | None = None
        self.requests: list[dict[str, Json]] = []


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        match self.path:
            case "/control/faults":
                with self.server.lock:
                    for fault in json.loads(body):
                        if "refuses" in fault:
                            self.server.refused_word = fault["refuses"]
                        else:
                            self.server.faults.append(fault)
                self._answer(200, {})
            case "/control/take":
                with self.server.lock:
                    taken, self.server.requests = self.server.requests, []
                self._answer(200, taken)
            case "/v1/embeddings":
                self._embeddings(json.loads(body))
            case _:
                self._answer(404, {"error": {"message": f"there is no {self.path}"}})

    def _embeddings(self, body: dict[str, Json]) -> None:
        with self.server.lock:
            self.server.requests.append({"path": self.path, "authorization": self.headers.get("Authorization"), "body": body})
            fault = self.server.faults.popleft() if self.server.faults else {}
            refused_word = self.server.refused_word
        if fault.get("disconnect"):
            self.close_connection = True
            return
        time.sleep(fault.get("delay_seconds", self.server.delay_seconds))
        if "status" in fault:
            self._answer(fault["status"], fault["body"])
            return
        if refused_word is not None and any(refused_word in text for text in body["input"]):
            self._answer(400, {"error": {"message": "this input is too long"}})
            return
        dimensions = body.get("dimensions", self.server.dimensions)
        data = [
            {"object": "embedding", "index": index, "embedding": list(hash_vector(text, dimensions))}
            for index, text in enumerate(body["input"])
        ]
        _spoil(data, fault.get("data"))
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        self._answer(200, {"object": "list", "model": body["model"], "data": data, "usage": usage})

    def _answer(self, status: int, body: Json) -> None:
        content = body.encode() if isinstance(body, str) else json.dumps(body).encode()
        head = f"HTTP/1.1 {status} -\r\nContent-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
        # In one write: a second small one would wait for the first one's acknowledgement.
        self.wfile.write(head.encode() + content)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Says nothing: only the port goes to the output."""


def _spoil(data: list[dict[str, Json]], how: str | None) -> None:
    match how:
        case "turned":
            data.reverse()
        case "repeated":
            data.append(data[0])
        case "missing":
            data.pop()
        case "renumbered":
            data[0]["index"] = len(data)
        case "zero":
            data[0]["embedding"] = [0.0] * len(data[0]["embedding"])
        case "nan":
            data[0]["embedding"][0] = float("nan")
        case "huge":
            data[0]["embedding"][0] = 1e300
        case "short":
            data[0]["embedding"].pop()
        case "text":
            data[0]["embedding"] = "AACAPwAAgD8="


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--dimensions", type=int, required=True)
    parser.add_argument("--delay-seconds", type=float, required=True)
    given = parser.parse_args()
    server = _Server(given.dimensions, given.delay_seconds)
    sys.stdout.write(f"{server.server_address[1]}\n")
    sys.stdout.flush()
    server.serve_forever()


if __name__ == "__main__":
    main()
