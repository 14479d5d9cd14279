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
import time
from collections.abc import Iterator
from contextlib import contextmanager

from support.embedding_apis import reply_of, texts_of
from support.faulty_server import FaultyHandler, FaultyServer, Json, ServerSeen, serve, server_process


class EmbeddingServer(ServerSeen):
    """A running server, seen from the test; it notes ``{"path", "headers", "body"}``, header names in lower case."""


@contextmanager
def running_embedding_server(*, dimensions: int = 8) -> Iterator[EmbeddingServer]:
    """A server whose models make vectors of ``dimensions`` where neither the request nor the model's name says otherwise."""
    with server_process(__name__, EmbeddingServer, f"--dimensions={dimensions}") as server:
        yield server


class _Server(FaultyServer):
    def __init__(self, dimensions: int) -> None:
        super().__init__(_Handler)
        self.dimensions = dimensions


class _Handler(FaultyHandler):
    server: _Server

    def serve(self, body: dict[str, Json]) -> None:
        headers = self.lower_headers()
        fault = self.server.note({"path": self.path, "headers": headers, "body": body})
        word = self.server.refused_word
        if fault.get("disconnect") or fault.get("reset"):
            self._end(reset=bool(fault.get("reset")))
            return
        time.sleep(fault.get("delay_seconds", 0.0))
        if "status" in fault:
            self.answer(fault["status"], fault["body"], fault.get("headers"))
            return
        if word is not None and any(word in text for text in texts_of(body)):
            self.answer(400, {"error": {"message": "this input is refused"}})
            return
        reply = reply_of(self.path, headers, body, self.server.dimensions)
        content = json.dumps(reply.body).encode()
        if "replace" in fault:
            old, new = fault["replace"]
            content = content.replace(old.encode(), new.encode(), 1)
        if "without" in fault:
            content = content[: -fault["without"]]
        head, content = self.message(reply.status, content)
        if "cut" in fault:
            self.wfile.write(head + content[: fault["cut"]])
            self._end(reset=False)
        elif "drip_seconds" in fault:
            self._drip(head, content, fault["drip_seconds"], from_head="from" in fault)
        else:
            self.wfile.write(head + content)

    def _drip(self, head: bytes, content: bytes, seconds: float, *, from_head: bool) -> None:
        at_once, slowly = (b"", head + content) if from_head else (head, content)
        self.wfile.write(at_once)
        try:
            for place in range(len(slowly)):
                self.wfile.write(slowly[place : place + 1])
                time.sleep(seconds)
        except OSError:  # the client has gone, which is what it should do
            self.close_connection = True

    def _end(self, *, reset: bool) -> None:
        self.close_connection = True
        if reset:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--dimensions", type=int, required=True)
    serve(_Server(parser.parse_args().dimensions))


if __name__ == "__main__":
    main()
