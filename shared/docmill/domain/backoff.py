"""How long a provider that refuses is left alone, and what its ``Retry-After`` header means."""

import math
import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

FIRST_SECONDS: Final = 15.0
LONGEST_SECONDS: Final = 300.0
JITTER_SHARE: Final = 0.2
ABSURD_SECONDS: Final = 86_400.0
_DECIMAL: Final = re.compile(r"(?:\d+\.?\d*|\.\d+)", re.ASCII)


def backoff_seconds(failures: int, retry_after_seconds: float | None, jitter: float) -> float:
    """How long to wait after the ``failures``-th refusal in a row: ``15 s * 2^(n-1)``, at most 300 s, and up to 20 % on top.

    Args:
        failures: refusals in a row, this one included; from 1.
        retry_after_seconds: what the provider asked for; it takes the place of the doubling and has the same cap. What is not above 0, not
            a number, or longer than a day is not believed.
        jitter: from 0 to 1, the share of the 20 %; random, so that callers that were refused together do not come back together.
    """
    if retry_after_seconds is not None and 0.0 < retry_after_seconds <= ABSURD_SECONDS:
        wait = min(LONGEST_SECONDS, retry_after_seconds)
    else:
        wait = math.ldexp(FIRST_SECONDS, min(failures, 32) - 1) if failures > 0 else FIRST_SECONDS
        wait = min(LONGEST_SECONDS, wait)
    return wait * (1.0 + JITTER_SHARE * jitter)


def parse_retry_after(value: str, now: datetime) -> float | None:
    """The seconds that a ``Retry-After`` header asks for (RFC 9110, section 10.2.3), or None when it says nothing usable.

    Args:
        value: the header: seconds, also with decimals as some providers send them, or one of the three date forms of HTTP.
        now: the moment of the response, aware of its zone: its ``Date`` header where it has one, so that two clocks are not compared.

    Returns:
        Seconds above 0; None for anything else: empty, zero, negative, not a number, a date that has passed.
    """
    text = value.strip()
    if _DECIMAL.fullmatch(text):
        seconds = float(text)
    else:
        moment = parse_http_date(text)
        if moment is None:
            return None
        seconds = (moment - now).total_seconds()
    return seconds if 0.0 < seconds < math.inf else None


def parse_http_date(value: str) -> datetime | None:
    """The moment that an HTTP date names, aware of its zone (RFC 9110, section 5.6.7); None for what is no date."""
    try:
        moment = parsedate_to_datetime(value.strip())
    except (ValueError, TypeError, OverflowError):
        return None
    # HTTP dates are in GMT, also in the form that does not say so.
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
