"""Task queue: carries messages to workers. It may lose, double and reorder them; the ledger makes that good."""

from collections.abc import Sequence
from typing import Protocol

from docmill.domain.registry import Lane, QueueDepth, TaskMessage


class TaskQueue(Protocol):
    """The broker, as senders see it."""

    def send(self, messages: Sequence[TaskMessage], lane: Lane) -> None:
        """Hands messages to the broker in one batch.

        Raises:
            StoreDown: the broker does not answer; some may have been sent.
        """
        ...

    def depth(self) -> QueueDepth:
        """What the broker holds, over all knowledge bases."""
        ...

    def purge(self) -> None:
        """Drops every message, unacknowledged ones included; only for a caller that knows that no worker is alive."""
        ...
