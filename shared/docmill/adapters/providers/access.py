"""How a provider's API is reached."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True)
class Access:
    """How an endpoint is reached.

    Attributes:
        api_key: None sends none.
        headers: more headers of every request, by name, with their values filled in.
        timeout_seconds: of one call, from its start to the last byte of its answer.
    """

    base_url: str
    api_key: str | None = None
    headers: Mapping[str, str] | None = None
    timeout_seconds: float = 60.0

    @property
    def address(self) -> str:
        """``base_url`` without the name and password that it may hold."""
        parts = urlsplit(self.base_url)
        return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must be in no message: the key, and header values that are too long to be ordinary words."""
        long_values = (value for value in (self.headers or {}).values() if len(value) >= 12)
        return tuple(secret for secret in (self.api_key, *long_values) if secret)
