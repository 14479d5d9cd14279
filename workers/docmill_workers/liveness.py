"""Liveness by progress: a worker that takes nothing from a queue that is not empty is not well, however connected it is."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

PATIENCE_SECONDS: Final = 60.0


class Liveness:
    """Counts what a worker takes, and judges it each time somebody asks."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic, patience_seconds: float = PATIENCE_SECONDS) -> None:
        """``patience_seconds``: how long a queue may hold messages of which an idle worker takes none."""
        self._monotonic = monotonic
        self._patience_seconds = patience_seconds
        self._lock = threading.Lock()
        self._taken = 0
        self._in_work = 0
        self._judged_at_taken = -1
        self._starving_since: float | None = None

    @contextmanager
    def working(self) -> Iterator[None]:
        """Around each message that is worked on."""
        with self._lock:
            self._taken += 1
            self._in_work += 1
        try:
            yield
        finally:
            with self._lock:
                self._in_work -= 1

    def starving_seconds(self, queued: int) -> float:
        """How long the worker has been idle in front of a queue of ``queued`` messages; 0.0 while that is within its patience."""
        with self._lock:
            now = self._monotonic()
            idle = queued > 0 and self._in_work == 0 and self._taken == self._judged_at_taken
            self._judged_at_taken = self._taken
            if not idle:
                self._starving_since = None
                return 0.0
            if self._starving_since is None:
                self._starving_since = now
            waited = now - self._starving_since
            return waited if waited > self._patience_seconds else 0.0
