"""The events of an answer, when the client goes away or the server stops."""

import asyncio
import gc
import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from docmill.adapters.memory.language_models import ScriptedChatModel
from docmill.domain.errors import ProviderTransient
from docmill.domain.knowledge_bases import Answering, StrategyKind
from docmill.domain.searching import Freshness, Hit, SearchOutcome, SearchRequest, StrategyTrace
from docmill.retrieval.answering.answerer import Answerer, AnswerStream
from docmill_services.query.answer_events import answer_events
from docmill_services.query.work import Work
from support.library import record_of


class SlowStream:
    """A text whose first piece does not come before it is closed, and then not either."""

    def __init__(self, asked: threading.Event, end: Callable[[], Exception]) -> None:
        self._asked = asked
        self._end = end
        self._closed = threading.Event()

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        self._asked.set()
        assert self._closed.wait(30)
        raise self._end()

    def close(self) -> None:
        self._closed.set()


class SlowModel(ScriptedChatModel):
    """Writes a ``SlowStream``."""

    def __init__(self, end: Callable[[], Exception]) -> None:
        super().__init__(lambda _: "")
        self.asked = threading.Event()
        self._end = end

    def stream(self, prompt: str, *, max_tokens: int, system: str | None = None) -> Any:
        return SlowStream(self.asked, self._end)


def stream_of(model: ScriptedChatModel) -> AnswerStream:
    record = replace(record_of("handbook.md", 0, "refunds take thirty days"), title="Handbook")
    outcome = SearchOutcome("kb", (Hit(record, 0.02, {"words": StrategyTrace(1, 3.0, 0.01)}),), (), Freshness("set", 1, None, 0), 1.0)
    answerer = Answerer(lambda _: outcome, lambda: model, Answering("model"), {"words": StrategyKind.BM25})
    return answerer.stream(SearchRequest("How long?"))


@pytest.fixture
def work() -> Iterator[Work]:
    made = Work(threads=1, max_calls=1)
    yield made
    made.close()


def parts_of(event: bytes) -> tuple[str, Any]:
    head, data = event.decode().rstrip("\n").split("\n")
    return head.removeprefix("event: "), json.loads(data.removeprefix("data: "))


def test_what_a_model_fails_with_after_the_client_has_gone_is_nobodys_trouble(work: Work) -> None:
    complaints: list[object] = []

    async def scenario() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))
        model = SlowModel(lambda: ProviderTransient("gone"))
        events = answer_events(stream_of(model), work, asyncio.Event(), 0.0, "id")
        assert parts_of(await anext(events))[0] == "passages"
        waiting = asyncio.ensure_future(anext(events))
        await asyncio.to_thread(model.asked.wait, 30)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        others = asyncio.all_tasks() - {asyncio.current_task()}
        await asyncio.wait(others, timeout=30)
        del waiting, events, others
        gc.collect()
        await asyncio.sleep(0)

    asyncio.run(scenario())
    assert complaints == []


def test_when_the_server_stops_the_last_event_says_so(work: Work) -> None:
    async def scenario() -> list[tuple[str, Any]]:
        stopping = asyncio.Event()
        model = SlowModel(StopIteration)
        events = answer_events(stream_of(model), work, stopping, 0.0, "id")
        came = [parts_of(await anext(events))]
        waiting = asyncio.ensure_future(anext(events))
        await asyncio.to_thread(model.asked.wait, 30)
        stopping.set()
        came.append(parts_of(await waiting))
        return came + [parts_of(event) async for event in events]

    came = asyncio.run(scenario())
    assert [name for name, _ in came] == ["passages", "error"]
    assert (came[-1][1]["code"], came[-1][1]["request_id"]) == ("server.stopping", "id")


def test_an_answer_for_which_no_thread_is_left_ends_with_an_error(work: Work) -> None:
    async def scenario() -> list[tuple[str, Any]]:
        busy, free = asyncio.Event(), threading.Event()
        other = asyncio.ensure_future(work.run(lambda: free.wait(30)))
        await asyncio.sleep(0)
        came = [parts_of(event) async for event in answer_events(stream_of(SlowModel(StopIteration)), work, busy, 0.0, "id")]
        free.set()
        await other
        return came

    ((name, problem),) = asyncio.run(scenario())
    assert (name, problem["code"], problem["request_id"]) == ("error", "server.busy", "id")
