"""Leasekeeping: renews the leases of a process's attempts until they end."""

import threading
from collections import defaultdict
from collections.abc import Callable

import structlog

from docmill.domain.errors import StateSetBack, StoreDown
from docmill.domain.generations import epoch_of
from docmill.domain.registry import Attempt
from docmill.ports.registry import Leases

_log = structlog.get_logger(__name__)
_STOP_SECONDS = 1.0


class LeaseKeeper:
    """Renews every held lease once in ``interval_seconds``, in one step per knowledge base.

    A lease that could not be renewed in time is not revived: its attempt finds out when it commits, and is superseded.
    """

    def __init__(self, leases_of: Callable[[str], Leases], *, ttl_seconds: float, interval_seconds: float) -> None:
        """``leases_of`` gives the leases of a knowledge base by its name."""
        self._leases_of = leases_of
        self._ttl_seconds = ttl_seconds
        self._interval_seconds = interval_seconds
        self._held: dict[int, Attempt] = {}
        self._lost: set[int] = set()
        self._epochs: dict[str, int] = {}
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._renew_until_stopped, name="docmill-leases", daemon=True)

    def start(self) -> None:
        """Starts the renewing thread."""
        self._thread.start()

    @property
    def alive(self) -> bool:
        """Whether leases are being renewed."""
        return self._thread.is_alive()

    @property
    def stopped(self) -> bool:
        """Whether the process is stopping; nothing new should begin."""
        return self._stopping.is_set()

    def stop(self) -> None:
        """Ends the renewing thread, and with it, at their next step, all attempts that are not handed over yet.

        From now on nothing is let go: what has not ended when the process does can be given back. Does not wait long for a renewal that
        the registry does not answer.
        """
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(_STOP_SECONDS)

    def pause(self, seconds: float) -> None:
        """Waits, while leases are being renewed; not when the process is stopping."""
        self._stopping.wait(seconds)

    def hold(self, attempt: Attempt) -> None:
        """Renews the lease of ``attempt`` from now on.

        The first one of a later epoch shows that the state was opened again meanwhile, which ended the leases of all earlier ones.
        """
        epoch = epoch_of(attempt.generation)
        with self._lock:
            if epoch > self._epochs.get(attempt.knowledge_base, 0):
                self._epochs[attempt.knowledge_base] = epoch
                self._lose(attempt.knowledge_base)
            self._held[attempt.generation] = attempt

    def let_go(self, attempt: Attempt) -> None:
        """Renews it no longer; unless the process is stopping, which renews nothing anyway."""
        if self._stopping.is_set():
            return
        with self._lock:
            self._held.pop(attempt.generation, None)
            self._lost.discard(attempt.generation)

    def lose(self, knowledge_base: str) -> None:
        """Its state was set back: whoever opens it again ends all leases, so that the rest of every attempt would be in vain."""
        with self._lock:
            self._lose(knowledge_base)

    def is_lost(self, attempt: Attempt) -> bool:
        """Whether a renewal was refused, or none will come; the rest of the attempt would be in vain."""
        if self._stopping.is_set():
            return True
        with self._lock:
            return attempt.generation in self._lost

    def held(self) -> list[Attempt]:
        """The attempts of this process; of one that is stopping, those that may not have ended."""
        with self._lock:
            return list(self._held.values())

    def renew_all(self) -> None:
        """Renews once, now."""
        by_knowledge_base: defaultdict[str, list[Attempt]] = defaultdict(list)
        with self._lock:
            for attempt in self._held.values():
                by_knowledge_base[attempt.knowledge_base].append(attempt)
        for knowledge_base, attempts in by_knowledge_base.items():
            try:
                renewed = self._leases_of(knowledge_base).renew(attempts, self._ttl_seconds)
            except StateSetBack:
                self.lose(knowledge_base)
                continue
            except StoreDown as error:
                _log.warning("leases_not_renewed", knowledge_base=knowledge_base, error=str(error))
                continue
            lost = [attempt for attempt, held in zip(attempts, renewed, strict=True) if not held]
            with self._lock:
                self._lost.update(attempt.generation for attempt in lost if attempt.generation in self._held)

    def _lose(self, knowledge_base: str) -> None:
        self._lost.update(generation for generation, attempt in self._held.items() if attempt.knowledge_base == knowledge_base)

    def _renew_until_stopped(self) -> None:
        while not self._stopping.wait(self._interval_seconds):
            try:
                self.renew_all()
            except Exception:  # noqa: BLE001  # the leases of the whole process hang on this thread: it outlives a defect
                _log.exception("leases_not_renewed")
