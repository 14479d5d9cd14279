"""Making an index, whoever else makes it at the same moment, and changing its BM25 parameters."""

from typing import Any

import tenacity
from elasticsearch import ApiError, BadRequestError, Elasticsearch, NotFoundError

from docmill.adapters.elasticsearch.answers import Failure
from docmill.adapters.elasticsearch.connection import Connection
from docmill.adapters.elasticsearch.definition import Json, index_mapping, index_settings, similarity_settings
from docmill.adapters.elasticsearch.names import alias_of, physical_of
from docmill.domain.errors import StoreDown

_MOST_STEPS = 200
_LONGEST_PAUSE_SECONDS = 0.1


def make_index(connection: Connection, index: str, strategy: str, k1: float, b: float) -> None:
    """Returns when the index is there, open, under its alias, with these parameters.

    They cannot change while the index is open, so a change closes it for a moment, in which requests wait. Each step looks at what is there
    and does the one thing that is next; so several processes may do this at once, and what one that died has left, the next one mends.

    Raises:
        StoreDown: the server does not answer, or others keep changing the index.
    """
    steps = tenacity.Retrying(
        retry=tenacity.retry_if_result(lambda done: not done),
        wait=tenacity.wait_random(0, _LONGEST_PAUSE_SECONDS),
        stop=tenacity.stop_after_attempt(_MOST_STEPS) | tenacity.stop_after_delay(3 * connection.timeout_seconds),
    )
    try:
        steps(lambda: connection.call(index, lambda client: _step(client, connection.server_timeout, index, strategy, k1, b)))
    except tenacity.RetryError as error:
        raise StoreDown(f"index {index!r} in Elasticsearch at {connection.place} was changed by others all the while") from error


def _step(client: Elasticsearch, timeout: str, index: str, strategy: str, k1: float, b: float) -> bool:
    """Does what is next; True when nothing is."""
    physical = physical_of(index)
    try:
        found = client.indices.get(index=physical, features=["settings", "aliases"], expand_wildcards="all").body
    except NotFoundError:
        create(client, physical, alias_of(index), index_settings(k1, b), index_mapping(strategy), timeout)
        return False
    state: dict[str, Any] = found[physical]
    settings = state["settings"]["index"]
    words = settings["similarity"]["words"]
    is_closed = settings.get("verified_before_close") == "true"
    if (float(words["k1"]), float(words["b"])) != (k1, b):
        if is_closed:
            _change_similarity(client, physical, k1, b)
        else:
            client.indices.close(index=physical, timeout=timeout)
        return False
    if is_closed:
        client.indices.open(index=physical, timeout=timeout)
        return False
    if alias_of(index) not in state.get("aliases", {}):
        client.indices.put_alias(index=physical, name=alias_of(index))
        return False
    return True


def create(client: Elasticsearch, physical: str, alias: str, settings: Json, mapping: Json, timeout: str) -> None:
    """Makes an index with its alias in one step, unless it is there."""
    try:
        client.indices.create(index=physical, aliases={alias: {}}, settings=settings, mappings=mapping, timeout=timeout)
    except BadRequestError as error:
        if Failure.of_answer(error).kind != "resource_already_exists_exception":
            raise


def _change_similarity(client: Elasticsearch, physical: str, k1: float, b: float) -> None:
    try:
        client.indices.put_settings(index=physical, settings={"similarity": similarity_settings(k1, b)})
    except ApiError as error:
        # Another process has opened it again meanwhile: the next step looks at what it made of it.
        if not is_of_an_open_index(Failure.of_answer(error)):
            raise


def is_of_an_open_index(failure: Failure) -> bool:
    """Whether a setting was refused since the index is open; versions word it as ``settings`` or ``setting(s)``."""
    return "non dynamic setting" in failure.reason
