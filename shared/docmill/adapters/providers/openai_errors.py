"""What a failed call of an OpenAI-compatible provider means."""

from typing import Final

from openai import APIConnectionError, APIStatusError, APITimeoutError, OpenAIError

from docmill.domain.errors import ProviderError, ProviderPermanent, ProviderRateLimited, ProviderTransient

_TOO_MANY_REQUESTS: Final = 429
_TRANSIENT_STATUSES: Final = frozenset({408, 500, 502, 503, 504, 529})
#: It may be refused for one of its texts: malformed, too large, unprocessable.
_BAD_REQUEST_STATUSES: Final = frozenset({400, 413, 422})
#: In the code or type of an answer that means 429, whatever its status.
_RATE_LIMIT: Final = "rate_limit"
#: A 429 that waiting does not help: the account has no money left.
_NO_QUOTA: Final = "insufficient_quota"
_MESSAGE_CHARS: Final = 500


class RequestRefused(ProviderPermanent):
    """The provider refuses this request; one with other texts may be taken."""


def provider_error_of(error: OpenAIError, *, provider: str, secret: str | None) -> ProviderError:
    """The error of the project for ``error``, with the provider's own words.

    Args:
        error: as the ``openai`` package raised it.
        provider: what was called, as its user knows it.
        secret: never in the message, whatever the provider says.
    """
    if isinstance(error, APIStatusError):
        kind, what = _kind_of(error), f"answered {error.status_code}: {_words_of(error)}"
    elif isinstance(error, APITimeoutError):
        kind, what = ProviderTransient, "did not answer in time"
    elif isinstance(error, APIConnectionError):
        kind, what = ProviderTransient, f"cannot be reached: {error.__cause__ or error}"
    else:
        kind, what = ProviderPermanent, f"cannot be used: {error}"
    message = " ".join(what.split())
    if secret:
        message = message.replace(secret, "***")
    return kind(f"{provider} {message[:_MESSAGE_CHARS]}")


def _kind_of(error: APIStatusError) -> type[ProviderError]:
    if error.status_code == _TOO_MANY_REQUESTS:
        return ProviderPermanent if _NO_QUOTA in (error.code, error.type) else ProviderRateLimited
    if error.status_code in _TRANSIENT_STATUSES:
        return ProviderTransient
    if error.status_code not in _BAD_REQUEST_STATUSES:
        return ProviderPermanent
    return ProviderRateLimited if _RATE_LIMIT in f"{error.code} {error.type}" else RequestRefused


def _words_of(error: APIStatusError) -> str:
    words = error.body.get("message") if isinstance(error.body, dict) else error.body
    return words if isinstance(words, str) and words.strip() else error.message
