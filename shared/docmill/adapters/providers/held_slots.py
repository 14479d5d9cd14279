"""Slots that a process holds at providers' gates: each is given back by one report, and kept alive as long as its request takes."""

import contextlib
import threading
from collections.abc import Callable
from typing import Final

import structlog

from docmill.adapters.providers.cancellation import Cancellation
from docmill.adapters.providers.failures import RequestRefused
from docmill.domain.errors import ProviderPermanent, ProviderRateLimited, ProviderTransient, StoreDown, TextRefused
from docmill.ports.gate import HOLDER_SECONDS, Gate, GateChange, Permit, Reported, RequestOutcome

_log = structlog.get_logger(__name__)

#: How soon a request under way is left when its run is aborted.
LOOK_SECONDS: Final = 0.5
_LOOKS_A_HEARTBEAT: Final = int(HOLDER_SECONDS / LOOK_SECONDS) // 3

_ABORTS: Final = {RequestOutcome.FAILED: ProviderTransient.code, RequestOutcome.REFUSED: ProviderPermanent.code}


def outcome_of(failure: BaseException | None, *, is_plain: bool = False) -> RequestOutcome:
    """What a request came to, as far as the gate is concerned.

    Args:
        failure: what the request raised; None where it brought what was asked for.
        is_plain: it asked for what every model takes.
    """
    match failure:
        case None | TextRefused():
            return RequestOutcome.OK
        case RequestRefused():
            # The provider is well, and refuses these texts; where it refuses a plain one, it refuses everything.
            return RequestOutcome.REFUSED if is_plain else RequestOutcome.OK
        case ProviderRateLimited():
            return RequestOutcome.RATE_LIMITED
        case ProviderTransient():
            return RequestOutcome.FAILED
        case ProviderPermanent():
            return RequestOutcome.REFUSED
        case _:
            return RequestOutcome.CANCELLED  # it was left, or never sent: that says nothing of the provider


def reason_of(failure: BaseException | None, outcome: RequestOutcome) -> str:
    """What a run may be aborted for, as a run's error says it: ``<code>: <sentence>``; "" where ``outcome`` aborts none."""
    code = _ABORTS.get(outcome)
    return "" if code is None else f"{code}: {failure}"


class HeldSlot:
    """A permit that is out.

    Attributes:
        cancellation: ends its request.
        abortion: why its run was aborted while the request was under way; None where it was not.
    """

    def __init__(self, slots: "HeldSlots", gate: Gate, permit: Permit | None, provider: str, freed: Callable[[], None]) -> None:
        """Holds nothing yet.

        Args:
            slots: of this process.
            gate: that has given ``permit``.
            permit: None for a request that goes without.
            provider: the model and where it is, for messages.
            freed: called when the slot was given back.
        """
        self.gate = gate
        self.permit = permit
        self.cancellation = Cancellation()
        self.abortion: str | None = None
        self._slots = slots
        self._provider = provider
        self._freed = freed
        self._has_ended = False
        self._lock = threading.Lock()

    def abort(self, reason: str) -> None:
        """Leaves the request, since its run gets no leave any more."""
        self.abortion = reason
        self.cancellation.cancel()

    def end(self, failure: BaseException | None, *, tokens: int | None = None, is_plain: bool = False) -> None:
        """Reports what the request came to; the first call counts.

        Args:
            failure: what it raised; None where it brought what was asked for.
            tokens: what the provider has counted; None where it does not say.
            is_plain: it asked for what every model takes.
        """
        with self._lock:
            if self._has_ended:
                return
            self._has_ended = True
        if self.permit is None:
            return
        self._slots.let_go(self)
        try:
            self._report(self.permit, failure, tokens, is_plain=is_plain)
        finally:
            self._freed()

    def _report(self, permit: Permit, failure: BaseException | None, tokens: int | None, *, is_plain: bool) -> None:
        retry_after = failure.retry_after_seconds if isinstance(failure, ProviderRateLimited | ProviderTransient) else None
        outcome = outcome_of(failure, is_plain=is_plain)
        try:
            reported = self.gate.report(permit, outcome, retry_after_seconds=retry_after, reason=reason_of(failure, outcome), tokens=tokens)
        except StoreDown as error:
            # What the request came to is not lost with its report: the slot comes back by itself, and the next request finds the same.
            _log.debug("outcome_not_reported", provider=self._provider, outcome=outcome.value, error=str(error))
            return
        self._say(reported, "" if failure is None else str(failure))

    def _say(self, reported: Reported, reason: str) -> None:
        seconds = None if reported.opens_in_seconds is None else round(reported.opens_in_seconds, 1)
        match reported.change:
            case GateChange.CLOSED:
                _log.warning("provider_left_alone", provider=self._provider, seconds=seconds, reason=reason)
            case GateChange.CLOSED_AGAIN:
                _log.debug("provider_left_alone_again", provider=self._provider, seconds=seconds, reason=reason)
            case GateChange.OPENED:
                _log.info("provider_answers_again", provider=self._provider)


class HeldSlots:
    """All slots of a process. A thread tells their gates that it lives, and leaves requests whose runs were aborted."""

    def __init__(self, *, holder: str, look_seconds: float = LOOK_SECONDS) -> None:
        """``holder`` names this process, as no other one is named."""
        self.holder = holder
        self._look_seconds = look_seconds
        self._held: set[HeldSlot] = set()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._closed = threading.Event()

    def hold(self, held: HeldSlot) -> None:
        """Keeps its slot from now on; a thread runs while there are any, and ends soon after the last."""
        with self._lock:
            self._held.add(held)
            if self._thread is None and not self._closed.is_set():
                thread = threading.Thread(target=self._run, name="docmill-slots", daemon=True)
                thread.start()
                self._thread = thread

    def let_go(self, held: HeldSlot) -> None:
        """Keeps it no more."""
        with self._lock:
            self._held.discard(held)

    def close(self) -> None:
        """Ends the thread; of no effect the second time."""
        self._closed.set()
        with self._lock:
            thread, self._thread = self._thread, None
        if thread is not None:
            thread.join(HOLDER_SECONDS)  # it may wait for a gate that does not answer, and is a daemon

    def _run(self) -> None:
        looks = 0
        while not self._closed.wait(self._look_seconds):
            with self._lock:
                held = list(self._held)
                if not held:
                    self._thread = None
                    return
            looks += 1
            self._look(held, with_heartbeat=looks % _LOOKS_A_HEARTBEAT == 0)

    def _look(self, held: list[HeldSlot], *, with_heartbeat: bool) -> None:
        for gate in {one.gate for one in held}:
            with contextlib.suppress(StoreDown):  # the next look is soon, and slots outlive a few of them
                if with_heartbeat:
                    gate.heartbeat(self.holder)
                _abort(gate, [one for one in held if one.gate is gate])


def _abort(gate: Gate, held: list[HeldSlot]) -> None:
    for run_id in {one.permit.request.run_id for one in held if one.permit is not None} - {""}:
        reason = gate.aborted(run_id)
        if reason is not None:
            for one in held:
                if one.permit is not None and one.permit.request.run_id == run_id:
                    one.abort(reason)
