"""Connecting to the server that ``DOCMILL_REDIS_URL`` names: docmill's own client, and what Celery needs for the same one."""

import socket
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import quote

import redis
from redis.backoff import ExponentialWithJitterBackoff
from redis.retry import Retry
from redis.sentinel import Sentinel

from docmill.adapters.redis.address import RedisAddress, address_of
from docmill.adapters.redis.connection_problems import problem_of
from docmill.adapters.redis.describing import describe_redis, redis_warnings, require_usable
from docmill.config.settings import Settings

__all__ = ["Broker", "broker_of", "connect_redis", "describe_redis", "redis_warnings"]

_CONNECT_SECONDS: Final = 5.0
_POOL_SIZE: Final = 128
_HEALTH_CHECK_SECONDS: Final = 30
_RECONNECTS: Final = 4  # within about a second: a restart that takes longer is for the caller to wait for
_FIRST_PAUSE_SECONDS: Final = 0.05
_LONGEST_PAUSE_SECONDS: Final = 0.5
_KEEP_ALIVE: Final = {
    getattr(socket, name): value
    for name, value in (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 3))
    if hasattr(socket, name)
}


@dataclass(frozen=True, slots=True)
class Broker:
    """The same server as Celery wants it named.

    Attributes:
        url: kombu's, with the login.
        transport_options: for ``broker_transport_options``.
        use_ssl: for ``broker_use_ssl``; None without TLS.
    """

    url: str = field(repr=False)
    transport_options: Mapping[str, Any] = field(default_factory=dict, repr=False)
    use_ssl: Mapping[str, Any] | None = None


def connect_redis(settings: Settings) -> redis.Redis:
    """A client with a bounded pool, for many threads; it answers in bytes.

    A connection that breaks is made again a few times, within about a second in all; a request that takes too long is not repeated.

    Raises:
        StoreDown: nothing answers there, or not in time.
        ServiceDown: what answers refuses the login, is not encrypted as the URL says, is no Redis, or is not one that docmill can use.
        ConfigurationError: the URL cannot be used.
    """
    address = address_of(settings)
    try:
        with _client(address, _connect_seconds(settings.store_timeout_seconds)) as first:
            require_usable(first.info(), address.place)
    except (redis.RedisError, OSError) as error:
        raise problem_of(error, address) from error
    return _client(address, settings.store_timeout_seconds)


def broker_of(settings: Settings) -> Broker:
    """What Celery needs to use the server of ``settings`` as its broker; nothing is connected.

    Raises:
        ConfigurationError: the URL cannot be used.
    """
    address = address_of(settings)
    options: dict[str, Any] = {
        "socket_timeout": settings.store_timeout_seconds,
        "socket_connect_timeout": _connect_seconds(settings.store_timeout_seconds),
        "health_check_interval": _HEALTH_CHECK_SECONDS,
    }
    login = f"{quote(address.username, safe='')}:{quote(address.password, safe='')}@" if address.password else ""
    if address.path:
        return Broker(f"redis+socket://{login}{quote(address.path)}?virtual_host={address.database}", options)
    places = [f"{login}[{host}]:{port}" if ":" in host else f"{login}{host}:{port}" for host, port in address.hosts]
    use_ssl = _tls_options(address) if address.tls else None
    if not address.master_name:
        return Broker(f"{'rediss' if address.tls else 'redis'}://{places[0]}/{address.database}", options, use_ssl)
    options |= {"master_name": address.master_name, "sentinel_kwargs": _sentinel_options(address, settings.store_timeout_seconds)}
    return Broker(";".join(f"sentinel://{place}/{address.database}" for place in places), options, use_ssl)


def _client(address: RedisAddress, timeout_seconds: float) -> redis.Redis:
    options = _common_options(address, timeout_seconds)
    if address.master_name:
        sentinel = Sentinel(address.hosts, sentinel_kwargs=_sentinel_options(address, timeout_seconds))  # type: ignore[no-untyped-call]
        options |= {"max_connections": _POOL_SIZE, "ssl": address.tls, **_network_options(address, timeout_seconds)}
        client: redis.Redis = sentinel.master_for(address.master_name, **options)  # type: ignore[no-untyped-call]
        return client
    if address.path:
        kind: type[redis.Connection] | type[redis.UnixDomainSocketConnection] = redis.UnixDomainSocketConnection
        options["path"] = address.path
    else:
        ((host, port),) = address.hosts
        kind = redis.SSLConnection if address.tls else redis.Connection
        options |= {"host": host, "port": port, **_network_options(address, timeout_seconds)}
    options |= {"max_connections": _POOL_SIZE, "timeout": timeout_seconds, "connection_class": kind}
    pool = redis.BlockingConnectionPool(**options)  # type: ignore[no-untyped-call]  # as redis-py has it
    return redis.Redis.from_pool(pool)


def _common_options(address: RedisAddress, timeout_seconds: float) -> dict[str, Any]:
    return {
        "db": address.database,
        "username": address.username or None,
        "password": address.password or None,
        "socket_timeout": timeout_seconds,
        "health_check_interval": _HEALTH_CHECK_SECONDS,
        "retry": _retry(_RECONNECTS),
        "protocol": 2,
    }


def _retry(times: int) -> Retry:
    backoff = ExponentialWithJitterBackoff(base=_FIRST_PAUSE_SECONDS, cap=_LONGEST_PAUSE_SECONDS)
    return Retry(backoff, times, supported_errors=(redis.ConnectionError,))


def _network_options(address: RedisAddress, timeout_seconds: float) -> dict[str, Any]:
    options: dict[str, Any] = {
        "socket_connect_timeout": _connect_seconds(timeout_seconds),
        "socket_keepalive": True,
        "socket_keepalive_options": _KEEP_ALIVE,
    }
    return options | (_tls_options(address) if address.tls else {})


def _connect_seconds(timeout_seconds: float) -> float:
    return min(_CONNECT_SECONDS, timeout_seconds)


def _tls_options(address: RedisAddress) -> dict[str, Any]:
    return {"ssl_cert_reqs": ssl.CERT_REQUIRED, "ssl_check_hostname": True, "ssl_ca_certs": address.ca_file}


def _sentinel_options(address: RedisAddress, timeout_seconds: float) -> dict[str, Any]:
    """For the connections to the Sentinels themselves."""
    seconds = _connect_seconds(timeout_seconds)
    options: dict[str, Any] = {
        "socket_timeout": seconds,
        "socket_connect_timeout": seconds,
        "socket_keepalive": True,
        "protocol": 2,
        "retry": _retry(0),  # there are other Sentinels, and the whole is tried again
    }
    if address.password:
        options["redis_connect_func"] = _LoginWhenAsked(address)
    return options | ({"ssl": True, **_tls_options(address)} if address.tls else {})


class _LoginWhenAsked:
    """Logs in to a Sentinel that asks for it: one without a password would refuse a login."""

    def __init__(self, address: RedisAddress) -> None:
        self._address = address

    def __call__(self, connection: redis.Connection) -> None:
        try:
            connection.on_connect()  # type: ignore[no-untyped-call]  # as redis-py has it
            connection.send_command("PING", check_health=False)  # type: ignore[no-untyped-call]
            connection.read_response()
        except redis.AuthenticationError:
            if connection.password:
                raise
            connection.username, connection.password = self._address.username or None, self._address.password
            connection.connect()  # type: ignore[no-untyped-call]  # the refusal closed it
