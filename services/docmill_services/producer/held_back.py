"""Held back: documents that workers gave back without a message, since a provider is left alone; they are sent when it may be called."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import structlog

from docmill.domain.registry import Lane, TaskMessage
from docmill.indexing.batches import in_batches
from docmill.ports.gate import Gate
from docmill.ports.ledger import RunLedger
from docmill.ports.queue import TaskQueue
from docmill_services.producer.backing_off import PROBING_DOCUMENTS, Leave, leave_of

_log = structlog.get_logger(__name__)
_MESSAGES_AT_ONCE: Final = 500
_EVERYTHING: Final = 1_000_000


@dataclass(slots=True)
class HeldBack:
    """What waits of one knowledge base while its gates are not all open.

    Attributes:
        gates: of the providers that it needs now, by name.
        patience_seconds: how long a message of a document that is to try the gate may be on its way while the queue is not empty.
    """

    knowledge_base: str
    gates: Callable[[], Mapping[str, Gate]]
    tasks: TaskQueue
    monotonic: Callable[[], float] = time.monotonic
    patience_seconds: float = 5.0
    is_now: bool = field(default=False, init=False)
    #: The newest ticket that waited at the last look: what was planned since has a message.
    _newest: int = field(default=0, init=False)
    #: When the documents that are to try the gate are sent again at the latest, by ticket.
    _trying: dict[int, float] = field(default_factory=dict, init=False)

    def look(self) -> None:
        """Takes notice of the gates, for a knowledge base that another producer leads; raises ``StoreDown``."""
        self._note(leave_of(self.gates().values()))

    def turn(self, ledger: RunLedger) -> int:
        """Sends what may be sent now; returns how many messages.

        Raises:
            StoreDown: gates, registry or broker do not answer.
        """
        leave, was_held_back = leave_of(self.gates().values()), self.is_now
        if leave is not Leave.ALL:
            waiting = ledger.oldest_waiting(_EVERYTHING)
            self._newest = max((message.ticket for message in waiting), default=self._newest)
            sent = self._try(ledger, waiting) if leave is Leave.FEW else 0
        else:
            sent = self._release(ledger) if was_held_back else 0
        self._note(leave)
        return sent

    def _note(self, leave: Leave) -> None:
        if leave is not Leave.FEW:
            self._trying.clear()
        self.is_now = leave is not Leave.ALL

    def _try(self, ledger: RunLedger, waiting: Sequence[TaskMessage]) -> int:
        """Sends a few documents, one of which will find out whether the provider answers."""
        now, is_empty = self.monotonic(), self.tasks.depth().total == 0
        few = waiting[: max(0, PROBING_DOCUMENTS - ledger.outstanding()[1])]
        # Where the queue is empty their messages have come to nothing; a second message of a document in work would have it done twice.
        messages = [one for one in few if is_empty or now >= self._trying.get(one.ticket, now)]
        if messages:
            self.tasks.send(messages, Lane.BULK)
            self._trying |= dict.fromkeys((one.ticket for one in messages), now + self.patience_seconds)
            _log.debug("gate_tried", knowledge_base=self.knowledge_base, count=len(messages))
        return len(messages)

    def _release(self, ledger: RunLedger) -> int:
        messages = [message for message in ledger.oldest_waiting(_EVERYTHING) if message.ticket <= self._newest]
        for part in in_batches(messages, _MESSAGES_AT_ONCE):
            self.tasks.send(part, Lane.BULK)
        if messages:
            _log.info(
                "documents_sent_again", knowledge_base=self.knowledge_base, count=len(messages), reason="provider may be called again"
            )
        return len(messages)
