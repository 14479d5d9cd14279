"""HTTP calls that end in time: each has one limit from its start to the last byte of its answer, and ends at once when it is told to."""

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from concurrent.futures import CancelledError, Future
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeVar

import anyio.lowlevel
import httpx

from docmill.adapters.providers.cancellation import Cancellation

Result = TypeVar("Result")

#: More than the largest embedding request can bring: 2,048 vectors of 4,096 numbers, written out.
MAX_ANSWER_BYTES: Final = 256 * 2**20
_GOODBYE_SECONDS: Final = 0.5


class CallFailed(Exception):
    """A call that brought no answer; its text says why, after the provider's name."""


class CallLeft(CallFailed):
    """A call that was ended from here, or not begun; it says nothing of the provider."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back; header names in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Calls:
    """Runs calls on an event loop in a thread of its own, which is started by the first; any number of threads may call at once.

    A time-out of a socket bounds the wait for the next byte only: a server that sends one byte now and then would hold its caller for
    ever. Here a call as a whole has a time-out.
    """

    def __init__(self, *, timeout_seconds: float) -> None:
        """``timeout_seconds`` bounds each call."""
        self._timeout_seconds = timeout_seconds
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._closed = self._prepared = False
        self._last: Callable[[], Coroutine[Any, Any, object]] = _nothing

    def prepare(self, load: Callable[[], object]) -> None:
        """Starts the thread, and loads there once what HTTP on its event loop needs, then ``load``; nothing happens after ``close``."""
        if not self._prepared:
            with contextlib.suppress(CallLeft):  # the call that is prepared for says so
                self.wait_for(partial(_load, load))
                self._prepared = True

    def start(self, call: Callable[[], Coroutine[Any, Any, Result]]) -> Future[Result]:
        """Begins ``call``; cancelling the future ends it, or keeps it from beginning.

        Raises:
            CallLeft: ``close`` was called, which also cancels the future. The future has ``CallFailed`` when the call does not end in time.
        """
        with self._lock:
            if self._closed:
                raise CallLeft("was not called: docmill is stopping")
            loop = self._running_loop()
            return asyncio.run_coroutine_threadsafe(self._bounded(call), loop)

    def wait_for(self, call: Callable[[], Coroutine[Any, Any, Result]], cancellation: Cancellation | None = None) -> Result:
        """What ``call`` returns; ``cancellation`` ends it.

        Raises:
            CallLeft: it was ended by ``close`` or ``cancellation``.
            CallFailed: it did not end in time.
        """
        future = self.start(call)
        try:
            if cancellation is not None:
                cancellation.ends(future)
            return future.result()
        except CancelledError:
            raise CallLeft("was left: nobody waits for its answer any more") from None
        finally:
            future.cancel()  # of no effect unless the caller was interrupted

    def close(self, last: Callable[[], Coroutine[Any, Any, object]]) -> None:
        """Ends the calls under way, then does ``last`` if there ever was a call, and ends the thread; of no effect the second time."""
        with self._lock:
            self._closed = True
            self._last = last
            loop, thread, self._loop, self._thread = self._loop, self._thread, None, None
        if loop is not None and thread is not None:
            loop.call_soon_threadsafe(loop.stop)
            thread.join()

    async def _bounded(self, call: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
        try:
            async with asyncio.timeout(self._timeout_seconds):
                return await call()
        except TimeoutError:
            raise CallFailed(f"did not answer in time ({self._timeout_seconds:g} s)") from None

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            loop = asyncio.new_event_loop()
            thread = threading.Thread(target=self._run, args=(loop,), name="docmill-http", daemon=True)
            try:
                thread.start()
            except RuntimeError:  # the system gives no more threads now; a later call may get one
                loop.close()
                raise
            self._loop, self._thread = loop, thread
        return self._loop

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        asyncio.set_event_loop(loop)
        try:
            loop.run_forever()
            under_way = asyncio.all_tasks(loop)
            for task in under_way:
                task.cancel()
            loop.run_until_complete(asyncio.gather(*under_way, return_exceptions=True))
            with contextlib.suppress(TimeoutError):  # a peer that does not say goodbye is not waited for
                loop.run_until_complete(asyncio.wait_for(self._last(), _GOODBYE_SECONDS))
            loop.run_until_complete(loop.shutdown_asyncgens())
        finally:
            loop.close()


class JsonPoster:
    """Posts JSON to one provider."""

    def __init__(self, calls: Calls, headers: Mapping[str, str]) -> None:
        """``headers`` go with every request."""
        self._calls = calls
        self._headers = headers
        self._client: httpx.AsyncClient | None = None

    def prepare(self) -> None:
        """Makes the first request as quick as the others."""
        self._calls.prepare(self._made_client)

    def post(self, url: str, body: object, cancellation: Cancellation | None = None) -> Answer:
        """The answer to ``body`` at ``url``, whatever its status; redirects are not followed, since they would take the key along.

        Raises:
            CallFailed: there was no answer, or not all of it; ``CallLeft`` where it was ended from here.
        """
        return self._calls.wait_for(lambda: self._post(url, body), cancellation)

    def close(self) -> None:
        """Ends the calls under way and the connections; the ``Calls`` are closed with them."""
        self._calls.close(self._end_connections)

    @asynccontextmanager
    async def answered(self, url: str, body: object) -> AsyncIterator[httpx.Response]:
        """The answer to ``body`` at ``url`` as soon as its headers are there; for coroutines that run in ``Calls``.

        Raises:
            CallFailed: there was no answer, or its body, which is read inside, broke off.
        """
        try:
            async with self._made_client().stream("POST", url, json=body) as response:
                yield response
        except httpx.HTTPError as error:
            raise CallFailed(f"cannot be reached: {str(error) or type(error).__name__}") from error

    def _made_client(self) -> httpx.AsyncClient:
        if self._client is None:
            self._client = httpx.AsyncClient(headers=dict(self._headers), timeout=None, follow_redirects=False)
        return self._client

    async def _end_connections(self) -> None:
        if self._client is not None:
            await self._client.aclose()

    async def _post(self, url: str, body: object) -> Answer:
        async with self.answered(url, body) as response:
            return Answer(response.status_code, dict(response.headers), await read_bounded(response.aiter_bytes()))


async def _load(load: Callable[[], object]) -> None:
    await anyio.lowlevel.checkpoint()  # what waits by way of anyio loads all that its sockets need
    load()


async def read_bounded(chunks: AsyncIterator[bytes]) -> bytes:
    """All of ``chunks``; raises ``CallFailed`` for more than ``MAX_ANSWER_BYTES``."""
    body = bytearray()
    async for chunk in chunks:
        body += chunk
        if len(body) > MAX_ANSWER_BYTES:
            raise CallFailed(f"gave an answer of more than {MAX_ANSWER_BYTES // 2**20} MiB")
    return bytes(body)


async def _nothing() -> None:
    """What is done last where nothing is to be done."""
