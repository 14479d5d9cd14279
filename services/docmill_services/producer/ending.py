"""Ending: what ends a run early, and when it is complete."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

from docmill.domain.registry import DocumentState
from docmill.domain.run_rules import arms, failure_of_all, failure_that_ends
from docmill.domain.runs import Run, RunState
from docmill.indexing.run_ending import end_run
from docmill.ports.gate import Gate
from docmill.ports.state import KnowledgeBaseState


class Ended(Exception):
    """The run has ended.

    Attributes:
        state: in which it did.
    """

    def __init__(self, state: RunState) -> None:
        super().__init__(state)
        self.state = state


@dataclass(frozen=True, slots=True)
class Ending:
    """Ends one run.

    Attributes:
        index_sets: the sets whose failed documents tell what the run failed of.
        gates: of the providers that documents need, by name.
    """

    run_id: str
    state: KnowledgeBaseState
    index_sets: Callable[[], Sequence[str]]
    gates: Mapping[str, Gate]

    def run_that_goes_on(self) -> Run:
        """The run as it stands.

        Raises:
            Ended: it does not go on: it was ended, a provider refuses it, or a document failed of what every other one would.
            StoreDown: registry or gates do not answer.
        """
        run = self.state.ledger.run(self.run_id)
        if run is None or run.state.final:
            raise Ended(run.state if run is not None else RunState.CANCELLED)
        for gate in self.gates.values():
            if (reason := gate.aborted(self.run_id)) is not None:
                self.end(RunState.FAILED, reason)
        self._fail_of(failure_that_ends(run.counters))
        return run

    def is_complete(self, run: Run) -> bool:
        """Completes a run that plans nothing more once its documents have ended.

        Raises:
            Ended: none of them got through, so it has failed.
            StoreDown: registry or gates do not answer.
        """
        if run.pending:
            return False
        code = failure_of_all(run.counters)
        if code is not None and arms(code):
            for gate in self.gates.values():
                gate.close(run_id=self.run_id)
        self._fail_of(code)
        return self.state.ledger.complete(self.run_id)

    def end(self, state: RunState, error: str) -> NoReturn:
        """Ends the run early, and with it the requests that its documents wait for; raises ``Ended``, or ``StoreDown``."""
        end_run(self.state.ledger, self.gates.values(), self.run_id, state, error)
        run = self.state.ledger.run(self.run_id)
        raise Ended(run.state if run is not None else state)

    def _fail_of(self, code: str | None) -> None:
        if code is not None:
            self.end(RunState.FAILED, self._reason_of(code))

    def _reason_of(self, code: str) -> str:
        """In the words of a document that failed of it."""
        for index_set in self.index_sets():
            for _, entry in self.state.registry.page(index_set, after="", limit=1000, state=DocumentState.FAILED):
                if entry.reason.startswith(f"{code}:"):
                    return entry.reason
        return code
