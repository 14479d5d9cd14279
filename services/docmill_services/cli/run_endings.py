"""Run endings: which exit code says how runs ended; pure."""

from collections.abc import Collection, Mapping
from typing import Final

from docmill.domain.errors import ExitCode, error_kinds
from docmill.domain.runs import REMOVALS_HELD, Run, RunState

_CODE_OF: Final[Mapping[RunState, ExitCode]] = {
    RunState.COMPLETE: ExitCode.OK,
    RunState.COMPLETE_WITH_ERRORS: ExitCode.FINDINGS,
    RunState.TIMED_OUT: ExitCode.FINDINGS,
    RunState.CANCELLED: ExitCode.INTERRUPTED,
    RunState.BACKING_OFF: ExitCode.SERVICE_DOWN,
}


def exit_code_of_runs(runs: Collection[Run], *, interrupted: bool = False) -> ExitCode:
    """The gravest of all.

    Args:
        runs: as they were when they were looked at last; one that waits for a provider was left since it does.
        interrupted: somebody did not want to wait for their end.
    """
    if interrupted and not all(run.state.final for run in runs):
        return ExitCode.INTERRUPTED
    return max((_exit_code_of(run) for run in runs), default=ExitCode.OK)


def exit_codes_by_error() -> dict[str, ExitCode]:
    """The exit code of each error's code."""
    return {kind.code: kind.exit_code for kind in error_kinds()}


def _exit_code_of(run: Run) -> ExitCode:
    if run.state is RunState.FAILED:  # of what, its error says first: ``<code>: <sentence>``
        return exit_codes_by_error().get(run.error.partition(":")[0], ExitCode.SERVICE_DOWN)
    if run.counters.get(REMOVALS_HELD):
        return max(ExitCode.FINDINGS, _CODE_OF.get(run.state, ExitCode.INTERRUPTED))
    return _CODE_OF.get(run.state, ExitCode.INTERRUPTED)
