"""Run rules: which failures of documents are the failure of their run; pure.

Most take a run's counters, where ``failed.<code>`` says how many documents failed of what, and return the code that the run fails of.
"""

from collections.abc import Mapping
from typing import Final

from docmill.domain.errors import (
    DiskFull,
    ProviderPermanent,
    ProviderRateLimited,
    ProviderTransient,
    RootUnavailable,
    RunBudgetSpent,
    ServiceDown,
    StoreDown,
)
from docmill.domain.runs import Run, RunState

#: What one document failed of and every other one would.
_OF_EVERY_DOCUMENT: Final = (ProviderPermanent.code, RunBudgetSpent.code, DiskFull.code)
_OF_A_PROVIDER: Final = (ProviderTransient.code, ProviderRateLimited.code)
#: What may pass: something that documents need did not answer.
_MAY_PASS: Final = (*_OF_A_PROVIDER, StoreDown.code, ServiceDown.code, RootUnavailable.code)


def failure_that_ends(counters: Mapping[str, int]) -> str | None:
    """What ends a run at once; None while it may go on.

    That a provider never answers is not told from documents, of which one request may carry many: the provider's gate counts requests.
    """
    return next((code for code in _OF_EVERY_DOCUMENT if counters.get(_failed(code))), None)


def failure_of_all(counters: Mapping[str, int]) -> str | None:
    """What a run has failed of that has nothing left to do: every document that it planned failed of what may pass.

    None when one got through, was skipped, or failed for a reason of its own.
    """
    failed = sum(counters.get(_failed(code), 0) for code in _MAY_PASS)
    through = sum(count for name, count in counters.items() if name in ("indexed", "empty") or name.startswith("skipped."))
    if not failed or through or failed < counters.get("planned", 0):
        return None
    return _most_frequent(counters, _MAY_PASS)


def arms(code: str) -> bool:
    """Whether a run that nothing got through of, for ``code``, closes the gates of its providers: they are left alone for a while."""
    return code in _OF_A_PROVIDER


def failed_of_what_arms(run: Run) -> bool:
    """Whether a run has failed of a provider that may answer later: where that refuses, another run would fail of the same."""
    return run.state is RunState.FAILED and arms(run.error.partition(":")[0])


def _failed(code: str) -> str:
    return f"failed.{code}"


def _most_frequent(counters: Mapping[str, int], codes: tuple[str, ...]) -> str:
    return max(codes, key=lambda code: counters.get(_failed(code), 0))
