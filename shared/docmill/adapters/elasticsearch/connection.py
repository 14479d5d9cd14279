"""One client for all threads of a process, with a time-out on every call and bounded tries."""

from collections.abc import Callable
from typing import Final, TypeVar

import tenacity
from elasticsearch import ApiError, Elasticsearch, TransportError

from docmill.adapters.elasticsearch.answers import ItemsWaiting, as_docmill_error, is_worth_repeating

T = TypeVar("T")
#: With the pauses between them about 5 s: what a change of ``k1`` and ``b`` or a new primary shard takes.
MOST_TRIES: Final = 7
_FIRST_PAUSE_SECONDS: Final = 0.1
_LONGEST_PAUSE_SECONDS: Final = 2.0
_JITTER_SECONDS: Final = 0.1


class Connection:
    """Calls the server, again where that may help, and raises what the ports say."""

    def __init__(self, client: Elasticsearch, place: str, timeout_seconds: float) -> None:
        """Takes a client that does not try again by itself.

        Args:
            client: with the time-out of one request in it.
            place: the servers, for messages.
            timeout_seconds: of one request; no further try begins when twice as much has passed.
        """
        self.place = place
        self.timeout_seconds = timeout_seconds
        self._client = client

    def call(self, index: str | None, request: Callable[[Elasticsearch], T], most_tries: int = MOST_TRIES) -> T:
        """What ``request`` returns; it may be called several times.

        Raises:
            StoreDown: no answer, or one that says "not now", at each try.
            StoreRejected: the server refuses it, or ``index`` does not exist.
        """
        tries = tenacity.Retrying(
            retry=tenacity.retry_if_exception(is_worth_repeating),
            wait=tenacity.wait_exponential(_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS) + tenacity.wait_random(0, _JITTER_SECONDS),
            stop=tenacity.stop_after_attempt(most_tries) | tenacity.stop_after_delay(2 * self.timeout_seconds),
            reraise=True,
        )
        try:
            return tries(request, self._client)
        except (ApiError, TransportError, ItemsWaiting) as error:
            raise as_docmill_error(error, self.place, index, self.timeout_seconds) from error

    @property
    def server_timeout(self) -> str:
        """How long the server may wait for a shard before it says that it cannot: less than the client waits for the answer."""
        return f"{max(1, int(self.timeout_seconds * 500))}ms"

    def close(self) -> None:
        """Closes the pooled connections."""
        self._client.close()
