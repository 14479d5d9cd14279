"""Outages: what interrupts a producer is said once while it lasts, however many of its threads run into it."""

import threading
import time
from collections.abc import Callable

import structlog

_log = structlog.get_logger(__name__)


class Outages:
    """What keeps the parts of a process from their work now; safe for several threads."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        """All is well."""
        self._monotonic = monotonic
        self._interrupted: set[str] = set()
        self._said: set[str] = set()
        self._since = 0.0
        self._lock = threading.Lock()

    def began(self, part: str, error: Exception) -> None:
        """Notes that ``part`` was interrupted, again or for the first time; a message is a warning only the first time in an outage."""
        message = str(error)
        with self._lock:
            if not self._interrupted:
                self._since = self._monotonic()
            self._interrupted.add(part)
            is_new = message not in self._said
            self._said.add(message)
        say = _log.warning if is_new else _log.debug
        say("producer_interrupted", part=part, error=message, then="it is tried again")

    def over(self, part: str) -> None:
        """Notes that ``part`` works; once all of them do the outage is over."""
        with self._lock:
            if part not in self._interrupted:
                return
            self._interrupted.discard(part)
            if self._interrupted:
                return
            self._said.clear()
            seconds = self._monotonic() - self._since
        _log.info("producer_goes_on", after_seconds=round(seconds, 1))
