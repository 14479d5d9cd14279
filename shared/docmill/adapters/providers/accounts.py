"""Accounts: by what a provider tells its callers apart, and counts their requests."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from docmill.config.headers import credentials_in

_DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Account:
    """A place and a credential; models that have both in common share what the provider bears.

    Attributes:
        base_url: in one form, whoever wrote it.
        credential: a fingerprint, which the credential cannot be told from; "" where none is sent.
    """

    base_url: str
    credential: str

    @property
    def key(self) -> str:
        """Both as one text, which tells this account from every other one."""
        return f"{self.base_url}\0{self.credential}"


def account_at(base_url: str, api_key: str | None, headers: Mapping[str, str]) -> Account:
    """The account that is asked with these.

    Args:
        base_url: as it is configured.
        api_key: None sends none.
        headers: more headers of every request, with their values filled in; some of them may be the credential.
    """
    secrets = [api_key or "", *credentials_in(headers)]
    joined = "\0".join(secrets)
    return Account(_normalised(base_url), hashlib.blake2b(joined.encode(), digest_size=16).hexdigest() if any(secrets) else "")


def _normalised(base_url: str) -> str:
    parts = urlsplit(base_url)
    scheme, host = parts.scheme.lower(), (parts.hostname or "").lower()
    port = parts.port or _DEFAULT_PORTS.get(scheme)
    query = f"?{parts.query}" if parts.query else ""
    return f"{scheme}://{host}:{port}{parts.path.rstrip('/')}{query}"
