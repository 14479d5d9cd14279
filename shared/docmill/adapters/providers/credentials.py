"""The key for a provider, from the environment."""

from collections.abc import Mapping

from docmill.domain.errors import ConfigurationError


def credential(model: str, token_key: str | None, environ: Mapping[str, str]) -> str | None:
    """The value of the variable ``token_key``; None where the provider wants no key.

    Raises:
        ConfigurationError: it is not set, or no header can hold it; the message names ``model`` and the variable, never its value.
    """
    if token_key is None:
        return None
    value = environ.get(token_key, "").strip()
    if not value:
        raise ConfigurationError(f"{model}: its credential is missing; set the environment variable {token_key}")
    if not (value.isascii() and value.isprintable()):
        raise ConfigurationError(f"{model}: the value of the environment variable {token_key} cannot be a credential")
    return value
