"""What to do about a model that does not do what it is for; pure, and only for people who try one on purpose."""

import re
from typing import Final

from docmill.domain.errors import DocmillError, ProviderError, ProviderLeftAlone, ProviderRateLimited, ProviderTransient, TextRefused
from docmill.domain.knowledge_bases import ChatModelSpec, EmbeddingModelSpec

_STATUS: Final = re.compile(r" answered (\d{3}):")
_OTHER_LENGTH: Final = re.compile(r"makes vectors of (\d+) dimensions")
_NO_MONEY: Final = re.compile(r"quota|billing|credit|payment", re.IGNORECASE)
_NOT_THERE: Final = ("cannot be reached", "did not answer in time")


def advice_for(error: DocmillError, spec: EmbeddingModelSpec | ChatModelSpec) -> str:
    """One clause that says what to do; "" where the message itself does."""
    if not isinstance(error, ProviderError):
        return ""
    message = str(error)
    if isinstance(error, ProviderLeftAlone | ProviderRateLimited):
        when = "later" if error.retry_after_seconds is None else f"in {error.retry_after_seconds:.0f} s"
        return f"try again {when}; requests_per_minute in models: keeps below a limit that is known"
    length = _OTHER_LENGTH.search(message)
    if length is not None:
        return f"set vector_dimensions: {length[1]}, or name another embedding_model"
    if isinstance(error, TextRefused) and isinstance(spec, ChatModelSpec):
        return f"give it a larger max_tokens in models:, or name another chat_model than {spec.model}"
    if any(words in message for words in _NOT_THERE):
        return "check that the server runs, its base_url, and the network"
    status = _STATUS.search(message)
    return _of_status(int(status[1]), message, spec) if status is not None else _of_kind(error, spec)


def _of_status(status: int, message: str, spec: EmbeddingModelSpec | ChatModelSpec) -> str:
    variable = "a token_key" if spec.token_key is None else f"the environment variable {spec.token_key}"
    if status in (402, 429) or (status == 403 and _NO_MONEY.search(message)):
        return "check the plan and the billing of the account"
    if status in (401, 403):
        return f"check {variable}, which holds the key" if spec.token_key is not None else f"name {variable}, if it wants a key"
    if status == 404:
        return f"check the model's name ({spec.model}) and base_url, which mostly ends in /v1"
    if status >= 500 or status == 408:
        return "the provider fails for now; try again later"
    return f"check the model ({spec.model}){'' if isinstance(spec, ChatModelSpec) else ', vector_dimensions'} and base_url"


def _of_kind(error: ProviderError, spec: EmbeddingModelSpec | ChatModelSpec) -> str:
    api = "chat" if isinstance(spec, ChatModelSpec) else "embeddings"
    return "try again later" if isinstance(error, ProviderTransient) else f"check base_url: what answers there is no {api} API"
