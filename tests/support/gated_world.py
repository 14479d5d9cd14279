"""A world whose documents need a provider with a gate: what a worker does there, and a pass over real files in a thread."""

import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from docmill.adapters.memory.gate import MemoryGate
from docmill.documents.selection import Selection
from docmill.domain.registry import TaskMessage
from docmill.domain.runs import Run, RunState
from docmill.ports.gate import Gate, Limits, Permit, Refusal, Request, RequestOutcome
from docmill_services.producer.passes import Pass, Stopped
from docmill_services.producer.pump import Pump
from docmill_services.producer.scan import Scan
from support.indexing_world import INDEX_SET, World
from support.trees import knowledge_base, plant
from support.waiting import wait_until

_FAILURES = {RequestOutcome.FAILED: "provider.transient: in its words", RequestOutcome.REFUSED: "provider.permanent: in its words"}


class GatedWorld(World):
    """Every document that is there needs one request of the provider.

    Attributes:
        answers: what the provider makes of a request.
        asked: the documents that it was asked for.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder
        self.gate: Gate = MemoryGate(clock=self.clock, jitter=lambda: 0.0)
        self.answers: Callable[[str], RequestOutcome] = lambda _: RequestOutcome.OK
        self.asked: list[str] = []
        self.stopping = threading.Event()
        self.pump = Pump(
            {"kb": self.state},
            self.tasks,
            lambda: {"kb": self.state},
            5.0,
            self.clock.monotonic,
            gates_of=lambda _: {"fake": self.gate},
        )

    def plant(self, count: int) -> None:
        """So many files, as the scan and as the worker see them."""
        names = [f"{number:03}.md" for number in range(count)]
        plant(self.folder, names)
        for name in names:
            self.source.put(name, name)

    def work_gated(self) -> None:
        """What a worker makes of every message that is there."""
        while self.tasks.messages:
            self._work_on(self.tasks.take())

    def settle(self, condition: Callable[[], object], what: str) -> None:
        """Works until ``condition()``."""

        def turn() -> object:
            self.work_gated()
            return condition()

        wait_until(turn, what)

    def start_pass(self, *, timeout_seconds: float | None = None) -> "RunningPass":
        kb = knowledge_base(self.folder)
        one = Pass(
            knowledge_base="kb",
            state=self.state,
            tasks=self.tasks,
            scan=lambda: Scan(Selection(kb, None), kb.base_folder),
            index_sets=lambda: [INDEX_SET],
            room=lambda: 1000 - sum(self.state.ledger.outstanding()),
            stopping=self.stopping,
            timeout_seconds=timeout_seconds,
            gates={"fake": self.gate},
            clock=self.clock,
            monotonic=self.clock.monotonic,
        )
        return RunningPass(self, one)

    def _work_on(self, message: TaskMessage) -> None:
        attempt = self.state.ledger.begin(message, 30)
        if attempt is None:
            return
        if message.document_id in self.source.files:
            outcome, failed = self._ask(attempt.document_id, attempt.run_id)
            if failed:
                self.state.ledger.finish(attempt, failed=failed)
                return
            if outcome is not RequestOutcome.OK:
                self.state.ledger.give_back([attempt])
                return
        for again in self.state.ledger.give_back([attempt]):
            self.reconciler().reconcile(again)
            self.commit()

    def _ask(self, document_id: str, run_id: str) -> tuple[RequestOutcome, str]:
        """What the request came to, and why the document fails if it does."""
        match self.gate.acquire("worker", Request("kb", run_id), Limits()):
            case Permit() as permit:
                outcome = self.answers(document_id)
                self.asked.append(document_id)
                self.gate.report(permit, outcome, reason="in its words")
                return outcome, _FAILURES.get(outcome, "")
            case Refusal() as refusal:
                return RequestOutcome.REFUSED, f"provider.permanent: {refusal.reason}"
            case _:
                return RequestOutcome.CANCELLED, ""


class RunningPass:
    """A pass in a thread."""

    def __init__(self, world: GatedWorld, one: Pass) -> None:
        self._world = world
        self.id = world.state.ledger.start_run()[0].id
        self.returned: RunState | None = None
        self._thread = threading.Thread(target=self._carry_out, args=(one,), daemon=True)
        self._thread.start()

    @property
    def run(self) -> Run:
        run = self._world.state.ledger.run(self.id)
        assert run is not None
        return run

    def ended(self) -> Run:
        """The run, once the pass has returned while a worker worked."""
        self._world.settle(lambda: not self._thread.is_alive(), "the pass to end")
        assert self.run.state is self.returned
        return self.run

    def backs_off(self) -> Run:
        """The run, once it backs off and the scan has seen everything."""
        self._world.settle(
            lambda: self.run.state is RunState.BACKING_OFF and self.run.counters.get("seen") == len(self._world.source.files),
            "it to back off",
        )
        return self.run

    def _carry_out(self, one: Pass) -> None:
        with suppress(Stopped):
            self.returned = one.carry_out(self.id)
