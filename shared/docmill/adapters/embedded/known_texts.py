"""Known texts: which text hashes an index may hold, so that most look-ups of new texts never reach the engine."""

from collections.abc import Iterable
from threading import Lock
from typing import Final

#: About 70 bytes each.
MOST_HASHES: Final = 500_000


class KnownTexts:
    """Hashes that were written to an index since it was made; once there are too many, any hash may be there."""

    def __init__(self, most: int = MOST_HASHES) -> None:
        self._hashes: set[str] | None = set()
        self._most = most
        self._lock = Lock()

    def add(self, text_hashes: Iterable[str]) -> None:
        """Notes hashes; to be called before they are written."""
        with self._lock:
            if self._hashes is not None:
                self._hashes.update(text_hashes)
                if len(self._hashes) > self._most:
                    self._hashes = None

    def possible(self, text_hashes: Iterable[str]) -> list[str]:
        """Those that the index may hold, in their order, each once."""
        distinct = dict.fromkeys(text_hashes)
        hashes = self._hashes
        return [*distinct] if hashes is None else [text_hash for text_hash in distinct if text_hash in hashes]
