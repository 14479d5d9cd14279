"""What a Redis server says of itself, whether docmill can use it, and what is not as it should be; all from ``INFO``."""

import re
from collections.abc import Mapping
from typing import Any, Final

import redis
from redis.sentinel import SentinelConnectionPool

from docmill.adapters.redis.address import VARIABLE
from docmill.domain.errors import ServiceDown, StoreDown

OLDEST_VERSION: Final = (6, 2)


def require_usable(info: Mapping[str, Any], place: str) -> None:
    """Raises ``ServiceDown`` when docmill cannot use the server at ``place`` that answered ``INFO`` with ``info``."""
    where = f"{VARIABLE}: the server at {place}"
    mode = info.get("redis_mode", info.get("server_mode", "standalone"))
    if "redis_version" not in info:
        raise ServiceDown(f"{where} is not a Redis: correct the address")
    if mode == "sentinel":
        raise ServiceDown(f"{where} is a Sentinel: begin the URL with sentinel:// and end it with the name of the servers")
    if mode == "cluster" or info.get("cluster_enabled"):
        raise ServiceDown(f"{where} is part of a cluster, which docmill does not use: name a server on its own, or Sentinels")
    if _number_of(info) < OLDEST_VERSION:
        oldest = ".".join(map(str, OLDEST_VERSION))
        raise ServiceDown(f"{where} is {_name_of(info)}, which is too old: docmill needs Redis {oldest} or newer, or Valkey")
    if info.get("loading"):
        raise StoreDown(f"{where} is still loading its data: try again when it has")
    if info.get("role") == "slave":
        master = f"{info.get('master_host')}:{info.get('master_port')}"
        raise ServiceDown(f"{where} is a replica, which cannot be written: name the server that it follows ({master}), or Sentinels")


def describe_redis(client: redis.Redis) -> str:
    """One line for people: ``Redis 7.0.15 at HOST:PORT answers, append-only file on, noeviction``.

    Raises:
        StoreDown: it does not answer.
        ServiceDown: docmill cannot use it.
    """
    info, place = _info_of(client), _place_of(client)
    require_usable(info, place)
    append_only = "append-only file on" if info.get("aof_enabled") else "append-only file off"
    return f"{_name_of(info)} at {place} answers, {append_only}, {info.get('maxmemory_policy', 'unknown eviction')}"


def redis_warnings(client: redis.Redis) -> list[str]:
    """What should be set otherwise on the server, one sentence each.

    Raises:
        StoreDown: it does not answer.
    """
    info = _info_of(client)
    found = []
    if not info.get("aof_enabled"):
        found.append("its append-only file is off: a restart loses what it was told; set appendonly yes")
    elif info.get("aof_last_write_status", "ok") != "ok":
        found.append("it cannot write its append-only file: look at its disk")
    policy = info.get("maxmemory_policy", "noeviction")
    if policy != "noeviction":
        found.append(f"its maxmemory-policy is {policy}, which throws away what docmill keeps: set maxmemory-policy noeviction")
    return found


def _info_of(client: redis.Redis) -> Mapping[str, Any]:
    try:
        info: Mapping[str, Any] = client.info()
    except redis.RedisError as error:
        raise StoreDown(f"{VARIABLE}: the server at {_place_of(client)} does not answer: {error}") from error
    return info


def _place_of(client: redis.Redis) -> str:
    pool = client.connection_pool
    if isinstance(pool, SentinelConnectionPool):
        return f"{pool.service_name} of Sentinel"
    options = pool.connection_kwargs
    path = options.get("path")
    return str(path) if path else f"{options.get('host')}:{options.get('port')}"


def _name_of(info: Mapping[str, Any]) -> str:
    if "valkey_version" in info:
        return f"Valkey {info['valkey_version']}"
    return f"Redis {info.get('redis_version', 'of an unknown version')}"


def _number_of(info: Mapping[str, Any]) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", str(info.get("redis_version", "")))[:2])
