"""A rolling upgrade: workers understand the messages of the versions beside theirs, which wait while workers are exchanged."""

import json
from base64 import b64decode, b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
import redis

from docmill.adapters.embedded.valkey import ValkeyServer, celery_url_of
from docmill.adapters.redis.celery_app import QUEUES, make_celery
from docmill.adapters.redis.task_queue import CeleryTaskQueue
from docmill.domain.registry import Lane, TaskMessage
from docmill_workers.consuming import start_consumer, stop_consumers
from docmill_workers.tasks import register_tasks
from support.waiting import wait_until

MESSAGES: Final = sorted((Path(__file__).parents[1] / "fixtures" / "messages").glob("*.json"))
#: What differs between two messages of one version.
OF_ONE_MESSAGE: Final = {"id", "root_id", "origin", "correlation_id", "reply_to", "delivery_tag"}


class Broker:
    """A server with one consumer, and what that was given to do."""

    def __init__(self, server: ValkeyServer) -> None:
        self.taken: list[TaskMessage] = []
        self.written: Any = None
        url = celery_url_of(server.socket)
        self.client = redis.Redis(unix_socket_path=str(server.socket))
        self.sender = make_celery(url, visibility_timeout_seconds=900, events=False)
        self.tasks = CeleryTaskQueue(self.sender, self.client)
        app = make_celery(url, visibility_timeout_seconds=900, events=False)
        register_tasks(app, self.taken.append)
        self._app = app

    def consume(self) -> None:
        self.consumer = start_consumer(self._app, Lane.BULK, threads=1, prefetch=4)

    def stop(self) -> None:
        stop_consumers()
        self.consumer.thread.join(10.0)
        assert self.consumer.ended
        self.sender.close()
        self.client.close()


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    with ValkeyServer(tmp_path_factory.mktemp("valkey")) as server:
        broker = Broker(server)
        broker.tasks.send([TaskMessage("handbook", "ops/日本/%FF näme.md", 8589934599)], Lane.BULK)
        (written,) = broker.client.lrange(QUEUES[Lane.BULK], 0, -1)
        broker.client.delete(QUEUES[Lane.BULK])
        broker.written = json.loads(written)
        broker.consume()
        yield broker
        broker.stop()


@pytest.mark.parametrize("file", MESSAGES, ids=lambda file: file.stem)
def test_a_message_is_understood(broker: Broker, file: Path) -> None:
    golden = json.loads(file.read_text(encoding="utf-8"))
    message = golden["message"]
    before = len(broker.taken)
    broker.client.lpush(QUEUES[Lane.BULK], json.dumps(message | {"body": b64encode(json.dumps(message["body"]).encode()).decode()}))
    wait_until(lambda: len(broker.taken) > before, f"{file.name} to be understood")
    assert broker.taken[before:] == [TaskMessage(**golden["understood"])]
    wait_until(lambda: broker.tasks.depth().total == 0, "its acknowledgement")


def test_this_version_writes_what_its_golden_message_shows(broker: Broker) -> None:
    written = broker.written
    golden = json.loads((MESSAGES[0].parent / "0.1.json").read_text(encoding="utf-8"))["message"]
    assert json.loads(b64decode(written["body"])) == golden["body"]
    for part in ("headers", "properties"):
        assert {name: value for name, value in written[part].items() if name not in OF_ONE_MESSAGE} == {
            name: value for name, value in golden[part].items() if name not in OF_ONE_MESSAGE
        }
        assert written[part].keys() == golden[part].keys()
