"""Consuming: Celery workers in threads of this process, one for each lane."""

import os
import socket
import threading
from typing import Final

import structlog
from celery import Celery
from celery.worker import WorkController
from celery.worker import state as celery_state
from kombu.asynchronous import set_event_loop

from docmill.adapters.redis.celery_app import QUEUES
from docmill.domain.registry import Lane

_log = structlog.get_logger(__name__)
_AGAIN_SECONDS: Final = 1.0
#: A worker takes the event loop that is current in the process, whichever thread made it: each is given its own, one after the other.
_making: Final = threading.Lock()
#: For the whole process, as Celery's own flag is.
_stopping: Final = threading.Event()


class Consumer:
    """A Celery worker that runs in a thread of this process, and is started again when it ends by itself."""

    def __init__(self, app: Celery, lane: Lane, *, threads: int, prefetch: int) -> None:
        """Nothing is taken before ``start``."""
        self._app = app
        self._lane = lane
        self._threads = threads
        self._prefetch = prefetch
        self.controller = self._make()
        self.thread = threading.Thread(target=self._consume, name=f"docmill-{lane.value}", daemon=True)

    @property
    def lane(self) -> Lane:
        """What it consumes."""
        return self._lane

    @property
    def ended(self) -> bool:
        """Whether it has stopped."""
        return not self.thread.is_alive()

    def start(self) -> None:
        """Starts the thread."""
        self.thread.start()

    def _consume(self) -> None:
        while True:
            self.controller.start()
            if _stopping.is_set():
                return
            _log.error("consumer_ended", lane=self._lane.value, then="it is started again")
            if _stopping.wait(_AGAIN_SECONDS):
                return
            self.controller = self._make()

    def _make(self) -> WorkController:
        with _making:
            set_event_loop(None)
            self._app.set_default()  # pool threads look the task up in the default application
            return self._app.WorkController(
                hostname=f"{self._lane.value}-{os.getpid()}@{socket.gethostname()}",
                pool_cls="threads",
                concurrency=self._threads,
                prefetch_multiplier=max(1, self._prefetch // self._threads),
                queues=[QUEUES[self._lane]],
                without_gossip=True,
                without_mingle=True,
                without_heartbeat=not self._app.conf.worker_send_task_events,
                loglevel="WARNING",
            )


def stop_consumers() -> None:
    """Lets every consumer of this process end by itself, within about a second when it is idle.

    Celery keeps this flag for a process; each consumer looks at it in its own thread, where alone its connection may be closed.
    """
    _stopping.set()
    celery_state.should_stop = 0  # type: ignore[assignment]  # the stubs know its first value only


def start_consumer(app: Celery, lane: Lane, *, threads: int, prefetch: int) -> Consumer:
    """Starts a worker for one lane.

    Each lane has its own, so that no watched change waits behind what a bulk consumer has taken in advance.
    """
    _stopping.clear()
    celery_state.should_stop = None
    consumer = Consumer(app, lane, threads=threads, prefetch=prefetch)
    consumer.start()
    return consumer
