"""Request pace: how long requests take, and what follows for the next one; without a clock."""

from dataclasses import dataclass, field
from typing import Final

_LONGEST_LINGER_SECONDS: Final = 1.0
#: The share of the last request in the average of how long one takes.
_LAST_SHARE: Final = 0.3
#: So many senders may be added at any time; a further one only while full requests take at most so many times as long as the quickest
#: one did: beyond, they wait for leave, and more of them would wait with them.
_SENDERS_AT_ANY_TIME: Final = 3
_MOST_TIMES_AS_LONG: Final = 3.0


@dataclass(slots=True)
class RequestPace:
    """The pace of the requests of one batcher.

    Attributes:
        least_linger_seconds: how long the first text of a request waits for company while nothing is on its way.
    """

    least_linger_seconds: float
    _seconds: float = field(default=0.0, init=False)
    _full_seconds: float = field(default=0.0, init=False)
    _quickest_full_seconds: float = field(default=0.0, init=False)

    def note(self, seconds: float, *, is_full: bool) -> None:
        """One request took so long, from when its texts were taken; a full one tells whether there is room for more."""
        self._seconds = _average(self._seconds, seconds)
        if is_full:
            self._full_seconds = _average(self._full_seconds, seconds)
            self._quickest_full_seconds = min(self._quickest_full_seconds or seconds, seconds)

    def bears_another(self, senders: int) -> bool:
        """Whether one more sender beside ``senders`` would have something to do but wait for leave."""
        return senders < _SENDERS_AT_ANY_TIME or self._full_seconds <= _MOST_TIMES_AS_LONG * self._quickest_full_seconds

    def linger_seconds(self, busy: int) -> float:
        """How long the first text of the next request may wait for company while ``busy`` requests are on their way."""
        until_one_returns = self._seconds / (busy + 1) if busy else 0.0
        return max(self.least_linger_seconds, min(until_one_returns, _LONGEST_LINGER_SECONDS))


def _average(before: float, last: float) -> float:
    return (1 - _LAST_SHARE) * (before or last) + _LAST_SHARE * last
