"""A small server of the OpenAI embeddings API, as a process of its own, that can be told to misbehave.

A vector is a hash of its text. What it should do wrong, one item for each of the next requests:

- ``{"status": 429, "body": {...}}``: that answer; a string as body is sent as it is;
- ``{"delay_seconds": 60}``: the right answer, late;
- ``{"disconnect": true}``: no answer, the connection ends;
- ``{"refuses": "word"}``: from then on, 400 for every request with a text that has the word, which ``""`` is in; ``null`` ends that;
- ``{"data": "turned" | "repeated" | "missing" | "renumbered" | "zero" | "nan" | "huge" | "short" | "text"}``: an answer with such vectors.
"""

import argparse
import time
from collections.abc import Iterator
from contextlib import contextmanager

from docmill.adapters.memory.models import hash_vector
from support.faulty_server import FaultyHandler, FaultyServer, Json, ServerSeen, serve, server_process


class OpenAiServer(ServerSeen):
    """A running server, seen from the test; it notes ``{"path", "authorization", "body"}``."""

    def __init__(self, port: int) -> None:
        super().__init__(port)
        self.base_url = f"{self.address}/v1"


@contextmanager
def running_openai_server(*, dimensions: int = 8, delay_seconds: float = 0.0) -> Iterator[OpenAiServer]:
    """A server that makes vectors of ``dimensions`` where a request does not say, ``delay_seconds`` after each request."""
    options = (f"--dimensions={dimensions}", f"--delay-seconds={delay_seconds}")
    with server_process(__name__, OpenAiServer, *options) as server:
        yield server


class _Server(FaultyServer):
    def __init__(self, dimensions: int, delay_seconds: float) -> None:
        super().__init__(_Handler)
        self.dimensions = dimensions
        self.delay_seconds = delay_seconds


class _Handler(FaultyHandler):
    server: _Server

    def serve(self, body: dict[str, Json]) -> None:
        if self.path != "/v1/embeddings":
            self.answer(404, {"error": {"message": f"there is no {self.path}"}})
            return
        fault = self.server.note({"path": self.path, "authorization": self.headers.get("Authorization"), "body": body})
        refused_word = self.server.refused_word
        if fault.get("disconnect"):
            self.close_connection = True
            return
        time.sleep(fault.get("delay_seconds", self.server.delay_seconds))
        if "status" in fault:
            self.answer(fault["status"], fault["body"])
            return
        if refused_word is not None and any(refused_word in text for text in body["input"]):
            self.answer(400, {"error": {"message": "this input is too long"}})
            return
        dimensions = body.get("dimensions", self.server.dimensions)
        data = [
            {"object": "embedding", "index": index, "embedding": list(hash_vector(text, dimensions))}
            for index, text in enumerate(body["input"])
        ]
        _spoil(data, fault.get("data"))
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        self.answer(200, {"object": "list", "model": body["model"], "data": data, "usage": usage})


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
    serve(_Server(given.dimensions, given.delay_seconds))


if __name__ == "__main__":
    main()
