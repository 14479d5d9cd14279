"""Calls that end in time, and when they are told to."""

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from docmill.adapters.providers.calls import CallFailed, CallLeft, Calls, read_bounded
from docmill.adapters.providers.cancellation import Cancellation


async def answer() -> int:
    return 5


async def never() -> int:
    return await asyncio.Future()


@pytest.fixture
def calls() -> Iterator[Calls]:
    made = Calls(timeout_seconds=60.0)
    yield made
    made.close(nothing)


async def nothing() -> None:
    pass


def test_a_call_returns_what_it_returns_to_any_thread(calls: Calls) -> None:
    with ThreadPoolExecutor(4) as pool:
        assert [future.result() for future in [pool.submit(calls.wait_for, answer) for _ in range(20)]] == [5] * 20


def test_a_call_that_takes_too_long_fails() -> None:
    calls = Calls(timeout_seconds=0.01)
    with pytest.raises(CallFailed, match=r"did not answer in time \(0\.01 s\)"):
        calls.wait_for(never)
    calls.close(nothing)


def test_a_call_for_which_the_system_gives_no_thread_fails_and_a_later_one_gets_one(calls: Calls, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", refuse)
        with pytest.raises(RuntimeError, match="new thread"):
            calls.wait_for(answer)
    assert calls.wait_for(answer) == 5


def test_closing_ends_what_is_under_way_and_takes_no_more(calls: Calls) -> None:
    begun = threading.Event()

    async def begin() -> int:
        begun.set()
        return await never()

    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(calls.wait_for, begin)
        assert begun.wait(20)
        calls.close(nothing)
        with pytest.raises(CallLeft, match="was left"):
            waiting.result(20)
    with pytest.raises(CallLeft, match="was not called"):
        calls.wait_for(answer)
    calls.close(nothing)


def test_what_is_done_last_is_done_when_every_call_has_ended(calls: Calls) -> None:
    ended = []

    async def noting() -> None:
        try:
            begun.set()
            await never()
        finally:
            ended.append("call")

    async def last() -> None:
        ended.append("last")

    begun = threading.Event()
    call = calls.start(noting)
    assert begun.wait(20)
    calls.close(last)
    calls.close(last)
    assert call.cancelled()
    assert ended == ["call", "last"]


def test_a_call_is_ended_from_another_thread_whether_it_has_begun_or_not(calls: Calls) -> None:
    begun = threading.Event()

    async def begin() -> int:
        begun.set()
        return await never()

    under_way, before = Cancellation(), Cancellation()
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(calls.wait_for, begin, under_way)
        assert begun.wait(20)
        under_way.cancel()
        with pytest.raises(CallLeft, match="nobody waits"):
            waiting.result(20)
    before.cancel()
    with pytest.raises(CallLeft, match="nobody waits"):
        calls.wait_for(never, before)
    assert calls.wait_for(answer) == 5


def test_an_answer_without_end_is_not_read_on(calls: Calls, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("docmill.adapters.providers.calls.MAX_ANSWER_BYTES", 2**20)

    async def endless() -> bytes:
        async def chunks() -> AsyncIterator[bytes]:
            while True:
                yield bytes(2**18)

        return await read_bounded(chunks())

    with pytest.raises(CallFailed, match="more than 1 MiB"):
        calls.wait_for(endless)
