"""What a command's exit code says of the runs that it waited for."""

import pytest

from docmill.domain.runs import REMOVALS_HELD, Run, RunState
from docmill_services.cli.run_endings import exit_code_of_runs


def run(state: RunState, error: str = "") -> Run:
    return Run("1", state, started_at=0.0, error=error)


@pytest.mark.parametrize(
    ("state", "code"),
    [
        (RunState.COMPLETE, 0),
        (RunState.COMPLETE_WITH_ERRORS, 1),
        (RunState.TIMED_OUT, 1),
        (RunState.BACKING_OFF, 3),
        (RunState.CANCELLED, 4),
        (RunState.SCANNING, 4),
        (RunState.INDEXING, 4),
    ],
)
def test_each_ending_has_its_exit_code(state: RunState, code: int) -> None:
    assert exit_code_of_runs([run(state)]) == code


@pytest.mark.parametrize(
    ("error", "code"),
    [
        ("provider.permanent: openai/x answered 401: Incorrect API key", 3),
        ("provider.budget_spent: 1,000 tokens are spent", 3),
        ("provider.transient: it is away", 3),
        ("root.unavailable: /mnt is not there", 3),
        ("configuration.invalid: the model is not known", 2),
        ("store.wrong_dimension: 8 and 4", 2),
        ("internal: KeyError: 'x'", 1),
        ("words of no error", 3),
        ("", 3),
    ],
)
def test_a_failed_run_ends_as_the_error_that_it_failed_of(error: str, code: int) -> None:
    assert exit_code_of_runs([run(RunState.FAILED, error)]) == code


def test_the_gravest_of_several_endings_counts() -> None:
    runs = [run(RunState.COMPLETE), run(RunState.FAILED, "provider.transient: away"), run(RunState.COMPLETE_WITH_ERRORS)]
    assert exit_code_of_runs(runs) == 3
    assert exit_code_of_runs([]) == 0


def test_who_leaves_a_run_that_waits_for_its_provider_was_interrupted() -> None:
    assert exit_code_of_runs([run(RunState.BACKING_OFF)], interrupted=True) == 4
    assert exit_code_of_runs([run(RunState.COMPLETE)], interrupted=True) == 0


def test_a_run_whose_removals_wait_is_a_finding() -> None:
    assert exit_code_of_runs([Run("1", RunState.COMPLETE, started_at=0.0, counters={REMOVALS_HELD: 300})]) == 1
