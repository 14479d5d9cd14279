"""Run ending: what belongs to the early end of a run, whoever ends it."""

from collections.abc import Iterable

from docmill.domain.runs import RunState
from docmill.ports.gate import RUN_ENDED, Gate
from docmill.ports.ledger import RunLedger


def end_run(ledger: RunLedger, gates: Iterable[Gate], run_id: str, state: RunState, error: str) -> None:
    """Ends a run, and with it the requests that its documents wait for.

    Args:
        ledger: of the run's knowledge base.
        gates: of the providers that its documents need.
        run_id: of the run.
        state: in which it ends; one that is final.
        error: what ended it.

    Raises:
        StoreDown: ledger or gates do not answer.
    """
    ledger.end_run(run_id, state, error)
    for gate in gates:  # only now: a document that is given back because of this finds that its run has ended
        gate.abort(run_id, RUN_ENDED)
