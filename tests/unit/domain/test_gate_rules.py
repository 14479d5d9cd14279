"""What a gate learns, rule by rule."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docmill.domain import gate_rules as rules
from docmill.domain.gate_rules import Climb, after_closing, after_opening, after_success, rate_after_refusal


@pytest.mark.parametrize(
    ("last_second", "last_five", "former", "rate"),
    [
        (10, 30, None, 7.0),
        (10, 90, 50.0, 7.0),
        (2, 9, None, 1.4),
        (1, 9, 1.8, 0.7 * 1.8),
        (1, 1, None, 0.7),
        (0, 1, None, 0.2),
        (0, 0, None, None),
        (0, 0, 10.0, 7.0),
        (0, 0, 0.21, 0.2),
    ],
)
def test_the_rate_after_a_refusal(last_second: int, last_five: int, former: float | None, rate: float | None) -> None:
    assert rate_after_refusal(last_second, last_five, former) == (None if rate is None else pytest.approx(rate))


@pytest.mark.parametrize(
    ("per_minute", "in_a_second", "spacing"),
    [(1, 1, 60.0), (12, 1, 5.0), (59, 1, 60 / 59), (60, 1, 0.0), (90, 2, 2 / 3), (119, 2, 60 / 119), (120, 2, 0.0), (630, 10, 0.0)],
)
def test_what_a_configured_rate_allows(per_minute: int, in_a_second: int, spacing: float) -> None:
    assert rules.requests_in_a_second(per_minute) == in_a_second
    assert rules.spacing_seconds(per_minute) == pytest.approx(spacing)


@pytest.mark.parametrize(("limit", "busy", "share"), [(8, 1, 8), (8, 2, 4), (8, 3, 3), (3, 5, 1), (1, 0, 1)])
def test_the_share_of_a_busy_knowledge_base(limit: int, busy: int, share: int) -> None:
    assert rules.share_of(limit, busy) == share


@pytest.mark.parametrize(
    ("climb", "starts_at", "top", "limit"),
    [
        (Climb(), 3, 64, 3),
        (Climb(), 10, 10, 10),
        (Climb(20), 3, 64, 20),
        (Climb(20), 3, 8, 8),
        (Climb(4), 10, 10, 10),
        (Climb(4, half=5), 10, 10, 4),
        (Climb(1, half=1), 3, 64, 1),
    ],
)
def test_the_limit_that_holds(climb: Climb, starts_at: int, top: int, limit: int) -> None:
    assert climb.bounded(starts_at, top) == limit


@pytest.mark.parametrize(("limit", "half"), [(1, 1), (2, 1), (3, 1), (4, 2), (64, 32)])
def test_a_closing_remembers_half_and_an_opening_restarts_at_one(limit: int, half: int) -> None:
    closed = after_closing(Climb(limit, began=5.0, answers=3, from_limit=2, from_rate=9.0))
    assert closed == Climb(limit, half=half)
    assert after_opening(closed) == Climb(1, half=half)


NOW = 1000.0


@pytest.mark.parametrize(
    ("climb", "full", "wanted_since", "after"),
    [
        pytest.param(Climb(2, half=4), True, None, Climb(3, half=4), id="by one up to half"),
        pytest.param(Climb(2, half=4), False, None, Climb(2, half=4), id="not while slots are free"),
        pytest.param(Climb(4, half=4), True, 900.0, Climb(4, half=4, began=NOW), id="beyond half a measurement begins"),
        pytest.param(Climb(4, began=990.0, answers=7), False, None, Climb(4, began=NOW), id="nobody waits: begin again"),
        pytest.param(Climb(4, began=990.0, answers=7), False, 995.0, Climb(4, began=NOW), id="there was a break: begin again"),
        pytest.param(Climb(4, began=999.5, answers=90), False, 900.0, Climb(4, began=999.5, answers=91), id="too short"),
        pytest.param(Climb(4, began=990.0, answers=6), False, 900.0, Climb(4, began=990.0, answers=7), id="too few"),
        pytest.param(
            Climb(4, began=998.0, answers=9), False, 900.0, Climb(5, began=NOW, from_limit=4, from_rate=5.0), id="measured: try one more"
        ),
        pytest.param(
            Climb(16, began=998.0, answers=39), False, 900.0, Climb(20, began=NOW, from_limit=16, from_rate=20.0), id="a quarter more"
        ),
        pytest.param(
            Climb(5, began=998.0, answers=10, from_limit=4, from_rate=5.0),
            False,
            900.0,
            Climb(6, began=NOW, from_limit=5, from_rate=5.5),
            id="it brought more",
        ),
        pytest.param(
            Climb(5, half=2, began=998.0, answers=9, from_limit=4, from_rate=5.0),
            False,
            900.0,
            Climb(4, half=2, next_try=NOW + 30),
            id="it did not",
        ),
        pytest.param(Climb(4, next_try=NOW + 1), True, 900.0, Climb(4, next_try=NOW + 1), id="not again so soon"),
        pytest.param(Climb(4, next_try=NOW - 1), True, 900.0, Climb(4, began=NOW, next_try=NOW - 1), id="after half a minute"),
        pytest.param(Climb(64), True, 900.0, Climb(64), id="not above the highest"),
        pytest.param(Climb(64, began=998.0, answers=200, from_limit=60, from_rate=5.0), True, 900.0, Climb(64), id="the highest is kept"),
        pytest.param(
            Climb(63, began=990.0, answers=629), True, 900.0, Climb(64, began=NOW, from_limit=63, from_rate=63.0), id="up to the highest"
        ),
    ],
)
def test_what_a_success_teaches(climb: Climb, full: bool, wanted_since: float | None, after: Climb) -> None:
    assert after_success(climb, NOW, 64, full=full, wanted_since=wanted_since) == after


@given(st.lists(st.tuples(st.floats(0, 40), st.booleans(), st.sampled_from([None, 0.0, 1.0])), max_size=200), st.integers(1, 64))
def test_the_limit_is_never_below_one_nor_above_its_top(steps: list[tuple[float, bool, float | None]], top: int) -> None:
    climb, now = Climb(1, half=3), 1.0
    for seconds, full, wanted_since in steps:
        now += seconds
        climb = after_success(climb, now, top, full=full, wanted_since=wanted_since)
        assert 1 <= climb.limit <= top


@pytest.mark.parametrize("limits", [(0, None, None), (None, 0, None), (None, None, -5)])
def test_a_limit_that_lets_nothing_through_is_refused(limits: tuple[int | None, int | None, int | None]) -> None:
    with pytest.raises(ValueError, match="would never let"):
        rules.check_limits(*limits)
