from structlog.testing import capture_logs

from docmill.domain.errors import StoreDown
from docmill_services.producer.outages import Outages


def said(logs: list[dict[str, object]]) -> list[tuple[object, object]]:
    return [(line["event"], line["log_level"]) for line in logs if line["log_level"] != "debug"]


def test_an_outage_that_many_run_into_is_said_once_and_so_is_its_end() -> None:
    outages = Outages()
    with capture_logs() as logs:
        for _ in range(5):
            for part in ("kb", "other kb", "queue"):
                outages.began(part, StoreDown("Redis at host:6379 does not answer"))
        for part in ("kb", "other kb", "queue", "kb"):
            outages.over(part)
    assert said(logs) == [("producer_interrupted", "warning"), ("producer_goes_on", "info")]  # type: ignore[arg-type]


def test_another_reason_is_said_too_but_not_again_and_again() -> None:
    outages = Outages()
    with capture_logs() as logs:
        for message in ("refused", "reset", "refused", "reset"):
            outages.began("kb", StoreDown(message))
    assert said(logs) == [("producer_interrupted", "warning")] * 2  # type: ignore[arg-type]


def test_the_next_outage_is_said_again() -> None:
    outages = Outages()
    with capture_logs() as logs:
        for _ in range(2):
            outages.began("kb", StoreDown("refused"))
            outages.over("kb")
    assert [event for event, _ in said(logs)] == ["producer_interrupted", "producer_goes_on"] * 2  # type: ignore[arg-type]


def test_while_one_part_is_still_interrupted_nothing_is_over() -> None:
    outages = Outages()
    with capture_logs() as logs:
        outages.began("kb", StoreDown("a store does not answer"))
        for _ in range(3):
            outages.over("queue")
            outages.began("kb", StoreDown("a store does not answer"))
    assert said(logs) == [("producer_interrupted", "warning")]  # type: ignore[arg-type]
