"""Producing: the gates of providers as a producer sees them that opens no stores and calls no models."""

from collections.abc import Callable, Mapping

import redis

from docmill.bootstrap.gates import Gates, redis_gates
from docmill.bootstrap.models import REQUEST_SECONDS, Models
from docmill.config import Configuration, Settings
from docmill.ports.gate import Gate


def gates_by_name(
    configuration: Configuration, settings: Settings, client: redis.Redis, environ: Mapping[str, str]
) -> Callable[[str], Mapping[str, Gate]]:
    """Tells by the name of a knowledge base the gates of the providers that it is configured to be indexed with, by what people call them.

    Args:
        configuration: of the knowledge bases.
        settings: operational settings.
        client: of the server that has the gates.
        environ: holds credentials, by the names that the configuration gives.

    Raises:
        ConfigurationError: a credential is missing.
    """
    gates = Gates(redis_gates(client, request_seconds=REQUEST_SECONDS), {}, query_seconds=settings.query_timeout_seconds)
    models = Models(configuration, settings, environ, gates)
    found = {one.name: models.gates_of(one) for one in configuration.knowledge_bases}
    return found.__getitem__
