"""Waiting for a condition with a deadline."""

import time
from collections.abc import Callable


def wait_until(condition: Callable[[], object], what: str, seconds: float = 15.0, pause_seconds: float = 0.01) -> None:
    """Returns when ``condition()`` is true; fails, naming ``what``, when that takes longer than ``seconds``."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"still waiting for {what} after {seconds} s")
        time.sleep(pause_seconds)
