"""Contract of the ``TaskQueue`` port; a subclass overrides one fixture."""

# A test's name is its rule.
# ruff: noqa: D102

import pytest

from docmill.domain.registry import Lane, QueueDepth, TaskMessage
from docmill.ports.queue import TaskQueue


class TaskQueueContract:
    """Every rule of the port, each a test."""

    @pytest.fixture
    def queue(self) -> TaskQueue:
        """An empty queue without workers; a subclass overrides it."""
        raise NotImplementedError

    def test_a_new_queue_is_empty(self, queue: TaskQueue) -> None:
        assert queue.depth() == QueueDepth(0, 0, 0)

    def test_messages_wait_in_the_lane_they_were_sent_to(self, queue: TaskQueue) -> None:
        queue.send([TaskMessage("kb", f"{number}.md", number) for number in range(3)], Lane.BULK)
        queue.send([TaskMessage("kb", "saved.md", 9)], Lane.LIVE)
        assert queue.depth() == QueueDepth(live=1, bulk=3, unacknowledged=0)
        assert queue.depth().total == 4

    def test_no_messages_are_no_message(self, queue: TaskQueue) -> None:
        queue.send([], Lane.BULK)
        assert queue.depth().total == 0

    def test_the_same_message_may_be_sent_twice(self, queue: TaskQueue) -> None:
        message = TaskMessage("kb", "a.md", 1)
        queue.send([message, message], Lane.BULK)
        assert queue.depth().bulk == 2

    def test_any_document_id_travels(self, queue: TaskQueue) -> None:
        queue.send([TaskMessage("kb", "日本/%FF näme\u2028.md", 2**52)], Lane.LIVE)
        assert queue.depth().live == 1

    def test_a_purge_drops_everything(self, queue: TaskQueue) -> None:
        queue.send([TaskMessage("kb", "a.md", 1)], Lane.BULK)
        queue.send([TaskMessage("kb", "b.md", 2)], Lane.LIVE)
        queue.purge()
        assert queue.depth().total == 0
