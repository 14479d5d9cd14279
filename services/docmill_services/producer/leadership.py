"""Leadership: one producer at a time plans the work of a knowledge base; what another one still writes is refused.

The role is a lease with a token. The ledger of the state that a leader is given refuses every call once that token does not hold the role,
so a producer that was paused, or cut off, and comes back has no effect before it has taken the role again.
"""

import threading
from collections.abc import Sequence
from dataclasses import replace

import structlog

from docmill.domain.errors import DocmillError
from docmill.ports.registry import PRODUCER_ROLE
from docmill.ports.state import KnowledgeBaseState
from docmill_services.producer.outages import Outages

_log = structlog.get_logger(__name__)
TTL_SECONDS = 15.0
_PROLONG_SECONDS = 3.0


class Leadership:
    """The producer's role of one knowledge base, as this process holds it or waits for it; safe for several threads."""

    def __init__(self, knowledge_base: str, state: KnowledgeBaseState, holder: str, *, ttl_seconds: float = TTL_SECONDS) -> None:
        """Nothing is taken yet; ``holder`` names this process, and a successor that may go on in its place at once."""
        self._knowledge_base = knowledge_base
        self._state = state
        self._holder = holder
        self._ttl_seconds = ttl_seconds
        self._token: int | None = None
        self._led: KnowledgeBaseState | None = None
        self._given_up = False
        self._lock = threading.Lock()

    @property
    def led(self) -> KnowledgeBaseState | None:
        """The state as its leader sees it, another object in each term; None while this process does not lead."""
        return self._led

    def take(self) -> KnowledgeBaseState | None:
        """Takes or prolongs the role; returns the state as its leader sees it, or None while another process leads.

        Raises:
            StoreDown: the registry does not answer.
        """
        with self._lock:
            if self._given_up:
                return None
            token = self._state.leases.acquire_role(PRODUCER_ROLE, self._holder, self._ttl_seconds)
            if token != self._token:
                self._token = token
                self._led = None if token is None else replace(self._state, ledger=self._state.ledger.led_by(token))
                _log.info("producer_leads" if token is not None else "producer_follows", knowledge_base=self._knowledge_base)
            return self._led

    def lose(self, led: KnowledgeBaseState | None) -> None:
        """Notes that a write of the term ``led`` was refused."""
        with self._lock:
            if self._led is led:
                self._led = self._token = None

    def give_up(self) -> bool:
        """Frees the role for others, and takes it no more; False when the registry does not answer: then it runs out by itself."""
        with self._lock:
            self._given_up = True
            token, self._led, self._token = self._token, None, None
        if token is not None:
            try:
                self._state.leases.release_role(PRODUCER_ROLE, token)
            except DocmillError as error:
                _log.debug("role_not_released", knowledge_base=self._knowledge_base, error=str(error))
                return False
        return True


class Term(threading.Event):
    """Set once the process stops or another term has begun."""

    def __init__(self, leadership: Leadership, led: KnowledgeBaseState, stopping: threading.Event) -> None:
        """``led`` is the term."""
        super().__init__()
        self._leadership = leadership
        self._led = led
        self._stopping = stopping

    def is_set(self) -> bool:
        """See the class."""
        return self._stopping.is_set() or self._leadership.led is not self._led


def prolong_until_stopped(leaderships: Sequence[Leadership], stopping: threading.Event, outages: Outages) -> None:
    """Prolongs the roles that this process holds; for a thread of its own, since a scan may take longer than a role lives."""
    while not stopping.wait(_PROLONG_SECONDS):
        for leadership in leaderships:
            try:
                if leadership.led is not None:
                    leadership.take()
                outages.over("leadership")
            except DocmillError as error:
                outages.began("leadership", error)
            except Exception:  # noqa: BLE001  # every knowledge base of the process hangs on this thread: it outlives a defect
                _log.exception("role_not_prolonged")
