"""The queue on Celery's Redis transport keeps the contract of task queues, on a real server."""

import json
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from docmill.adapters.redis.celery_app import TASK_NAME, make_celery
from docmill.adapters.redis.task_queue import CeleryTaskQueue
from docmill.domain.errors import StoreDown
from docmill.domain.registry import Lane, TaskMessage
from docmill.testing.queue_contract import TaskQueueContract
from support.valkey_server import client_of, running_valkey


@pytest.fixture(scope="module")
def socket() -> Iterator[Path]:
    with running_valkey() as path:
        yield path


class TestCeleryTaskQueue(TaskQueueContract):
    @pytest.fixture
    def queue(self, socket: Path) -> Iterator[CeleryTaskQueue]:
        client = client_of(socket)
        client.flushall()
        app = make_celery(f"redis+socket://{socket}?virtual_host=0", visibility_timeout_seconds=60.0, events=False)
        yield CeleryTaskQueue(app, client)
        app.close()
        client.close()

    def test_a_message_is_a_celery_task_that_carries_ids_only(self, queue: CeleryTaskQueue, socket: Path) -> None:
        queue.send([TaskMessage("kb", "a.md", 7)], Lane.LIVE)
        with client_of(socket) as client:
            (raw,) = client.lrange("docmill.live", 0, -1)
        message = json.loads(raw)
        assert message["headers"]["task"] == TASK_NAME
        assert message["headers"]["eta"] is None
        assert json.loads(b64decode(message["body"]))[:2] == [["kb", "a.md", 7], {}]


def test_a_broker_that_does_not_answer_is_a_store_that_is_down(tmp_path: Path) -> None:
    nowhere = tmp_path / "s"
    app = make_celery(f"redis+socket://{nowhere}?virtual_host=0", visibility_timeout_seconds=60.0, events=False)
    queue = CeleryTaskQueue(app, redis.Redis(unix_socket_path=str(nowhere), retry=Retry(NoBackoff(), 0)))
    with pytest.raises(StoreDown):
        queue.depth()
    with pytest.raises(StoreDown):
        queue.purge()
    with pytest.raises(StoreDown):
        queue.send([TaskMessage("kb", "a.md", 1)], Lane.BULK)
    app.close()


def test_a_broker_that_was_lost_after_it_was_used_is_a_store_that_is_down() -> None:
    with running_valkey() as socket:
        app = make_celery(f"redis+socket://{socket}?virtual_host=0", visibility_timeout_seconds=60.0, events=False)
        queue = CeleryTaskQueue(app, client_of(socket))
        queue.send([TaskMessage("kb", "a.md", 1)], Lane.BULK)
    with pytest.raises(StoreDown):
        queue.send([TaskMessage("kb", "a.md", 2)], Lane.BULK)
    app.close()
