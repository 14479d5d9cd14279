"""The note in which the producer keeps whether it is told of changes, and what is not as it should be; pure."""

from typing import Final

_WATCHED: Final = "yes"
_POLLED: Final = "no"


def watched(trouble: str = "") -> str:
    """What ``WATCHING`` says while changes are reported; ``trouble`` is one sentence on what may not be."""
    return f"{_WATCHED}: {trouble}" if trouble else _WATCHED


def polled(reason: str) -> str:
    """What ``WATCHING`` says while changes are found by frequent scans; ``reason`` is one sentence."""
    return f"{_POLLED}: {reason}"


def is_watched(noted: str | None) -> bool:
    """Whether changes are noticed as they happen."""
    return noted is not None and noted.partition(":")[0] == _WATCHED


def trouble_of(noted: str | None) -> str | None:
    """Why some or all changes are found by frequent scans alone; None where they are reported, or where nobody follows them."""
    return (noted or "").partition(": ")[2] or None
