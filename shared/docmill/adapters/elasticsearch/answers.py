"""What an answer of Elasticsearch means: worth another try, an outage, an index that is not there, or data that it refuses."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, Final

from elasticsearch import ApiError, SerializationError, SSLError, TransportError, UnsupportedProductError
from elasticsearch import ConnectionError as NoConnection
from elasticsearch import ConnectionTimeout as NoAnswer

from docmill.domain.errors import DocmillError, StoreDown, StoreRejected

_BUSY: Final = frozenset({429, 502, 503, 504})
#: Parts of the reasons of blocks that end by themselves, as when ``k1`` and ``b`` change.
_PASSING_BLOCKS: Final = ("index closed", "preparing to close")
#: What requests meet in an index that is being closed under them.
_CLOSED_UNDER_IT: Final = ("this Analyzer is closed", "this IndexReader is closed", "this IndexWriter is closed")


#: What stands for the kind of an answer that Elasticsearch, which names itself in each, has not given.
_FOREIGN: Final = "not_from_elasticsearch"


class Verdict(Enum):
    """What to do about a failure."""

    AGAIN = auto()
    """The same request may work in a moment."""
    DOWN = auto()
    """The server cannot do it now; nothing is wrong with the data."""
    MISSING = auto()
    """The index is not there."""
    REFUSED = auto()
    """The server will never take this data."""


@dataclass(frozen=True, slots=True)
class Failure:
    """One error of an answer, or of one item of a bulk answer."""

    status: int
    kind: str
    reason: str

    @classmethod
    def of_item(cls, status: int, error: Mapping[str, Any] | str) -> "Failure":
        """From what an item or an answer says under ``error``."""
        if isinstance(error, str):
            return cls(status, "", error)
        causes = error.get("root_cause") or [error]
        kind = str(causes[0].get("type") or error.get("type") or "")
        return cls(status, kind, str(causes[0].get("reason") or error.get("reason") or kind))

    @classmethod
    def of_answer(cls, error: ApiError) -> "Failure":
        """From an answer that is an error as a whole."""
        status = error.meta.status
        if "x-elastic-product" not in error.meta.headers and status not in (*_BUSY, 401, 413):
            return cls(status, _FOREIGN, str(error.message)[:200])
        body = error.body
        said = body.get("error") if isinstance(body, Mapping) else None
        return cls.of_item(status, said if isinstance(said, Mapping | str) else str(error.message)[:200])

    @property
    def verdict(self) -> Verdict:
        """What to do about it."""
        if self.kind == "index_not_found_exception":
            return Verdict.MISSING
        if self.kind == "index_closed_exception" or self._was_closed_under_it:
            return Verdict.AGAIN
        if self.kind == "cluster_block_exception" and self.status != 503:
            # A full disk makes an index read-only: 403 or 429, by the server's version. It stays so for longer than tries last.
            return Verdict.AGAIN if any(part in self.reason for part in _PASSING_BLOCKS) else Verdict.DOWN
        if self.status in _BUSY:
            return Verdict.AGAIN
        if self.kind == _FOREIGN or self.status in (401, 403) or self.status >= 500 or self.status < 400:
            return Verdict.DOWN
        return Verdict.REFUSED

    @property
    def _was_closed_under_it(self) -> bool:
        return self.kind in ("query_shard_exception", "already_closed_exception") and self.reason.endswith(_CLOSED_UNDER_IT)

    def __str__(self) -> str:
        said = f"{self.kind}: {self.reason}" if self.kind and self.kind != self.reason else self.reason
        return f"{self.status} {' '.join(said.split())[:300]}"


class ItemsWaiting(Exception):
    """Items of a bulk request that the server had no room for now."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(str(failure))
        self.failure = failure


def is_worth_repeating(error: BaseException) -> bool:
    """Whether the same request may work in a moment: no connection, no answer in time, 429, 502, 503, 504. All requests may be repeated."""
    if isinstance(error, ItemsWaiting):
        return True
    if isinstance(error, ApiError):
        return not isinstance(error, UnsupportedProductError) and Failure.of_answer(error).verdict is Verdict.AGAIN
    return isinstance(error, NoConnection | NoAnswer) and not isinstance(error, SSLError)


def as_docmill_error(
    error: ApiError | TransportError | ItemsWaiting, place: str, index: str | None, timeout_seconds: float
) -> DocmillError:
    """The error of the ports for what the client raised.

    Args:
        error: what was raised by the last try.
        place: the servers, without names and passwords.
        index: the index that was asked for, if any.
        timeout_seconds: how long one request may take.
    """
    if isinstance(error, ItemsWaiting):
        return StoreDown(f"Elasticsearch at {place} is busy: {error.failure}")
    if isinstance(error, UnsupportedProductError):
        return StoreDown(f"the server at {place} is not Elasticsearch; check DOCMILL_ELASTICSEARCH_URL")
    if isinstance(error, ApiError):
        return _of_answer(Failure.of_answer(error), place, index)
    if isinstance(error, SSLError):
        return StoreDown(f"no TLS connection to Elasticsearch at {place}: {tls_problem(str(error.message))}")
    if isinstance(error, NoAnswer):
        return StoreDown(f"Elasticsearch at {place} did not answer within {timeout_seconds:g} s")
    if isinstance(error, SerializationError):
        return StoreDown(f"the server at {place} does not answer as Elasticsearch does; check DOCMILL_ELASTICSEARCH_URL")
    return StoreDown(f"Elasticsearch at {place} does not answer: {connection_problem(str(error.message))}")


def _of_answer(failure: Failure, place: str, index: str | None) -> DocmillError:
    what = "" if index is None else f" (index {index!r})"
    if failure.verdict is Verdict.MISSING:
        return StoreRejected(f"index {index!r} does not exist in Elasticsearch")
    if failure.status == 401:
        return StoreDown(
            f"Elasticsearch at {place} refuses the login;"
            " check USER:PASSWORD@ in DOCMILL_ELASTICSEARCH_URL, or DOCMILL_ELASTICSEARCH_API_KEY"
        )
    if failure.kind == _FOREIGN:
        return StoreDown(f"the server at {place} is not Elasticsearch: it answers {failure.status}; check DOCMILL_ELASTICSEARCH_URL")
    if failure.kind == "security_exception":
        return StoreDown(f"Elasticsearch at {place} does not let this user do it{what}: {failure}")
    if failure.kind == "cluster_block_exception":
        return StoreDown(
            f"Elasticsearch at {place} takes no writes now{what}: {failure};"
            " a nearly full disk makes its indexes read-only until there is room"
        )
    if failure.verdict is Verdict.REFUSED:
        return StoreRejected(f"Elasticsearch refused the request{what}: {failure}")
    return StoreDown(f"Elasticsearch at {place} cannot answer now{what}: {failure}")


def refusal(failure: Failure, place: str, index: str, chunks: list[str]) -> DocmillError:
    """The error for items of a bulk request that failed for good; ``chunks`` are their public ids, or what else names them."""
    if failure.verdict is not Verdict.REFUSED:
        return _of_answer(failure, place, index)
    named = ", ".join(chunk[:200] for chunk in chunks[:5]) + (f" and {len(chunks) - 5} more" if len(chunks) > 5 else "")
    return StoreRejected(f"Elasticsearch refused {named} (index {index!r}): {failure}")


def tls_problem(text: str) -> str:
    """What to do about a TLS error that says ``text``."""
    if "WRONG_VERSION_NUMBER" in text or "HTTP_REQUEST" in text or "record layer failure" in text:
        return "the server does not speak TLS; should DOCMILL_ELASTICSEARCH_URL begin with http://?"
    if "CERTIFICATE_VERIFY_FAILED" in text:
        reason = text.partition("certificate verify failed: ")[2].partition(" (_ssl")[0] or "it is not trusted"
        return f"its certificate was refused ({reason}); DOCMILL_ELASTICSEARCH_CA_FILE must name the certificates that signed it"
    return f"{' '.join(text.split())[:200]}"


def connection_problem(text: str) -> str:
    """The short reason within what the client says about a connection that failed."""
    for known, plain in (
        ("refused", "connection refused; check DOCMILL_ELASTICSEARCH_URL and that the server runs"),
        ("resolve", "its name is not known; check DOCMILL_ELASTICSEARCH_URL"),
        ("unreachable", "there is no way to it; check DOCMILL_ELASTICSEARCH_URL"),
        ("timed out", "no connection within the time-out; check DOCMILL_ELASTICSEARCH_URL"),
    ):
        if known in text.lower():
            return plain
    return f"the connection broke ({' '.join(text.split())[:160]}); does it want https://?"
