"""Pump: keeps the queue supplied with what the ledger knows, and makes good what the queue lost."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

import structlog

from docmill.domain.registry import Lane, TaskMessage
from docmill.ports.gate import Gate
from docmill.ports.queue import TaskQueue
from docmill.ports.state import KnowledgeBaseState
from docmill_services.producer.held_back import HeldBack

_log = structlog.get_logger(__name__)
_RESEND_LIMIT = 500


@dataclass(slots=True)
class _Lasting:
    """Since when something holds without a break."""

    since: float | None = None

    def lasted(self, holds: bool, now: float, seconds: float) -> bool:
        """Notes whether it ``holds`` now; whether it has for ``seconds``."""
        if not holds:
            self.since = None
            return False
        if self.since is None:
            self.since = now
        return now - self.since >= seconds


@dataclass(slots=True)
class Pump:
    """Sends again what was lost, over all knowledge bases of a producer.

    Attributes:
        states: of all knowledge bases in the queue.
        led: those of them that this producer leads, with the ledger of their leader.
        gates_of: those of the providers that a knowledge base needs now. What waits while one is not open has no message, and is not lost.
        patience_seconds: how long messages must be fewer than waiting entries before some count as lost; age alone would flood the
            queue while workers are off.
        idle_seconds: how long workers may hold all messages and have nothing in work before those count as lost too: a worker that the
            broker refused an acknowledgement, on a full disk for example, holds what nobody works on until the visibility time-out.
    """

    states: Mapping[str, KnowledgeBaseState]
    tasks: TaskQueue
    led: Callable[[], Mapping[str, KnowledgeBaseState]]
    patience_seconds: float = 5.0
    monotonic: Callable[[], float] = time.monotonic
    idle_seconds: float = 30.0
    gates_of: Callable[[str], Mapping[str, Gate]] = lambda _: {}
    _short: _Lasting = field(default_factory=_Lasting, init=False)
    _idle: _Lasting = field(default_factory=_Lasting, init=False)
    #: What waited when messages began to be short: an entry that was made since may have its message still to come.
    _suspected: frozenset[TaskMessage] = field(default=frozenset(), init=False)
    _held_back: dict[str, HeldBack] = field(init=False)

    def __post_init__(self) -> None:
        """Nothing is held back before the first look at the gates."""
        self._held_back = {
            name: HeldBack(name, partial(self.gates_of, name), self.tasks, self.monotonic, self.patience_seconds) for name in self.states
        }

    def turn(self) -> int:
        """One look at every ledger; returns how many messages were sent again.

        Raises:
            StoreDown: registry or broker do not answer.
        """
        led = self.led()
        released = 0
        for name, held_back in self._held_back.items():
            if name in led:
                released += held_back.turn(led[name].ledger)
            else:
                held_back.look()
        return self._resend_expired() + released + self._resend_lost()

    def _resend_expired(self) -> int:
        sent = 0
        for name, state in self.led().items():
            messages = state.ledger.resend_expired(_RESEND_LIMIT)
            if messages:
                self.tasks.send(messages, Lane.BULK)
                _log.info("documents_sent_again", knowledge_base=name, count=len(messages), reason="lease ran out")
            sent += len(messages)
        return sent

    def _resend_lost(self) -> int:
        # Work goes on between the reads: entries that begin after the first, or are made before the last, are not short of a message.
        before, depth, after = self._outstanding(), self.tasks.depth(), self._outstanding()
        waiting = {name: 0 if self._held_back[name].is_now else min(count, after[name][0]) for name, (count, _) in before.items()}
        missing = sum(waiting.values()) - depth.total
        idle = sum(waiting.values()) > 0 and depth.total == depth.unacknowledged and not any(busy for _, busy in before.values())
        now = self.monotonic()
        if missing > 0 and self._short.since is None:
            self._suspected = frozenset(one for state in self.led().values() for one in state.ledger.oldest_waiting(_RESEND_LIMIT))
        is_short = self._short.lasted(missing > 0, now, self.patience_seconds)
        if self._idle.lasted(idle, now, self.idle_seconds):
            return self._resend_oldest(sum(waiting.values()), waiting, lambda message: True)
        return self._resend_oldest(missing, waiting, self._suspected.__contains__) if is_short else 0

    def _resend_oldest(self, missing: int, waiting: Mapping[str, int], is_lost: Callable[[TaskMessage], bool]) -> int:
        self._short, self._idle = _Lasting(), _Lasting()
        sent = 0
        for name, state in self.led().items():
            oldest = state.ledger.oldest_waiting(min(missing - sent, waiting[name], _RESEND_LIMIT))
            messages = [message for message in oldest if is_lost(message)]
            if messages:
                self.tasks.send(messages, Lane.BULK)
                # Where a provider has a gate, a worker may have given them back in the moment in which it opened, or between two looks.
                say = _log.info if self.gates_of(name) else _log.warning
                say("documents_sent_again", knowledge_base=name, count=len(messages), reason="message lost")
            sent += len(messages)
            if sent >= missing:
                break
        return sent

    def _outstanding(self) -> dict[str, tuple[int, int]]:
        return {name: state.ledger.outstanding() for name, state in self.states.items()}
