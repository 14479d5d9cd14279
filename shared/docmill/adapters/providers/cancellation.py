"""Cancellation: a request that one thread waits for is ended by another."""

import threading
from concurrent.futures import Future
from typing import Any


class Cancellation:
    """Ends one call, from any thread: before it begins, or while it is under way."""

    def __init__(self) -> None:
        self._future: Future[Any] | None = None
        self._is_cancelled = False
        self._lock = threading.Lock()

    def cancel(self) -> None:
        """Ends it."""
        with self._lock:
            self._is_cancelled = True
            future = self._future
        if future is not None:
            future.cancel()

    def ends(self, future: Future[Any]) -> None:
        """Lets ``cancel`` cancel ``future``, also where it was called before."""
        with self._lock:
            self._future = future
            is_cancelled = self._is_cancelled
        if is_cancelled:
            future.cancel()
