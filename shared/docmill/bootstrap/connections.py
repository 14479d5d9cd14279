"""Connections: the state of each knowledge base and the queue, on the embedded server or on Redis."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import redis
from celery import Celery
from redis.backoff import ExponentialBackoff
from redis.retry import Retry

from docmill.adapters.embedded.valkey import celery_url_of
from docmill.adapters.redis.celery_app import make_celery
from docmill.adapters.redis.state import RedisState
from docmill.adapters.redis.task_queue import CeleryTaskQueue
from docmill.config import Settings
from docmill.domain.knowledge_bases import KnowledgeBase
from docmill.ports.queue import TaskQueue
from docmill.ports.state import KnowledgeBaseState

_CONNECT_SECONDS = 5.0
_RECONNECTS = 4  # within a second: the embedded server is usually there again by then


@dataclass(frozen=True, slots=True)
class Connections:
    """What every process of docmill has: the state of each knowledge base, and the queue."""

    client: redis.Redis
    celery: Celery
    tasks: TaskQueue
    states: Mapping[str, KnowledgeBaseState]

    def close(self) -> None:
        """Closes every connection."""
        self.celery.close()
        self.client.close()


def connect(knowledge_bases: Mapping[str, KnowledgeBase], settings: Settings, unix_socket: Path | None) -> Connections:
    """Connects to the embedded server at ``unix_socket``, or without one to the Redis of ``settings``.

    Raises:
        ServiceDown: Redis does not answer, or is not what docmill needs.
    """
    client = client_of(settings, unix_socket)
    celery = celery_of(settings, unix_socket)
    states: dict[str, KnowledgeBaseState] = {}
    for name in knowledge_bases:
        state = RedisState(client, name)
        states[name] = KnowledgeBaseState(state.registry, state.leases, state.ledger)
    return Connections(client, celery, CeleryTaskQueue(celery, client, believed_seconds=2 * settings.lease_seconds), states)


def client_of(settings: Settings, unix_socket: Path | None) -> redis.Redis:
    """A client of the embedded server at ``unix_socket``, or without one of the Redis of ``settings``; raises as ``connect``."""
    return _redis_client(settings) if unix_socket is None else _embedded_client(unix_socket, settings)


def celery_of(settings: Settings, unix_socket: Path | None) -> Celery:
    """A Celery application on the embedded server at ``unix_socket``, or without one on the Redis of ``settings``."""
    if unix_socket is not None:
        return make_celery(celery_url_of(unix_socket), visibility_timeout_seconds=settings.visibility_timeout_seconds, events=False)
    from docmill.adapters.redis.connecting import broker_of

    broker = broker_of(settings)
    return make_celery(
        broker.url,
        visibility_timeout_seconds=settings.visibility_timeout_seconds,
        events=True,
        transport_options=broker.transport_options,
        use_ssl=broker.use_ssl,
    )


def _redis_client(settings: Settings) -> redis.Redis:
    from docmill.adapters.redis.connecting import connect_redis

    return connect_redis(settings)


def _embedded_client(unix_socket: Path, settings: Settings) -> redis.Redis:
    return redis.Redis(
        unix_socket_path=str(unix_socket),
        socket_timeout=settings.store_timeout_seconds,
        socket_connect_timeout=_CONNECT_SECONDS,
        max_connections=128,
        retry=Retry(ExponentialBackoff(cap=0.4, base=0.05), _RECONNECTS, supported_errors=(redis.ConnectionError,)),
    )
