"""The ``KeyStore`` and ``RequestCounter`` ports in memory."""

import threading
from collections import defaultdict, deque
from collections.abc import Callable

from docmill.domain.access import ApiKey

_WINDOW_SECONDS = 60.0


class MemoryKeyStore:
    """Keys of one process."""

    def __init__(self) -> None:
        self._keys: dict[str, ApiKey] = {}
        self._lock = threading.Lock()

    def all(self) -> list[ApiKey]:
        """See ``KeyStore.all``."""
        with self._lock:
            return sorted(self._keys.values(), key=lambda key: (key.created_at, key.id))

    def put(self, key: ApiKey) -> None:
        """See ``KeyStore.put``."""
        with self._lock:
            self._keys[key.id] = key

    def remove(self, key_id: str) -> bool:
        """See ``KeyStore.remove``."""
        with self._lock:
            return self._keys.pop(key_id, None) is not None


class MemoryRequestCounter:
    """Counts over a moving window of a minute."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """``clock`` gives seconds."""
        self._clock = clock
        self._times: defaultdict[str, deque[float]] = defaultdict(deque)
        self._lock = threading.Lock()

    def wait_of(self, key: ApiKey) -> float:
        """See ``RequestCounter.wait_of``."""
        if key.requests_per_minute is None:
            return 0.0
        now = self._clock()
        with self._lock:
            times = self._times[key.id]
            while times and times[0] <= now - _WINDOW_SECONDS:
                times.popleft()
            if len(times) >= key.requests_per_minute:
                return times[0] + _WINDOW_SECONDS - now
            times.append(now)
            return 0.0
