"""Celery consumers in threads of one process, on a real Valkey."""

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import redis
from celery import Celery

from docmill.adapters.embedded.valkey import ValkeyServer, celery_url_of
from docmill.adapters.redis.celery_app import make_celery
from docmill.adapters.redis.task_queue import CeleryTaskQueue
from docmill.domain.registry import Lane, TaskMessage
from docmill_workers.consuming import Consumer, start_consumer, stop_consumers
from docmill_workers.tasks import register_tasks
from support.waiting import wait_until


class Work:
    """Consumers for both lanes, and what their tasks were given."""

    def __init__(self, server: ValkeyServer) -> None:
        self.seen: Counter[str] = Counter()
        self.fail: Callable[[str], None] = lambda document_id: None
        self._lock = threading.Lock()
        self._url = celery_url_of(server.socket)
        self.client = redis.Redis(unix_socket_path=str(server.socket))
        self.sender = self._application()
        self.tasks = CeleryTaskQueue(self.sender, self.client)
        self.consumers: list[Consumer] = []

    def start(self) -> None:
        self.consumers = [
            start_consumer(self._application(), Lane.LIVE, threads=1, prefetch=4),
            start_consumer(self._application(), Lane.BULK, threads=2, prefetch=16),
        ]

    def send(self, lane: Lane, count: int) -> None:
        self.tasks.send([TaskMessage("kb", f"{lane.value}/{number}", number) for number in range(count)], lane)

    def _application(self) -> Celery:
        app = make_celery(self._url, visibility_timeout_seconds=900, events=False)
        register_tasks(app, self._take)
        return app

    def _take(self, message: TaskMessage) -> None:
        self.fail(message.document_id)
        with self._lock:
            self.seen[message.document_id] += 1


@pytest.fixture
def work(tmp_path: Path) -> Iterator[Work]:
    with ValkeyServer(tmp_path) as server:
        work = Work(server)
        work.start()
        yield work
        stop_consumers()
        for consumer in work.consumers:
            consumer.thread.join(10.0)
            assert consumer.ended
        work.sender.close()
        work.client.close()


def test_two_lanes_are_consumed_at_once_and_nothing_is_lost(work: Work) -> None:
    for _ in range(10):
        work.send(Lane.LIVE, 100)
        work.send(Lane.BULK, 100)
    wait_until(lambda: sum(work.seen.values()) == 2000, "2,000 messages", 60.0)
    wait_until(lambda: work.tasks.depth().total == 0, "every message to be acknowledged")


def test_each_consumer_has_an_event_loop_of_its_own(work: Work) -> None:
    live, bulk = (consumer.controller.hub for consumer in work.consumers)
    assert live is not bulk


def test_a_message_whose_task_fails_is_not_delivered_again(work: Work) -> None:
    def fail(document_id: str) -> None:
        raise ValueError(document_id)

    work.fail = fail
    work.send(Lane.BULK, 5)
    wait_until(lambda: work.tasks.depth().total == 0, "every message to be acknowledged")
    work.fail = lambda document_id: None
    work.send(Lane.BULK, 1)
    wait_until(lambda: work.seen["bulk/0"] == 1, "the next message")


def test_a_consumer_holds_no_more_messages_than_it_may_and_the_server_knows_each_of_them(work: Work) -> None:
    go_on = threading.Event()
    work.fail = lambda document_id: _wait_for(go_on)
    work.send(Lane.BULK, 50)
    wait_until(lambda: work.tasks.depth().unacknowledged == 16, "a full consumer")
    assert work.tasks.depth().bulk == 34
    go_on.set()
    wait_until(lambda: sum(work.seen.values()) == 50, "every message")
    wait_until(lambda: work.tasks.depth().total == 0, "every message to be acknowledged")


def test_messages_that_a_stopping_consumer_has_taken_go_back_to_the_queue(work: Work) -> None:
    go_on = threading.Event()
    work.fail = lambda document_id: _wait_for(go_on)
    work.send(Lane.BULK, 50)
    wait_until(lambda: work.tasks.depth().unacknowledged == 16, "a full consumer")
    stop_consumers()
    go_on.set()
    for consumer in work.consumers:
        consumer.thread.join(10.0)
    depth = work.tasks.depth()
    assert depth.bulk >= 34
    assert depth.bulk + sum(work.seen.values()) >= 50


def test_a_consumer_that_ended_by_itself_is_started_again(work: Work) -> None:
    work.send(Lane.BULK, 1)
    wait_until(lambda: work.seen["bulk/0"] == 1, "the first message")
    (_, bulk) = work.consumers
    broken = bulk.controller
    broken.hub.on_tick.add(_raise)
    wait_until(lambda: bulk.controller is not broken, "another worker")
    work.send(Lane.BULK, 20)
    wait_until(lambda: len(work.seen) == 20, "the messages after it")


def _wait_for(event: threading.Event) -> None:
    assert event.wait(30.0)


def _raise() -> None:
    raise RuntimeError("a defect in the event loop")
