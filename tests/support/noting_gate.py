"""A gate that notes what it is asked and told."""

from docmill.adapters.memory.gate import MemoryGate
from docmill.domain.errors import StoreDown
from docmill.ports.gate import Limits, Permit, Refusal, Reported, Request, RequestOutcome, Wait


class NotingGate(MemoryGate):
    """Notes what is reported, and is silent when it is told to be.

    Attributes:
        open_slots: permits that are out.
        reports: every outcome, with what was said of it.
        asked: every request for leave that was answered.
        silent: it does not answer.
        heartbeats: who sent them.
        now: its clock, in seconds since 1970.
    """

    def __init__(self) -> None:
        self.now = 1_000_000.0
        super().__init__(clock=lambda: self.now, jitter=lambda: 0.0)
        self.open_slots: set[str] = set()
        self.reports: list[tuple[RequestOutcome, float | None, str, int | None]] = []
        self.asked: list[Request] = []
        self.silent = False
        self.heartbeats: list[str] = []

    def acquire(self, holder: str, request: Request, limits: Limits) -> Permit | Wait | Refusal:
        self._answer()
        answer = super().acquire(holder, request, limits)
        self.asked.append(request)
        if isinstance(answer, Permit):
            self.open_slots.add(answer.slot)
        return answer

    def report(
        self,
        permit: Permit,
        outcome: RequestOutcome,
        *,
        retry_after_seconds: float | None = None,
        reason: str = "",
        tokens: int | None = None,
    ) -> Reported:
        self._answer()
        self.open_slots.remove(permit.slot)
        self.reports.append((outcome, retry_after_seconds, reason, tokens))
        return super().report(permit, outcome, retry_after_seconds=retry_after_seconds, reason=reason, tokens=tokens)

    def heartbeat(self, holder: str) -> None:
        self.heartbeats.append(holder)
        super().heartbeat(holder)

    def _answer(self) -> None:
        if self.silent:
            raise StoreDown("Redis does not answer")
