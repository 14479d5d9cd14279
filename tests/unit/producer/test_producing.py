"""A producer as a whole process sees it."""

import threading

from docmill.adapters.memory.task_queue import MemoryTaskQueue
from docmill.config.settings import Settings
from docmill.domain.errors import StoreDown
from docmill_services.producer.process import produce
from support.failing import Failing


def test_a_producer_whose_broker_is_out_still_comes_round() -> None:
    tasks = Failing(MemoryTaskQueue())
    tasks.fail("depth", StoreDown("no answer"))
    stopping = threading.Event()
    rounds = []

    def turned() -> None:
        rounds.append(tasks.calls.count("depth"))
        if len(rounds) == 2:
            stopping.set()

    thread = threading.Thread(
        target=lambda: produce({}, {}, tasks, Settings(), None, stopping, watch=False, force_polling=False, holder="one", turned=turned),
        daemon=True,
    )
    thread.start()
    thread.join(30)
    assert rounds == [0, 1]
