"""A small server of chat and rerank APIs, as a process of its own, that can be told to misbehave.

It speaks OpenAI's chat completions, Anthropic's messages, Gemini's generateContent and the ``/rerank`` of Cohere and those like it, at once
and as streams. Its model counts words, one of them a token, and scores passages by the words that they share with the query. What it should
do wrong, one item for each of the next requests:

- ``{"status": 429, "body": {...}, "headers": {...}}``: that answer; a string as body is sent as it is;
- ``{"says": "text"}``: the right form of answer, with that text;
- ``{"answers": {...}}``: that JSON, with status 200;
- ``{"events": [...], "then": "end" | "cut" | "hang" | "go on"}``: these events as a stream, JSON or text; then it ends as it should, the
  connection breaks, nothing more comes, or the last event comes again and again;
- ``{"delay_seconds": 60}``: the right answer, late;
- ``{"disconnect": true}``: no answer, the connection ends;
- ``{"drips": true}``: an answer of which a byte comes now and then, without end;
- ``{"refuses": "word"}``: from then on, 400 for every request whose body has the word, which ``""`` is in; ``null`` ends that;
- ``{"without_schemas": true}``: from then on, 400 for every request that asks for a form; ``false`` ends that;
- ``{"logits": true}``: the scores of this answer as logits.
"""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from support.faulty_server import FaultyHandler, FaultyServer, ServerSeen, serve, server_process
from support.language_model_apis import API_OF_PATH, Json, event_bytes, rerank_answer
from support.waiting import wait_until


class LanguageModelServer(ServerSeen):
    """A running server, seen from the test; it notes ``{"path", "headers", "body", "state"}``, header names in lower case."""

    def wait_for_requests(self, count: int, state: str) -> None:
        """Waits until ``count`` requests have come that are in ``state``: ``under way``, ``answered`` or ``hung up``, by the client."""
        wait_until(lambda: self._states().count(state) >= count, f"{count} requests that are {state!r}")

    def _states(self) -> list[str]:
        states: list[str] = self.call("/control/states", b"")
        return states


@contextmanager
def running_language_model_server() -> Iterator[LanguageModelServer]:
    """A server on a free port."""
    with server_process(__name__, LanguageModelServer) as server:
        yield server


class _Server(FaultyServer):
    def __init__(self) -> None:
        super().__init__(_Handler)
        self.takes_schemas = True

    def forget(self) -> None:
        super().forget()
        self.takes_schemas = True

    def take_fault(self, fault: dict[str, Json]) -> None:
        if "without_schemas" in fault:
            self.takes_schemas = not fault["without_schemas"]
        else:
            super().take_fault(fault)


class _Handler(FaultyHandler):
    server: _Server

    def control(self, what: str, body: bytes) -> Json:
        if what == "states":
            return [request["state"] for request in self.server.requests]
        return super().control(what, body)

    def serve(self, body: dict[str, Json]) -> None:
        request = {"path": self.path, "headers": self.lower_headers(), "body": body, "state": "under way"}
        fault = self.server.note(request)
        try:
            self._meet(fault, body)
            state = "answered"
        except OSError:
            self.close_connection = True
            state = "hung up"
        with self.server.lock:
            request["state"] = state

    def _meet(self, fault: dict[str, Json], body: dict[str, Json]) -> None:
        if fault.get("disconnect"):
            self.close_connection = True
        elif "status" in fault:
            self.answer(fault["status"], fault["body"], fault.get("headers", {}))
        elif "answers" in fault:
            self.answer(200, fault["answers"])
        elif "events" in fault:
            self._stream(fault["events"], fault["then"])
        elif fault.get("drips"):
            self._drip()
        else:
            self._wait(fault.get("delay_seconds", 0.0))
            self._do(body, fault)

    def _do(self, body: dict[str, Json], fault: dict[str, Json]) -> None:
        path, _, query = self.path.partition("?")
        if path.endswith("/rerank"):
            problem = self._problem(body, asks_for_form=False)
            self.answer(400, {"message": problem}) if problem else self.answer(200, rerank_answer(body, logits=bool(fault.get("logits"))))
            return
        api = next((api for end, api in API_OF_PATH.items() if path.endswith(end)), None)
        if api is None:
            self.answer(404, {"error": {"message": f"there is no {self.path}"}})
            return
        problem = api.problem_of(body, self.headers) or self._problem(body, asks_for_form=api.schema_of(body) is not None)
        if problem:
            self.answer(400, api.error(problem))
        elif api.streams(body, path, query):
            self._stream(api.events(body, fault.get("says")), "end")
        else:
            self.answer(200, api.answer(body, fault.get("says")))

    def _problem(self, body: dict[str, Json], *, asks_for_form: bool) -> str | None:
        with self.server.lock:
            word, takes_schemas = self.server.refused_word, self.server.takes_schemas
        if word is not None and word in json.dumps(body, ensure_ascii=False):
            return "this prompt is too long"
        return "this model cannot keep to a form" if asks_for_form and not takes_schemas else None

    def _stream(self, events: list[Json], then: str) -> None:
        self.wfile.write(b"HTTP/1.1 200 -\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n")
        for event in events:
            self._event(event)
        match then:
            case "end":
                self.wfile.write(b"0\r\n\r\n")
            case "cut":
                self.close_connection = True
            case "hang":
                self._wait(60.0)
            case "go on":
                self._for_ever(lambda: self._event(events[-1]))

    def _event(self, event: Json) -> None:
        content = event_bytes(event)
        self.wfile.write(f"{len(content):x}\r\n".encode() + content + b"\r\n")

    def _drip(self) -> None:
        self.wfile.write(b"HTTP/1.1 200 -\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n")
        self._for_ever(lambda: self.wfile.write(b" "))

    def _for_ever(self, write: Callable[[], object]) -> None:
        deadline = time.monotonic() + 60.0
        while time.monotonic() < deadline:
            write()
            time.sleep(0.02)

    def _wait(self, seconds: float) -> None:
        """Waits; raises ``OSError`` when the client hangs up meanwhile."""
        if not seconds:
            return
        self.connection.settimeout(seconds)
        try:
            if self.connection.recv(1) == b"":
                raise ConnectionResetError
        except TimeoutError:
            pass
        finally:
            self.connection.settimeout(None)


def main() -> None:
    serve(_Server())


if __name__ == "__main__":
    main()
