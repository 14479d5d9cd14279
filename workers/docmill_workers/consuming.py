"""Consuming: Celery workers in threads of this process, one for each lane."""

import threading
from dataclasses import dataclass

from celery import Celery
from celery.worker import WorkController
from celery.worker import state as celery_state

from docmill.adapters.redis.celery_app import QUEUES
from docmill.domain.registry import Lane


@dataclass(frozen=True, slots=True)
class Consumer:
    """A Celery worker that runs in a thread of this process."""

    controller: WorkController
    thread: threading.Thread

    @property
    def ended(self) -> bool:
        """Whether it has stopped."""
        return not self.thread.is_alive()


def stop_consumers() -> None:
    """Lets every consumer of this process end by itself, within about a second when it is idle.

    Celery keeps this flag for a process; each consumer looks at it in its own thread, where alone its connection may be closed.
    """
    celery_state.should_stop = 0  # type: ignore[assignment]  # the stubs know its first value only


def start_consumer(app: Celery, lane: Lane, *, threads: int, prefetch: int) -> Consumer:
    """Starts a worker for one lane.

    Each lane has its own, so that no watched change waits behind what a bulk consumer has taken in advance.
    """
    celery_state.should_stop = None
    app.set_default()  # pool threads look the task up in the default application
    controller = app.WorkController(
        hostname=f"docmill-{lane.value}@{threading.get_native_id()}",
        pool_cls="threads",
        concurrency=threads,
        prefetch_multiplier=max(1, prefetch // threads),
        queues=[QUEUES[lane]],
        without_gossip=True,
        without_mingle=True,
        without_heartbeat=not app.conf.worker_send_task_events,
        loglevel="WARNING",
    )
    thread = threading.Thread(target=controller.start, name=f"docmill-{lane.value}", daemon=True)
    thread.start()
    return Consumer(controller, thread)
