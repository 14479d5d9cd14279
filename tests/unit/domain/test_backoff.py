"""How long a refusing provider is left alone, and what Retry-After means."""

import math
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docmill.domain.backoff import backoff_seconds, parse_retry_after

NOW = datetime(1994, 11, 6, 8, 49, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("failures", "seconds"), [(1, 15), (2, 30), (3, 60), (4, 120), (5, 240), (6, 300), (7, 300), (31, 300), (1_000_000, 300)]
)
def test_waits_double_up_to_five_minutes(failures: int, seconds: float) -> None:
    assert backoff_seconds(failures, None, 0.0) == seconds


@pytest.mark.parametrize(("jitter", "factor"), [(0.0, 1.0), (0.5, 1.1), (1.0, 1.2)])
@pytest.mark.parametrize("failures", [1, 3, 7])
def test_up_to_a_fifth_is_added_at_random(failures: int, jitter: float, factor: float) -> None:
    assert backoff_seconds(failures, None, jitter) == pytest.approx(backoff_seconds(failures, None, 0.0) * factor)


@pytest.mark.parametrize(("asked", "seconds"), [(1, 1), (0.25, 0.25), (45.5, 45.5), (300, 300), (301, 300), (86_400, 300)])
def test_what_the_provider_asks_for_overrides_up_to_five_minutes(asked: float, seconds: float) -> None:
    assert backoff_seconds(4, asked, 0.0) == seconds
    assert backoff_seconds(4, asked, 1.0) == pytest.approx(seconds * 1.2)


@pytest.mark.parametrize("asked", [0, -0.0, -1, -math.inf, math.inf, math.nan, 86_401, 1.7e9, 1e300])
def test_what_cannot_be_meant_is_not_believed(asked: float) -> None:
    assert backoff_seconds(3, asked, 0.0) == 60


@given(st.integers(1, 10**9), st.none() | st.floats(), st.floats(0, 1))
def test_a_wait_is_above_zero_and_bounded(failures: int, asked: float | None, jitter: float) -> None:
    assert 0 < backoff_seconds(failures, asked, jitter) <= 360


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120),
        (" 120 ", 120),
        ("1.5", 1.5),
        (".5", 0.5),
        ("2.", 2),
        ("0005", 5),
        ("Sun, 06 Nov 1994 08:49:37 GMT", 37),
        ("Sunday, 06-Nov-94 08:49:37 GMT", 37),
        ("Sun Nov  6 08:49:37 1994", 37),
        ("Sun, 06 Nov 1994 09:49:37 +0100", 37),
        ("Sun, 06 Nov 1994 08:49:37 -0000", 37),
    ],
)
def test_seconds_decimals_and_dates_are_understood(value: str, seconds: float) -> None:
    assert parse_retry_after(value, NOW) == seconds
    assert parse_retry_after(value, NOW.astimezone(timezone(timedelta(hours=5)))) == seconds


@pytest.mark.parametrize(
    "value",
    [
        *("", " ", "0", "0.0", "-1", "+5", "nan", "inf", "-inf", "1e3", "1_000", "٣", "soon", "5s", "1,5", "0x10", "9" * 400),
        *("Sun, 06 Nov 1994 08:49:00 GMT", "Sun, 06 Nov 1994 08:48:59 GMT", "Thu, 01 Jan 1970 00:00:00 GMT"),
        *("Sun, 99 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 99999 08:49:37 GMT", "06 Nov", "Sun, 06 Nov 1994 08:49:37 +9999999999"),
    ],
)
def test_anything_else_says_nothing(value: str) -> None:
    assert parse_retry_after(value, NOW) is None


@given(st.text(max_size=40))
def test_no_text_makes_the_parser_fail(value: str) -> None:
    assert (parse_retry_after(value, NOW) or 1) > 0
