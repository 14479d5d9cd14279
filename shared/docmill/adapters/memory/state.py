"""The protocol state of one knowledge base in memory: the twin of ``docmill.adapters.redis.state``."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy

from docmill.adapters.memory.state_data import StateData
from docmill.adapters.memory.state_ledger import MemoryLeases, MemoryLedger
from docmill.adapters.memory.state_registry import MemoryRegistry


class MemoryState:
    """One state under one lock, with the three faces of the ports.

    Args:
        kb: the knowledge base's name.
        clock: seconds since 1970; the only clock of the state.

    Attributes:
        registry: the ``Registry`` port.
        leases: the ``Leases`` port.
        ledger: the ``RunLedger`` port.
    """

    def __init__(self, kb: str, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._data = StateData(kb)
        self.registry = MemoryRegistry(self._step)
        self.leases = MemoryLeases(self._step)
        self.ledger = MemoryLedger(self._step)

    def snapshot(self) -> StateData:
        """A copy of everything, for ``restore``."""
        with self._lock:
            return deepcopy(self._data)

    def restore(self, saved: StateData) -> None:
        """Sets the state back to what ``snapshot`` returned; ``StateData(kb)`` is a state that was flushed."""
        with self._lock:
            self._data = deepcopy(saved)

    def replace_server(self) -> None:
        """Lets the state be as if another server had taken it over: it must be opened again."""
        with self._lock:
            self._data.set_back = self._data.epoch > 0

    @contextmanager
    def _step(self, *, also_set_back: bool = False) -> Iterator[tuple[StateData, int]]:
        with self._lock:
            if not also_set_back:
                self._data.require_not_set_back()
            yield self._data, int(self._clock() * 1000)
