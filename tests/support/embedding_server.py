"""The embedding APIs of ``embedding_apis`` as a process of its own, which can be told to misbehave.

What it should do wrong, one item for each of the next requests:

- ``{"status": 429, "body": {...}, "headers": {...}}``: that answer; a string as body is sent as it is;
- ``{"delay_seconds": 60}``: the right answer, late;
- ``{"drip_seconds": 0.05}``: the right answer, one byte at a time;
- ``{"drip_seconds": 0.05, "from": "head"}``: the same, beginning with its headers;
- ``{"disconnect": true}``: no answer, the connection ends; ``{"reset": true}``: it is reset;
- ``{"cut": 20}``: only so many bytes of the right answer's body come before the connection ends;
- ``{"without": 20}``: the right answer without its last bytes, complete as far as HTTP is concerned;
- ``{"replace": ["0.", "NaN, 0."]}``: the right answer with the first such text replaced;
- ``{"refuses": "word"}``: from then on, 400 for every request with a text that has the word; ``null`` ends that.
"""

import argparse
import json
import socket
import struct
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

from support.embedding_apis import reply_of, texts_of

Json = Any


class EmbeddingServer:
    """A running server, seen from the test."""

    def __init__(self, port: int) -> None:
        self.address = f"http://127.0.0.1:{port}"

    def misbehave(self, *faults: dict[str, Json]) -> None:
        """The next requests meet these faults, in this order."""
        self._call("/control/faults", json.dumps(faults).encode())

    def take_requests(self) -> list[dict[str, Json]]:
        """The requests since the last call, each ``{"path", "headers", "body"}``; header names in lower case."""
        taken: list[dict[str, Json]] = self._call("/control/take", b"")
        return taken

    def _call(self, path: str, body: bytes) -> Json:
        with urllib.request.urlopen(urllib.request.Request(self.address + path, body), timeout=10) as answer:
            return json.load(answer)


@contextmanager
def running_embedding_server(*, dimensions: int = 8) -> Iterator[EmbeddingServer]:
    """A server whose models make vectors of ``dimensions`` where neither the request nor the model's name says otherwise."""
    command = [sys.executable, "-u", "-m", "support.embedding_server", f"--dimensions={dimensions}"]
    folder = __file__.rpartition("/support/")[0]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=folder) as process:
        try:
            assert process.stdout is not None
            yield EmbeddingServer(int(process.stdout.readline()))
        finally:
            process.kill()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, dimensions: int) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.dimensions = dimensions
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
                self._send(200, b"{}", {})
            case "/control/take":
                with self.server.lock:
                    taken, self.server.requests = self.server.requests, []
                self._send(200, json.dumps(taken).encode(), {})
            case _:
                self._embed(json.loads(body))

    def _embed(self, body: dict[str, Json]) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        with self.server.lock:
            self.server.requests.append({"path": self.path, "headers": headers, "body": body})
            fault = self.server.faults.popleft() if self.server.faults else {}
            word = self.server.refused_word
        if fault.get("disconnect") or fault.get("reset"):
            self._end(reset=bool(fault.get("reset")))
            return
        time.sleep(fault.get("delay_seconds", 0.0))
        if "status" in fault:
            given = fault["body"]
            content = given.encode() if isinstance(given, str) else json.dumps(given).encode()
            self._send(fault["status"], content, fault.get("headers", {}))
            return
        if word is not None and any(word in text for text in texts_of(body)):
            self._send(400, b'{"error": {"message": "this input is refused"}}', {})
            return
        reply = reply_of(self.path, headers, body, self.server.dimensions)
        content = json.dumps(reply.body).encode()
        if "replace" in fault:
            old, new = fault["replace"]
            content = content.replace(old.encode(), new.encode(), 1)
        if "without" in fault:
            content = content[: -fault["without"]]
        self._send(reply.status, content, {}, cut=fault.get("cut"), drip_seconds=fault.get("drip_seconds"), drips_head="from" in fault)

    def _send(
        self,
        status: int,
        content: bytes,
        headers: dict[str, str],
        *,
        cut: int | None = None,
        drip_seconds: float | None = None,
        drips_head: bool = False,
    ) -> None:
        more = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        head = f"HTTP/1.1 {status} -\r\nContent-Type: application/json\r\n{more}Content-Length: {len(content)}\r\n\r\n".encode()
        if cut is not None:
            self.wfile.write(head + content[:cut])
            self._end(reset=False)
        elif drip_seconds is not None:
            at_once, slowly = (b"", head + content) if drips_head else (head, content)
            self.wfile.write(at_once)
            try:
                for place in range(len(slowly)):
                    self.wfile.write(slowly[place : place + 1])
                    time.sleep(drip_seconds)
            except OSError:  # the client has gone, which is what it should do
                self.close_connection = True
        else:
            # In one write: a second small one would wait for the first one's acknowledgement.
            self.wfile.write(head + content)

    def _end(self, *, reset: bool) -> None:
        self.close_connection = True
        if reset:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Says nothing: only the port goes to the output."""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--dimensions", type=int, required=True)
    server = _Server(parser.parse_args().dimensions)
    sys.stdout.write(f"{server.server_address[1]}\n")
    sys.stdout.flush()
    server.serve_forever()


if __name__ == "__main__":
    main()
