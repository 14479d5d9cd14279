"""A Celery consumer on the server that Sentinel names goes on with the other one after a fail-over."""

import threading
from collections import Counter
from collections.abc import Iterator

import pytest
from celery import Celery

from docmill.adapters.redis.celery_app import make_celery
from docmill.adapters.redis.connecting import broker_of, connect_redis
from docmill.adapters.redis.task_queue import CeleryTaskQueue
from docmill.config.settings import Settings
from docmill.domain.errors import StoreDown
from docmill.domain.registry import Lane, TaskMessage
from docmill_workers.consuming import start_consumer, stop_consumers
from docmill_workers.tasks import register_tasks
from support.redis_server import HOST, Sentinels, running_sentinels
from support.waiting import wait_until


@pytest.fixture
def sentinels() -> Iterator[Sentinels]:
    with running_sentinels(password="secret") as sentinels:
        yield sentinels


@pytest.mark.filterwarnings("ignore::celery.exceptions.CPendingDeprecationWarning")  # Celery's own, on every lost connection
def test_messages_are_taken_before_and_after_a_fail_over(sentinels: Sentinels) -> None:
    url = f"sentinel://:secret@{HOST}:{sentinels.ports[0]}/{sentinels.name}"
    settings = Settings(redis_url=url, store_timeout_seconds=5.0)
    seen: Counter[str] = Counter()
    lock = threading.Lock()

    def take(message: TaskMessage) -> None:
        with lock:
            seen[message.document_id] += 1

    def application() -> Celery:
        broker = broker_of(settings)
        app = make_celery(
            broker.url, visibility_timeout_seconds=900, events=False, transport_options=broker.transport_options, use_ssl=broker.use_ssl
        )
        register_tasks(app, take)
        return app

    sender = application()
    with connect_redis(settings) as client:
        tasks = CeleryTaskQueue(sender, client)
        consumer = start_consumer(application(), Lane.BULK, threads=2, prefetch=16)
        try:
            tasks.send([TaskMessage("kb", f"before/{number}", number) for number in range(50)], Lane.BULK)
            wait_until(lambda: len(seen) == 50 and tasks.depth().total == 0, "the messages", 60.0)
            sentinels.servers[0].kill()

            def is_sent() -> bool:
                try:
                    tasks.send([TaskMessage("kb", "after", 1)], Lane.BULK)
                except StoreDown:
                    return False
                return True

            wait_until(is_sent, "the other server to take a message", 60.0, pause_seconds=0.2)
            wait_until(lambda: seen["after"], "the consumer to go on", 60.0)
        finally:
            stop_consumers()
            consumer.thread.join(15.0)
            sender.close()
    assert consumer.ended
