"""Runs what blocks in a bounded pool of threads, so that the event loop never waits."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

from docmill_services.query.problems import RefusedRequest

THREADS: Final = 16
#: Calls that run or wait; more are refused, so that a stalled store does not gather requests without end.
MAX_CALLS: Final = 256

T = TypeVar("T")


class Work:
    """A bounded pool; used from one event loop."""

    def __init__(self, threads: int = THREADS, max_calls: int = MAX_CALLS) -> None:
        self._executor = ThreadPoolExecutor(threads, "docmill-http")
        self._max_calls = max_calls
        self._calls = 0

    async def run(self, function: Callable[[], T]) -> T:
        """What ``function`` returns, computed in a thread.

        Raises:
            RefusedRequest: too many calls run or wait.
        """
        if self._calls >= self._max_calls:
            raise RefusedRequest("server.busy", "too many requests at once; try again in a moment")
        self._calls += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._executor, function)
        finally:
            self._calls -= 1

    def close(self) -> None:
        """Lets go of the threads; what waits is dropped, what runs ends by itself."""
        self._executor.shutdown(wait=False, cancel_futures=True)
