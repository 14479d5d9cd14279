"""Settings that make docmill's processes fail at a named point of a document's way."""

from pathlib import Path
from typing import Final

from support.deadly_contents import STARTUP

#: Where a worker can be made to die as by kill -9.
DEATHS: Final = ("before_the_first_write", "between_the_writes", "before_the_commit", "after_the_commit")


def dying_once(point: str, folder: Path) -> dict[str, str]:
    """For processes of which the first that comes to ``point``, one of ``DEATHS``, dies there; ``folder`` remembers that one has."""
    return {"DOCMILL_TEST_FAULT": point, "DOCMILL_TEST_FAULT_ONCE": str(folder / f"died_{point}"), "PYTHONPATH": str(STARTUP)}


def loading_slowly(seconds: float) -> dict[str, str]:
    """For processes in which every document takes so long to load."""
    return {"DOCMILL_TEST_FAULT": "slow_loads", "DOCMILL_TEST_SLOW_SECONDS": str(seconds), "PYTHONPATH": str(STARTUP)}
