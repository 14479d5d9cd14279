"""When a provider says that it may be called again."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from docmill.adapters.providers.retry_hints import retry_after_seconds

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
DELAY = {"error": {"details": [{"@type": "type.googleapis.com/google.rpc.Help"}, {"retryDelay": "34.5s"}]}}


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        # Seconds.
        ({"retry-after": "40"}, 40.0),
        ({"retry-after": " 40 "}, 40.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after": "1e2"}, 100.0),
        *(
            ({"retry-after": text}, None)
            for text in ("0", "-5", "-0.1", "NaN", "inf", "-inf", "1e999", "86401", "999999999999", "soon", "")
        ),
        # A date.
        ({"retry-after": "Sun, 01 Mar 2026 12:00:40 GMT"}, 40.0),
        ({"retry-after": "Sun, 01 Mar 2026 13:00:40 +0100"}, 40.0),
        ({"retry-after": "Sunday, 01-Mar-26 12:00:40 GMT"}, 40.0),
        ({"retry-after": "Sun Mar  1 12:00:40 2026"}, 40.0),
        ({"retry-after": "Sun, 01 Mar 2026 12:00:00 GMT"}, None),
        ({"retry-after": "Sun, 01 Mar 2026 11:59:00 GMT"}, None),
        ({"retry-after": "Fri, 01 Mar 2099 12:00:00 GMT"}, None),
        ({"retry-after": "Sun, 99 Mar 2026 12:00:00 GMT"}, None),
        ({"retry-after": "Sun, 01 Mar 2026 11:00:40 GMT", "date": "Sun, 01 Mar 2026 11:00:00 GMT"}, 40.0),
        ({"retry-after": "Sun, 01 Mar 2026 12:00:40 GMT", "date": "yesterday"}, 40.0),
        # Milliseconds.
        ({"retry-after-ms": "1500"}, 1.5),
        ({"retry-after-ms": "1500", "retry-after": "40"}, 1.5),
        ({"retry-after-ms": "-1", "retry-after": "40"}, 40.0),
        ({"retry-after-ms": "NaN", "retry-after": "x"}, None),
        # Until the limit is reset.
        ({"x-ratelimit-reset-requests": "1m30s"}, 90.0),
        ({"x-ratelimit-reset-requests": "20ms"}, 0.02),
        ({"x-ratelimit-reset-tokens": "1h2m3.5s"}, 3723.5),
        ({"x-ratelimit-reset-tokens": "12.5"}, 12.5),
        ({"x-ratelimit-reset": "40"}, 40.0),
        ({"x-ratelimit-reset": str(NOW.timestamp() + 40)}, 40.0),
        ({"x-ratelimit-reset": str(int((NOW.timestamp() + 40) * 1000))}, 40.0),
        ({"x-ratelimit-reset": str(NOW.timestamp() - 40)}, None),
        ({"x-ratelimit-reset-requests": "0s"}, None),
        ({"x-ratelimit-reset-requests": "1 minute"}, None),
        ({"x-ratelimit-reset-requests": "48h"}, None),
        ({"x-ratelimit-reset-requests": "1s", "x-ratelimit-reset-tokens": "6m0s"}, 1.0),
        (
            {
                "x-ratelimit-reset-requests": "1s",
                "x-ratelimit-remaining-requests": "10",
                "x-ratelimit-reset-tokens": "6m0s",
                "x-ratelimit-remaining-tokens": "0",
            },
            360.0,
        ),
        ({"retry-after": "-1", "x-ratelimit-reset-requests": "7s"}, 7.0),
        ({"retry-after": "3", "x-ratelimit-reset-requests": "7s"}, 3.0),
    ],
)
def test_a_header_says_when(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after_seconds(headers, None, now=NOW) == (None if seconds is None else pytest.approx(seconds, abs=1e-3))


@pytest.mark.parametrize(
    ("body", "seconds"),
    [
        (DELAY, 34.5),
        ({"error": {"details": [{"retryDelay": "-1s"}]}}, None),
        ({"error": {"details": [{"retryDelay": 5}]}}, None),
        ({"error": {"details": "none"}}, None),
        ({"error": "x"}, None),
        ([], None),
    ],
)
def test_google_says_it_in_the_body(body: object, seconds: float | None) -> None:
    assert retry_after_seconds({}, body, now=NOW) == seconds


def test_the_hosts_time_zone_does_not_matter() -> None:
    elsewhere = NOW.astimezone(timezone(timedelta(hours=9)))
    assert retry_after_seconds({"retry-after": "Sun, 01 Mar 2026 12:00:40 GMT"}, None, now=elsewhere) == 40.0
