"""Durations and sizes as people write them."""

import re
from fractions import Fraction
from typing import Final

_UNIT_SECONDS: Final = {
    "ns": Fraction(1, 1_000_000_000),
    "us": Fraction(1, 1_000_000),
    "µs": Fraction(1, 1_000_000),
    "μs": Fraction(1, 1_000_000),
    "ms": Fraction(1, 1000),
    "s": Fraction(1),
    "m": Fraction(60),
    "h": Fraction(3600),
}
_DURATION_PART: Final = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h)", re.ASCII)
#: A Go duration is a count of nanoseconds in 63 bits.
_MAX_DURATION: Final = Fraction(2**63 - 1, 1_000_000_000)
_MAX_LENGTH: Final = 64

_SIZE: Final = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([KMG]i?B?|B)?", re.IGNORECASE | re.ASCII)
_SIZE_FACTORS: Final = {"": 1, "B": 1, "K": 1024, "M": 1024**2, "G": 1024**3}


def parse_duration(text: str) -> float:
    """Seconds of a duration as Go writes it: ``30m``, ``1h30m``, ``0.5s``, ``500ms``, ``0``.

    Raises:
        ValueError: not such a duration, a negative one, or one longer than Go can hold (292 years).
    """
    if text.startswith("-"):
        raise ValueError(f"must not be negative, as `{text}` is")
    digits = text.removeprefix("+")
    if digits == "0":
        return 0.0
    total, position = Fraction(0), 0
    while position < len(digits) <= _MAX_LENGTH:
        part = _DURATION_PART.match(digits, position)
        if part is None:
            break
        total += Fraction(part[1]) * _UNIT_SECONDS[part[2]]
        position = part.end()
    if not digits or position != len(digits):
        raise ValueError(f"must be a duration such as `30m`, `1h30m` or `0s`, not `{text}`")
    if total > _MAX_DURATION:
        raise ValueError(f"`{text}` is longer than a duration can be (292 years)")
    return float(total)


def format_duration(seconds: float) -> str:
    """The shortest duration text that ``parse_duration`` reads back as ``seconds``."""
    nanoseconds = round(Fraction(seconds) * 1_000_000_000)
    if nanoseconds == 0:
        return "0s"
    for unit, size in (("h", 3600_000_000_000), ("m", 60_000_000_000), ("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1000)):
        if nanoseconds % size == 0:
            return f"{nanoseconds // size}{unit}"
    return f"{nanoseconds}ns"


def parse_size(text: str) -> int:
    """Bytes of a size: ``20MB``, ``512 KiB``, ``1.5G``, ``1000``; K, M and G are powers of 1024.

    Raises:
        ValueError: not such a size.
    """
    match = _SIZE.fullmatch(text.strip()) if len(text) <= _MAX_LENGTH else None
    if match is None:
        raise ValueError(f"must be a size in bytes, or such as `20MB`, not `{text}`")
    unit = (match[2] or "").upper()
    return int(Fraction(match[1]) * _SIZE_FACTORS[unit[:1]])
