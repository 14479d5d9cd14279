"""Clock: time for code that waits or times out. Protocol state never uses it: Redis's own clock rules there."""

from typing import Protocol


class Clock(Protocol):
    """A source of time."""

    def monotonic(self) -> float:
        """Seconds since some moment; never goes back."""
        ...

    def sleep(self, seconds: float) -> None:
        """Blocks for ``seconds``."""
        ...
