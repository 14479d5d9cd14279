"""The queue in memory keeps the contract of task queues."""

import pytest

from docmill.adapters.memory.task_queue import MemoryTaskQueue
from docmill.domain.registry import Lane, TaskMessage
from docmill.testing.queue_contract import TaskQueueContract


class TestMemoryTaskQueue(TaskQueueContract):
    @pytest.fixture
    def queue(self) -> MemoryTaskQueue:
        return MemoryTaskQueue()

    def test_a_taken_message_is_unacknowledged_until_it_is_not(self, queue: MemoryTaskQueue) -> None:
        queue.send([TaskMessage("kb", "a.md", 1)], Lane.BULK)
        message = queue.take(Lane.BULK)
        assert message is not None
        assert queue.depth().unacknowledged == 1
        queue.acknowledge(message)
        assert queue.depth().total == 0
        assert queue.take(Lane.BULK) is None
