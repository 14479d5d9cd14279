"""Permits: every request to a provider waits for leave of its gate, and reports there what it came to."""

import math
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from docmill.adapters.memory.gate import MemoryGate
from docmill.adapters.providers.accounts import Account
from docmill.adapters.providers.cancellation import Cancellation
from docmill.adapters.providers.held_slots import HeldSlot, HeldSlots
from docmill.domain.errors import (
    CallCancelled,
    ProviderError,
    ProviderLeftAlone,
    ProviderPermanent,
    ProviderTransient,
    RunBudgetSpent,
    StoreDown,
)
from docmill.ports.gate import RUN_ENDED, SLOT_POLL_SECONDS, Gate, Limits, Permit, Refusal, RefusalKind, Request, Wait
from docmill.ports.models import Caller

Result = TypeVar("Result")

#: Is told for whom how many tokens were spent: those that the provider has counted, else an estimate.
Spent = Callable[[Caller, int], None]

#: Who calls a model that was bound to nobody.
NOBODY: Final = Caller("")
#: The gate is asked again after so long at the latest: the run may have been aborted.
_LONGEST_WAIT_SECONDS: Final = 1.0
#: A query that got leave later would have no time left for the answer.
_PART_OF_QUERY: Final = 0.5
#: After the gate did not answer, queries go without it for so long: not each one waits for its time-out.
_SILENCE_SECONDS: Final = 1.0


@dataclass(frozen=True, slots=True)
class Answered(Generic[Result]):
    """What a request brought, and how many tokens the provider has counted; None where it does not say."""

    result: Result
    tokens: int | None = None


class Permits:
    """The gate of one model's provider, as its callers meet it; any number of threads may call at once."""

    def __init__(
        self,
        gate: Gate,
        provider: str,
        limits: Limits,
        slots: HeldSlots,
        *,
        query_seconds: float = 10.0,
        when_stopped: Callable[[], None] = lambda: None,
        spent: Spent = lambda _caller, _tokens: None,
    ) -> None:
        """Asks for nothing yet.

        Args:
            gate: of the account that is asked.
            provider: the model and where it is, for messages.
            limits: what is configured.
            slots: of this process.
            query_seconds: how long a query may take as a whole.
            when_stopped: called by ``stop``.
            spent: called for each request that was answered.
        """
        self._gate = gate
        self._provider = provider
        self._limits = limits
        self._slots = slots
        self._query_seconds = query_seconds * _PART_OF_QUERY
        self._freed = 0
        self._changed = threading.Condition()
        self._silent_until = -math.inf
        self._stopped = False
        self._when_stopped = when_stopped
        self._spent = spent

    def call(self, caller: Caller, tokens: int, ask: Callable[[Cancellation], Answered[Result]], *, is_plain: bool = False) -> Result:
        """What ``ask``, which makes one request, brings; it is called when there is leave, and its outcome is reported.

        Args:
            caller: for whom.
            tokens: likely, of the request and its answer.
            ask: ends the request when it is told to by what it is given.
            is_plain: it asks for what every model takes.

        Raises:
            ProviderLeftAlone: the provider has asked to be called later; or a query would have to wait for too long.
            RunBudgetSpent: the run has spent what it may.
            ProviderPermanent, ProviderTransient: the run was aborted, maybe while the request was under way.
            CallCancelled: ``stop`` was called, or the run has ended.
            StoreDown: the gate cannot be asked, and this is no query.
        """
        held = self.begin(caller, tokens)
        try:
            answered = ask(held.cancellation)
        except BaseException as failure:
            held.end(failure, is_plain=is_plain)
            if held.abortion is not None and isinstance(failure, CallCancelled):
                raise _aborted(held.abortion, self._provider) from failure
            raise
        held.end(None, tokens=answered.tokens)
        self._spent(caller, tokens if answered.tokens is None else answered.tokens)
        return answered.result

    def begin(self, caller: Caller, tokens: int) -> HeldSlot:
        """Waits for leave; the caller ends what is returned, whatever happens. Arguments and errors as ``call``."""
        most = self._limits.tokens_per_minute
        request = Request(
            caller.knowledge_base,
            run_id=caller.run_id,
            tokens=tokens if most is None else min(tokens, most),  # an estimate above the limit would never get leave
            max_run_tokens=caller.max_run_tokens,
            waits_for_nobody=caller.is_query,
        )
        held = HeldSlot(self._slots, self._gate, self._permit(request), self._provider, self._note_freed)
        try:
            if held.permit is not None:
                self._slots.hold(held)
        except BaseException as failure:
            held.end(failure)
            raise
        return held

    def stop(self) -> None:
        """Ends all waiting; nothing gets leave any more."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()
        self._when_stopped()

    def _note_freed(self) -> None:
        with self._changed:
            self._freed += 1
            self._changed.notify()  # one slot is free; the others ask again by themselves

    def _permit(self, request: Request) -> Permit | None:
        """Leave; None where the gate cannot be asked and a query goes without.

        A query is one request that somebody waits for, and no flood comes of it: it is answered while Redis is out, like the rest of a
        search. Documents wait until it is back.
        """
        until = time.monotonic() + self._query_seconds if request.waits_for_nobody else math.inf
        while True:
            freed = self._freed
            self._require_running()
            if request.waits_for_nobody and time.monotonic() < self._silent_until:
                return None
            try:
                answer = self._gate.acquire(self._slots.holder, request, self._limits)
            except StoreDown:
                self._silent_until = time.monotonic() + _SILENCE_SECONDS
                if request.waits_for_nobody:
                    return None
                raise
            match answer:
                case Permit():
                    return answer
                case Refusal():
                    raise _refused(answer, self._provider)
                case Wait(seconds=seconds, closed=closed):
                    if closed or time.monotonic() + seconds > until:
                        raise self._left_alone(seconds, closed=closed)
                    self._wait(seconds, freed)

    def _wait(self, seconds: float, freed: int) -> None:
        """Until the time is over, a slot of this process is freed where one is awaited, or all is stopped."""
        awaits_slot = seconds <= SLOT_POLL_SECONDS
        with self._changed:
            self._changed.wait_for(
                lambda: self._stopped or (awaits_slot and self._freed != freed), timeout=min(seconds, _LONGEST_WAIT_SECONDS)
            )

    def _require_running(self) -> None:
        if self._stopped:
            raise CallCancelled(f"{self._provider} was not called: docmill is stopping")

    def _left_alone(self, seconds: float, *, closed: bool) -> ProviderLeftAlone:
        why = "has asked to be left alone" if closed else "is asked as often as it may be"
        return ProviderLeftAlone(f"{self._provider} {why}; it is asked again in {math.ceil(seconds)} s", seconds)


#: Makes the permits of one model: of how messages name it, of the account that it is called with, of what its own entry limits.
PermitsOf = Callable[[str, Account, Limits], Permits]


def alone(provider: str, account: Account, limits: Limits) -> Permits:
    """Permits of a gate that nobody else knows, for a model that is tried by itself."""
    slots = HeldSlots(holder=secrets.token_hex(8))
    return Permits(MemoryGate(), provider, limits, slots, when_stopped=slots.close)


def _refused(refusal: Refusal, provider: str) -> ProviderError:
    if refusal.kind is RefusalKind.BUDGET:
        return RunBudgetSpent(refusal.reason or f"{provider} was not called: the run has spent the tokens that it may (max_tokens_per_run)")
    return _aborted(refusal.reason, provider)


def _aborted(reason: str, provider: str) -> ProviderError:
    if reason == RUN_ENDED:
        return CallCancelled(f"{provider} was not called: the run has ended")
    code, _, sentence = reason.partition(": ")
    kind = next((kind for kind in (ProviderTransient, ProviderPermanent) if kind.code == code), None)
    return ProviderPermanent(reason) if kind is None else kind(sentence)
