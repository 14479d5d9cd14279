"""Task queue on Celery's Redis transport."""

import threading
import time
from collections.abc import Sequence
from typing import Final

import redis
from celery import Celery
from kombu.exceptions import BatchPublishError, OperationalError  # type: ignore[attr-defined]  # newer than the stubs

from docmill.adapters.redis.celery_app import QUEUES, TASK_NAME
from docmill.domain.errors import StoreDown
from docmill.domain.registry import Lane, QueueDepth, TaskMessage

#: Kombu's names for messages that a worker took and has not acknowledged.
_UNACKED: Final = "unacked"
_UNACKED_INDEX: Final = "unacked_index"


class CeleryTaskQueue:
    """Sends tasks through Celery, so that any Celery tool sees them, and reads the broker's depth directly."""

    def __init__(self, app: Celery, client: redis.Redis, *, believed_seconds: float = 60.0) -> None:
        """Sends nothing yet.

        Args:
            app: whose broker takes the messages.
            client: connected to the same server and database.
            believed_seconds: how long a message that a worker took, and has not acknowledged, counts as one that it will work on: a
                worker that was killed keeps what it took until the visibility timeout.
        """
        self._app = app
        self._client = client
        self._believed_seconds = believed_seconds
        self._lock = threading.Lock()

    def send(self, messages: Sequence[TaskMessage], lane: Lane) -> None:
        """See ``TaskQueue.send``."""
        try:
            with self._lock, self._app.producer_pool.acquire(block=True) as producer, producer.batch():  # type: ignore[attr-defined]  # newer than the stubs
                for message in messages:
                    self._app.send_task(
                        TASK_NAME,
                        args=(message.knowledge_base, message.document_id, message.ticket),
                        queue=QUEUES[lane],
                        producer=producer,
                        ignore_result=True,
                    )
        except (OperationalError, BatchPublishError, redis.RedisError, OSError) as error:
            raise StoreDown(f"the broker does not answer: {error}") from error

    def depth(self) -> QueueDepth:
        """See ``TaskQueue.depth``."""
        try:
            pipeline = self._client.pipeline(transaction=False)
            pipeline.llen(QUEUES[Lane.LIVE])
            pipeline.llen(QUEUES[Lane.BULK])
            pipeline.zcount(_UNACKED_INDEX, time.time() - self._believed_seconds, "+inf")  # scored by when they were taken
            live, bulk, unacknowledged = pipeline.execute()
        except redis.RedisError as error:
            raise StoreDown(f"the broker does not answer: {error}") from error
        return QueueDepth(live, bulk, unacknowledged)

    def purge(self) -> None:
        """See ``TaskQueue.purge``."""
        try:
            self._client.delete(*QUEUES.values(), _UNACKED, _UNACKED_INDEX)
        except redis.RedisError as error:
            raise StoreDown(f"the broker does not answer: {error}") from error
