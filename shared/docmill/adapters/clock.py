"""The machine's clock."""

import time


class SystemClock:
    """The ``Clock`` port on the machine's own clock."""

    def monotonic(self) -> float:
        """See ``Clock.monotonic``."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """See ``Clock.sleep``."""
        time.sleep(seconds)
