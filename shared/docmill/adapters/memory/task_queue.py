"""A broker in memory: the twin of ``docmill.adapters.redis.task_queue``, with the faults that a broker has."""

import threading
from collections.abc import Sequence

from docmill.domain.registry import Lane, QueueDepth, TaskMessage


class MemoryTaskQueue:
    """Holds messages until they are taken, and taken ones until they are acknowledged."""

    def __init__(self) -> None:
        """Empty."""
        self._waiting: dict[Lane, list[TaskMessage]] = {lane: [] for lane in Lane}
        self._unacknowledged: list[TaskMessage] = []
        self._lock = threading.Lock()

    def send(self, messages: Sequence[TaskMessage], lane: Lane) -> None:
        """See ``TaskQueue.send``."""
        with self._lock:
            self._waiting[lane].extend(messages)

    def depth(self) -> QueueDepth:
        """See ``TaskQueue.depth``."""
        with self._lock:
            return QueueDepth(len(self._waiting[Lane.LIVE]), len(self._waiting[Lane.BULK]), len(self._unacknowledged))

    def purge(self) -> None:
        """See ``TaskQueue.purge``."""
        with self._lock:
            for messages in self._waiting.values():
                messages.clear()
            self._unacknowledged.clear()

    def take(self, lane: Lane) -> TaskMessage | None:
        """The oldest message of a lane, for a worker that will acknowledge it; None when there is none."""
        with self._lock:
            if not self._waiting[lane]:
                return None
            message = self._waiting[lane].pop(0)
            self._unacknowledged.append(message)
            return message

    def acknowledge(self, message: TaskMessage) -> None:
        """The message has been worked on."""
        with self._lock:
            self._unacknowledged.remove(message)
