"""How long the next request may wait for company, and whether one more would have something to do."""

import pytest

from docmill.indexing.request_pace import RequestPace


@pytest.mark.parametrize(
    ("busy", "lingers"),
    [
        (0, 0.005),  # nothing will return
        (1, 0.5),
        (3, 0.25),
        (999, 0.005),
    ],
)
def test_a_request_waits_for_company_until_another_one_returns(busy: int, lingers: float) -> None:
    pace = RequestPace(0.005)
    pace.note(1.0, is_full=False)
    assert pace.linger_seconds(busy) == lingers


def test_a_request_waits_no_longer_than_a_second_for_company() -> None:
    pace = RequestPace(0.005)
    pace.note(60.0, is_full=False)
    assert pace.linger_seconds(1) == 1.0


def test_the_last_request_counts_for_less_than_those_before() -> None:
    pace = RequestPace(0.0)
    pace.note(1.0, is_full=False)
    pace.note(0.5, is_full=False)
    assert pace.linger_seconds(1) == pytest.approx(0.425)


def test_more_senders_are_added_while_full_requests_are_quick() -> None:
    pace = RequestPace(0.0)
    assert pace.bears_another(30)
    pace.note(1.0, is_full=True)
    pace.note(100.0, is_full=False)
    assert pace.bears_another(30)
    pace.note(100.0, is_full=True)
    assert not pace.bears_another(3)
    assert pace.bears_another(2)
