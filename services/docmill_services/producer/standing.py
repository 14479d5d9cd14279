"""The producer as a process of its own, beside workers and query services on other hosts."""

import os
import threading
import time
from collections.abc import Callable
from functools import partial

import structlog

from docmill.bootstrap import Engine, OpenKnowledgeBase
from docmill.domain.errors import ServiceDown
from docmill.indexing.index_sets import FOLLOW_SECONDS
from docmill_services.producer.process import forces_polling, produce

_log = structlog.get_logger(__name__)
_LOOK_AT_STORES_SECONDS = 5.0
_SILENCE_SECONDS = 120.0


class StandingProducer:
    """Scans, watches and plans for every knowledge base of an engine; it also decides which index sets there are."""

    def __init__(self, engine: Engine, stopping: threading.Event, *, watch: bool) -> None:
        """Nothing runs before ``serve``."""
        self._engine = engine
        self._stopping = stopping
        self._watch = watch
        self._turned_at = time.monotonic()

    def serve(self) -> None:
        """Works until it is stopped."""
        engine = self._engine
        produce(
            {name: opened.specification for name, opened in engine.knowledge_bases.items()},
            {name: opened.state for name, opened in engine.knowledge_bases.items()},
            engine.tasks,
            engine.settings,
            None,
            self._stopping,
            watch=self._watch,
            force_polling=forces_polling(os.environ),
            holder=engine.holder,
            open_state={name: partial(engine.open_state, opened) for name, opened in engine.knowledge_bases.items()},
            prepare={name: _Preparation(opened, self._stopping) for name, opened in engine.knowledge_bases.items()},
            turned=self._turned,
            gates_of=engine.gates_of,
        )

    def check(self) -> None:
        """Raises ``ServiceDown`` when the loop that keeps the queue supplied has not come round for two minutes."""
        silent = time.monotonic() - self._turned_at
        if silent > _SILENCE_SECONDS:
            raise ServiceDown(f"the producer has done nothing for {silent:.0f} s; its log says why")

    def _turned(self) -> None:
        self._turned_at = time.monotonic()


class _Preparation:
    """Before each look for work: the configured index set is opened once, and another one when a store was swapped."""

    def __init__(self, opened: OpenKnowledgeBase, stopping: threading.Event, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._opened = opened
        self._stopping = stopping
        self._monotonic = monotonic
        self._is_open = False
        self._looked_at = monotonic()

    def __call__(self) -> None:
        """Raises ``StoreDown`` while a store does not answer."""
        if not self._is_open:
            self._opened.index_sets.open()
            self._is_open = True
        elif self._monotonic() - self._looked_at < _LOOK_AT_STORES_SECONDS:
            return
        elif not self._opened.index_sets.reopen_if_swapped():
            self._looked_at = self._monotonic()
            return
        self._looked_at = self._monotonic()
        # By then every worker knows of a set that is new, and writes to it too.
        self._stopping.wait(2 * FOLLOW_SECONDS)
        self._opened.state.ledger.start_run()
