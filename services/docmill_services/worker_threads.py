"""Worker threads: how this package starts the worker, which it knows by its entry point only."""

from importlib.metadata import entry_points
from typing import Protocol

from docmill.bootstrap import Engine


class WorkerThreads(Protocol):
    """What the worker package starts in a process."""

    def check(self) -> None:
        """Raises ``ServiceDown`` when one of them has ended by itself."""
        ...

    def check_progress(self) -> None:
        """Raises ``ServiceDown`` when nothing was taken for a while from a queue that is not empty."""
        ...

    def stop(self, timeout_seconds: float) -> None:
        """Ends them; what they could not finish is handed back."""
        ...


def start_worker_threads(engine: Engine) -> WorkerThreads:
    """Starts the worker that is installed with docmill."""
    (found,) = entry_points(group="docmill.worker", name="threads")
    started: WorkerThreads = found.load()(engine)
    return started
