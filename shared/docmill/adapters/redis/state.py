"""The protocol state of one knowledge base on Redis or Valkey (6.2 or newer)."""

import redis

from docmill.adapters.redis.scripts import Scripts
from docmill.adapters.redis.state_leases import RedisLeases
from docmill.adapters.redis.state_ledger import RedisLedger
from docmill.adapters.redis.state_registry import RedisRegistry


class RedisState:
    """One state, with the three faces of the ports.

    Args:
        client: a client that answers in bytes; shared by threads as redis-py allows it.
        kb: the knowledge base's name.

    Attributes:
        registry: the ``Registry`` port.
        leases: the ``Leases`` port.
        ledger: the ``RunLedger`` port.

    Raises:
        ValueError: the client decodes its answers.
    """

    def __init__(self, client: "redis.Redis", kb: str) -> None:
        if client.get_encoder().decode_responses:
            raise ValueError("the client of a registry must have decode_responses off")
        scripts = Scripts(client, kb)
        self.registry = RedisRegistry(scripts)
        self.leases = RedisLeases(scripts)
        self.ledger = RedisLedger(scripts, kb)
