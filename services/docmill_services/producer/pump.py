"""Pump: keeps the queue supplied with what the ledger knows, and makes good what the queue lost."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import structlog

from docmill.domain.registry import Lane
from docmill.ports.queue import TaskQueue
from docmill.ports.state import KnowledgeBaseState

_log = structlog.get_logger(__name__)
_RESEND_LIMIT = 500


@dataclass(slots=True)
class Pump:
    """Sends again what was lost, over all knowledge bases of a producer.

    Attributes:
        patience_seconds: how long messages must be fewer than waiting entries before some count as lost; age alone would flood the
            queue while workers are off.
    """

    states: Mapping[str, KnowledgeBaseState]
    tasks: TaskQueue
    patience_seconds: float = 5.0
    monotonic: Callable[[], float] = time.monotonic
    _short_since: float | None = field(default=None, init=False)

    def turn(self) -> int:
        """One look at every ledger; returns how many messages were sent again.

        Raises:
            StoreDown: registry or broker do not answer.
        """
        return self._resend_expired() + self._resend_lost()

    def _resend_expired(self) -> int:
        sent = 0
        for name, state in self.states.items():
            messages = state.ledger.resend_expired(_RESEND_LIMIT)
            if messages:
                self.tasks.send(messages, Lane.BULK)
                _log.info("documents_sent_again", knowledge_base=name, count=len(messages), reason="lease ran out")
            sent += len(messages)
        return sent

    def _resend_lost(self) -> int:
        # Work goes on between the reads: entries that begin after the first, or are made before the last, are not short of a message.
        before, depth, after = self._waiting(), self.tasks.depth(), self._waiting()
        waiting = {name: min(count, after[name]) for name, count in before.items()}
        missing = sum(waiting.values()) - depth.total
        if missing <= 0:
            self._short_since = None
            return 0
        now = self.monotonic()
        if self._short_since is None:
            self._short_since = now
        if now - self._short_since < self.patience_seconds:
            return 0
        self._short_since = None
        sent = 0
        for name, state in self.states.items():
            messages = state.ledger.oldest_waiting(min(missing - sent, waiting[name], _RESEND_LIMIT))
            if messages:
                self.tasks.send(messages, Lane.BULK)
                _log.warning("documents_sent_again", knowledge_base=name, count=len(messages), reason="message lost")
            sent += len(messages)
            if sent >= missing:
                break
        return sent

    def _waiting(self) -> dict[str, int]:
        return {name: state.ledger.outstanding()[0] for name, state in self.states.items()}
