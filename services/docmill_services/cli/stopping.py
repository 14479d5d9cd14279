"""Stopping: what Ctrl-C and SIGTERM do to a command that goes on until then."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from docmill.domain.errors import ExitCode


@contextmanager
def stop_signal() -> Iterator[threading.Event]:
    """An event that Ctrl-C and SIGTERM set; a second one ends the process at once."""
    stopping = threading.Event()

    def stop(number: int, _frame: object) -> None:
        if stopping.is_set():
            os._exit(ExitCode.INTERRUPTED)
        stopping.set()

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stopping
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
