"""A clock that only its owner moves."""

import threading


class ManualClock:
    """The ``Clock`` port; ``sleep`` moves it on at once."""

    def __init__(self, now: float = 1_000_000.0) -> None:
        """``now`` in seconds."""
        self._now = now
        self._lock = threading.Lock()

    def monotonic(self) -> float:
        """See ``Clock.monotonic``."""
        with self._lock:
            return self._now

    def sleep(self, seconds: float) -> None:
        """See ``Clock.sleep``."""
        with self._lock:
            self._now += max(0.0, seconds)
