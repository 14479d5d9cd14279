import asyncio
import json
import threading
from collections.abc import Iterator

import pytest

from docmill.domain.errors import StoreDown
from docmill.domain.runs import Run, RunState
from docmill_services.query.events import run_events
from docmill_services.query.problems import RefusedRequest
from docmill_services.query.work import Work


@pytest.fixture
def work() -> Iterator[Work]:
    made = Work(threads=1, max_calls=2)
    yield made
    made.close()


def states_of(events: list[bytes]) -> list[str]:
    return [json.loads(event.split(b"data: ")[1])["state"] for event in events if event.startswith(b"event: run")]


def test_more_calls_than_the_bound_are_refused_until_one_ends(work: Work) -> None:
    async def scenario() -> None:
        released = threading.Event()
        calls = [asyncio.create_task(work.run(released.wait)) for _ in range(2)]
        await asyncio.sleep(0)
        with pytest.raises(RefusedRequest, match="too many requests"):
            await work.run(released.wait)
        released.set()
        assert await asyncio.gather(*calls) == [True, True]
        assert await work.run(lambda: "done") == "done"

    asyncio.run(scenario())


def test_an_error_in_a_thread_reaches_the_caller(work: Work) -> None:
    def fail() -> None:
        raise StoreDown("down")

    with pytest.raises(StoreDown):
        asyncio.run(work.run(fail))


def test_events_come_when_a_run_changes_and_end_with_it(work: Work) -> None:
    runs = iter([Run("r", RunState.SCANNING, 1.0), Run("r", RunState.SCANNING, 1.0), Run("r", RunState.COMPLETE, 1.0)])

    async def scenario() -> list[bytes]:
        return [event async for event in run_events(lambda: next(runs), work, asyncio.Event())]

    assert states_of(asyncio.run(scenario())) == ["scanning", "complete"]


def test_events_outlive_a_silent_registry_and_end_when_the_run_is_forgotten(work: Work) -> None:
    answers: Iterator[Run | None] = iter([Run("r", RunState.INDEXING, 1.0), None])
    asked = iter([False, True, False])

    def read() -> Run | None:
        if next(asked):
            raise StoreDown("down")
        return next(answers)

    async def scenario() -> list[bytes]:
        return [event async for event in run_events(read, work, asyncio.Event())]

    assert states_of(asyncio.run(scenario())) == ["indexing"]


def test_events_end_when_the_server_stops(work: Work) -> None:
    async def scenario() -> list[bytes]:
        stopping = asyncio.Event()
        stopping.set()
        return [event async for event in run_events(lambda: Run("r", RunState.INDEXING, 1.0), work, stopping)]

    assert states_of(asyncio.run(scenario())) == ["indexing"]
