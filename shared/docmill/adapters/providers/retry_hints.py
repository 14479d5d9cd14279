"""When a provider says that it may be called again: ``Retry-After`` and its relatives, as seconds from now."""

import math
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Final

from docmill.domain.backoff import ABSURD_SECONDS, parse_http_date, parse_retry_after

_RESET: Final = re.compile(r"x-ratelimit-reset(-.+)?")
_REMAINING: Final = "x-ratelimit-remaining"
_GO_DURATION: Final = re.compile(r"(\d+(?:\.\d+)?)(ms|h|m|s)")
_UNIT_SECONDS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
#: A larger number of seconds is a moment, counted from 1970.
_LEAST_EPOCH_SECONDS: Final = 1e9
_LEAST_EPOCH_MILLISECONDS: Final = 1e12


def retry_after_seconds(headers: Mapping[str, str], body: object, *, now: datetime) -> float | None:
    """How long the provider asks to be left alone, above 0; None where it does not say, or says what cannot be.

    The first of these that can be used: ``retry-after-ms``; ``Retry-After`` as seconds, whole or decimal, or as a date (RFC 9110,
    section 10.2.3), which is compared with the answer's own ``Date`` where it has one, so that a wrong clock here does not matter;
    ``retryDelay`` in the details of Google's errors; ``x-ratelimit-reset-*`` (the longest of those with nothing remaining, or the
    shortest where something remains of all). What is not a number, not above 0, past, or beyond a day is passed over.

    Args:
        headers: of the answer, with names in lower case.
        body: the answer's JSON as Python values; None where it has none.
        now: the present moment, aware.
    """
    there = parse_http_date(headers.get("date", "")) or now
    hints = (
        _scaled(_number(headers.get("retry-after-ms")), 0.001),
        _retry_after(headers.get("retry-after", ""), there),
        _google_delay(body),
        _rate_limit_reset(headers, there),
    )
    return next((hint for hint in hints if hint is not None), None)


def _usable(seconds: float | None) -> float | None:
    return seconds if seconds is not None and 0 < seconds <= ABSURD_SECONDS else None


def _scaled(number: float | None, factor: float) -> float | None:
    return None if number is None else _usable(number * factor)


def _number(text: str | None) -> float | None:
    try:
        number = float(text.strip()) if text is not None else math.nan
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _retry_after(text: str, now: datetime) -> float | None:
    number = _number(text)  # some write seconds as numbers that the header's own grammar does not have, such as 1e2
    return _usable(number if number is not None else parse_retry_after(text, now))


def _google_delay(body: object) -> float | None:
    """``error.details[].retryDelay``, as in ``"34.07s"``: google.rpc.RetryInfo, a JSON Duration."""
    error = body.get("error") if isinstance(body, dict) else None
    details = error.get("details") if isinstance(error, dict) else None
    for detail in details if isinstance(details, list) else ():
        delay = detail.get("retryDelay") if isinstance(detail, dict) else None
        if isinstance(delay, str) and delay.endswith("s"):
            return _usable(_number(delay.removesuffix("s")))
    return None


def _rate_limit_reset(headers: Mapping[str, str], now: datetime) -> float | None:
    resets = dict(_resets(headers, now))
    exhausted = [seconds for what, seconds in resets.items() if _number(headers.get(_REMAINING + what)) == 0]
    return max(exhausted) if exhausted else min(resets.values(), default=None)


def _resets(headers: Mapping[str, str], now: datetime) -> Iterator[tuple[str, float]]:
    for name, value in headers.items():
        match = _RESET.fullmatch(name)
        seconds = _usable(_reset_seconds(value, now)) if match else None
        if match and seconds is not None:
            yield match[1] or "", seconds


def _reset_seconds(text: str, now: datetime) -> float | None:
    """``1m30s``, ``20ms``, ``12.5``, or a moment since 1970 in seconds or milliseconds."""
    text = text.strip()
    parts = _GO_DURATION.findall(text)
    if parts and "".join(amount + unit for amount, unit in parts) == text:
        return math.fsum(float(amount) * _UNIT_SECONDS[unit] for amount, unit in parts)
    number = _number(text)
    if number is not None and number >= _LEAST_EPOCH_SECONDS:
        return number / (1000 if number >= _LEAST_EPOCH_MILLISECONDS else 1) - now.timestamp()
    return number
