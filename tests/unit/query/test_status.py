import pytest

from docmill.domain.runs import Run, RunState
from docmill_services.query.status import SHOWN_STATES, Counts, state_of


def counts(*, live: int = 0, pending: int = 0) -> Counts:
    return Counts({state.value: 0 for state in SHOWN_STATES} | {"live": live, "pending": pending}, {})


def run(state: RunState) -> Run:
    return Run("r1", state, 1.0)


@pytest.mark.parametrize(
    ("live", "pending", "state", "expected"),
    [
        (0, 0, None, "empty"),
        (0, 3, None, "indexing"),
        (5, 0, None, "ready"),
        (5, 3, None, "ready"),
        (0, 0, RunState.SCANNING, "indexing"),
        (5, 3, RunState.INDEXING, "indexing"),
        (5, 3, RunState.BACKING_OFF, "backing_off"),
        (5, 0, RunState.COMPLETE, "ready"),
        (5, 0, RunState.COMPLETE_WITH_ERRORS, "ready"),
        (0, 0, RunState.COMPLETE, "empty"),
        (5, 0, RunState.FAILED, "failed"),
        (5, 0, RunState.CANCELLED, "ready"),
        (5, 2, RunState.TIMED_OUT, "ready"),
    ],
)
def test_one_word_says_how_a_knowledge_base_stands(live: int, pending: int, state: RunState | None, expected: str) -> None:
    assert state_of(counts(live=live, pending=pending), None if state is None else run(state)) == expected
