"""Where each provider's models are."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from docmill.adapters.providers.access import Access
from docmill.adapters.providers.accounts import Account, account_at
from docmill.adapters.providers.credentials import credential
from docmill.adapters.providers.permits import Permits, PermitsOf
from docmill.config.headers import filled_in
from docmill.config.providers import LOCAL, PROVIDERS, ModelSpec
from docmill.domain.knowledge_bases import EmbeddingModelSpec
from docmill.ports.gate import Limits

_OPENAI: Final = "https://api.openai.com/v1"
#: Of providers whose base URL the configuration does not know.
_OWN: Final[Mapping[str, str]] = MappingProxyType(
    {
        "openai": _OPENAI,
        "google": "https://generativelanguage.googleapis.com/v1beta",
        "cohere": "https://api.cohere.com",
        "voyage": "https://api.voyageai.com/v1",
        "anthropic": "https://api.anthropic.com",
    }
)


def base_url_of(spec: EmbeddingModelSpec | ModelSpec) -> str:
    """Where the models of ``spec``'s provider are; OpenAI's own where nobody says."""
    known = PROVIDERS.get(spec.provider)
    return spec.base_url or _OWN.get(spec.provider) or (known.base_url if known is not None else None) or _OPENAI


def permits_for(spec: EmbeddingModelSpec | ModelSpec, access: Access, permits_of: PermitsOf) -> Permits:
    """The permits of a model that is reached by ``access``."""
    account = account_at(base_url_of(spec), access.api_key, access.headers or {})
    limits = Limits(spec.max_concurrency, spec.requests_per_minute, spec.tokens_per_minute)
    return permits_of(f"{spec.name} at {access.address}", account, limits)


def account_of(spec: EmbeddingModelSpec | ModelSpec, environ: Mapping[str, str]) -> Account | None:
    """The account that calls of a model are made with; None for a model that runs inside docmill.

    Args:
        spec: as the configuration gives it.
        environ: credentials by the name of the environment variable that holds them.

    Raises:
        ConfigurationError: its credential, or a variable that its headers need, is missing.
    """
    if spec.provider == LOCAL:
        return None
    return account_at(base_url_of(spec), credential(spec.name, spec.token_key, environ), filled_in(spec.headers, environ, model=spec.name))
