"""What a provider's answer means when it is not what was asked for: one classification for every provider and every kind of model."""

import html
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Final

from docmill.adapters.providers.retry_hints import retry_after_seconds
from docmill.domain.errors import ProviderError, ProviderPermanent, ProviderRateLimited, ProviderTransient

MESSAGE_CHARS: Final = 500

_BAD_REQUEST: Final = 400
_TOO_MANY_REQUESTS: Final = 429
_TRANSIENT_STATUSES: Final = frozenset({408, 500, 502, 503, 504, 529})
#: The request may be refused for one of its texts: malformed, too large, unprocessable.
_BAD_REQUEST_STATUSES: Final = frozenset({400, 413, 422})
_LABEL_KEYS: Final = ("code", "type", "status", "reason")
#: In a code, type, status or reason; these mean 429, whatever the status.
_RATE_LIMIT_LABEL: Final = re.compile(r"rate.?limit|too.?many.?requests|resource.?exhausted|throttl", re.IGNORECASE)
#: So does a message that begins with one of these; further on it may repeat a text that was sent.
_RATE_LIMIT_WORDS: Final = re.compile(r".{0,25}(rate limit|too many requests|requests? rate|quota exceeded)", re.IGNORECASE | re.DOTALL)
#: Waiting does not help: the account has no money left.
_NO_QUOTA_LABEL: Final = re.compile(r"insufficient_quota|billing_hard_limit_reached|billing_not_active", re.IGNORECASE)
#: No other text would be taken either.
_HOPELESS_LABEL: Final = re.compile(
    r"invalid_api_key|api_key_invalid|authentication|permission_denied|unauthenticated|model_not_found", re.IGNORECASE
)
_OVERLOAD_LABEL: Final = re.compile(r"overloaded|unavailable|timeout|internal|server_error", re.IGNORECASE)
#: llama.cpp and Ollama answer 500 to a text that is longer than the model's window.
_TOO_LONG_WORDS: Final = re.compile(r"too large to process|exceeds? (the )?(available )?(maximum )?context (length|size)", re.IGNORECASE)
_TITLE: Final = re.compile(r"<title[^>]*>(.*?)</title>", re.IGNORECASE | re.DOTALL)
_TAG: Final = re.compile(r"<(script|style)\b.*?</\1>|<[^>]*>", re.IGNORECASE | re.DOTALL)
#: Of a page that is not JSON, what is looked at for words.
_PAGE_CHARS: Final = 20_000


class RequestRefused(ProviderPermanent):
    """The provider refuses this request; one with other texts may be taken."""


class FailureKind(Enum):
    """What a failed call means; the values are the errors that say so."""

    RATE_LIMITED = ProviderRateLimited
    TRANSIENT = ProviderTransient
    PERMANENT = ProviderPermanent
    REQUEST_REFUSED = RequestRefused


@dataclass(frozen=True, slots=True)
class Failure:
    """A call that failed.

    Attributes:
        words: what happened, in the provider's own words as far as it has any; not yet fit to be shown.
        retry_after_seconds: how long the provider asks to be left alone; None where it does not say.
    """

    kind: FailureKind
    words: str
    retry_after_seconds: float | None = None


def failure_of(status: int, headers: Mapping[str, str], body: bytes, value: object, *, now: datetime) -> Failure | None:
    """What an answer failed by; None for one that did not fail.

    An answer with a success status fails, too, when its JSON is cut off, or when it is an error all the same: an object that has errors,
    that calls itself one, that gives itself another status, or whose message is that of a rate limit.

    Args:
        status: of the HTTP answer.
        headers: of the answer; their names in any case.
        body: as it came.
        value: the JSON value in ``body``; None where there is none.
        now: the present moment, aware; for dates in ``headers``.
    """
    # Google wraps an error in a list where it would have streamed.
    answer = value[0] if isinstance(value, list) and len(value) == 1 else value
    success = 200 <= status < 300
    if success and answer is None and _begins_json(body):
        return Failure(FailureKind.TRANSIENT, "gave an answer that cannot be used: its JSON is cut off")
    if success and not _is_error(answer):
        return None
    labels, message = _labels(answer), _message(answer)
    inner = _inner_status(answer)
    if success or (status == _BAD_REQUEST and inner == _TOO_MANY_REQUESTS):
        kind = _kind(inner, labels, message)
    else:
        kind = _kind(status, labels, message)
    hint = None
    if kind in (FailureKind.RATE_LIMITED, FailureKind.TRANSIENT):
        hint = retry_after_seconds({name.lower(): value for name, value in headers.items()}, answer, now=now)
    return Failure(kind, f"answered {status}: {message or _page_words(body) or 'without a word'}", hint)


def provider_error(failure: Failure, *, provider: str, secrets: tuple[str, ...]) -> ProviderError:
    """The error of the project for ``failure``: one line that says ``provider``, and never one of ``secrets``."""
    line = " ".join(failure.words.split())
    for secret in secrets:
        line = line.replace(secret, "***")
    message = f"{provider} {line[:MESSAGE_CHARS]}"
    match failure.kind:
        case FailureKind.RATE_LIMITED:
            return ProviderRateLimited(message, failure.retry_after_seconds)
        case FailureKind.TRANSIENT:
            return ProviderTransient(message, failure.retry_after_seconds)
        case FailureKind.REQUEST_REFUSED:
            return RequestRefused(message)
        case FailureKind.PERMANENT:
            return ProviderPermanent(message)


def _kind(status: int | None, labels: str, message: str) -> FailureKind:
    if _NO_QUOTA_LABEL.search(labels):
        return FailureKind.PERMANENT
    if status == _TOO_MANY_REQUESTS:
        return FailureKind.RATE_LIMITED
    if status in (None, _BAD_REQUEST) and (_RATE_LIMIT_LABEL.search(labels) or _RATE_LIMIT_WORDS.match(message)):
        return FailureKind.RATE_LIMITED
    if status in _TRANSIENT_STATUSES:
        return FailureKind.REQUEST_REFUSED if _TOO_LONG_WORDS.search(message) else FailureKind.TRANSIENT
    if status is None:
        return FailureKind.TRANSIENT if _OVERLOAD_LABEL.search(labels) else FailureKind.PERMANENT
    if status in _BAD_REQUEST_STATUSES and not _HOPELESS_LABEL.search(labels):
        return FailureKind.REQUEST_REFUSED
    return FailureKind.PERMANENT


def _begins_json(body: bytes) -> bool:
    return body.lstrip()[:1] in (b"{", b"[")


def _is_error(answer: object) -> bool:
    if not isinstance(answer, dict):
        return False
    says_so = bool(answer.get("error") or answer.get("errors")) or "error" in (answer.get("object"), answer.get("type"))
    return says_so or _inner_status(answer) is not None or _RATE_LIMIT_WORDS.match(_message(answer)) is not None


def _error(answer: object) -> dict[object, object]:
    """The object that says what failed: the answer's ``error``, the first of its ``errors``, or the answer itself."""
    if not isinstance(answer, dict):
        return {}
    errors = answer.get("errors")
    inner = answer.get("error") or (errors[0] if isinstance(errors, list) and errors else None)
    return inner if isinstance(inner, dict) else answer


def _inner_status(answer: object) -> int | None:
    """The status that an error inside a successful answer gives itself; None where it gives none."""
    for holder in (_error(answer), answer if isinstance(answer, dict) else {}):
        for key in ("code", "status", "status_code"):
            value = holder.get(key)
            number = int(value) if isinstance(value, str) and value.isdecimal() and len(value) == 3 else value
            if isinstance(number, int) and not isinstance(number, bool) and 400 <= number <= 599:
                return number
    return None


def _labels(answer: object) -> str:
    """Codes, types, statuses and reasons, as one text."""
    error = _error(answer)
    details = error.get("details")
    holders = [error, *(detail for detail in (details if isinstance(details, list) else ()) if isinstance(detail, dict))]
    return " ".join(str(holder[key]) for holder in holders for key in _LABEL_KEYS if isinstance(holder.get(key), str | int))


def _message(answer: object) -> str:
    """A provider's own sentence, wherever it puts it."""
    error = _error(answer)
    for words in (error.get("message"), error.get("error"), error.get("detail"), error.get("msg")):
        if isinstance(words, str) and words.strip():
            return words
        if isinstance(words, list | dict) and words:
            return json.dumps(words, ensure_ascii=False)
    return ""


def _page_words(body: bytes) -> str:
    """The title of an HTML page, or the text of whatever it is."""
    page = body[:_PAGE_CHARS].decode("utf-8", "replace")
    title = _TITLE.search(page)
    return " ".join(html.unescape(_TAG.sub(" ", title[1] if title else page)).split())
