"""Connects to the Qdrant server that the settings name, and looks at what answers there."""

import math
import re
import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import httpx
from qdrant_client import QdrantClient, models

from docmill.adapters.qdrant.vector_store import QdrantVectorStore
from docmill.config.settings import Settings
from docmill.domain.errors import ConfigurationError, ServiceDown

#: The first version with the universal query endpoint, which every search uses; all else that is used here is older.
OLDEST_VERSION: Final = (1, 10)

_REST_PORT: Final = 6333
_GRPC_PORT: Final = 6334
#: More than the threads of one process that call the store.
_CONNECTIONS: Final = 64
#: A call is tried again for as long as so many time-outs take, or a minute.
_TIMEOUTS_PER_CALL: Final = 3
_LEAST_BUDGET_SECONDS: Final = 60.0
#: Without these, a channel whose server was away for long looks for it every two minutes only.
_GRPC_OPTIONS: Final[dict[str, Any]] = {"grpc.initial_reconnect_backoff_ms": 200, "grpc.max_reconnect_backoff_ms": 2_000}


@dataclass(frozen=True, slots=True)
class Address:
    """Where the server is.

    Attributes:
        host: a name or an address, IPv6 in brackets.
        path: before the server's own paths, behind a proxy; "" for none.
    """

    is_grpc: bool
    is_encrypted: bool
    host: str
    port: int
    path: str

    @property
    def place(self) -> str:
        """``HOST:PORT``."""
        return f"{self.host}:{self.port}"


def address_of(url: str) -> Address:
    """The parts of a ``DOCMILL_QDRANT_URL``: ``http://``, ``https://``, ``grpc://`` or ``grpcs://``, without a port 6333 or 6334.

    Raises:
        ConfigurationError: it names several servers, holds a password, or has a part that has no meaning; the message repeats none of it.
    """
    if "," in url:
        raise ConfigurationError("DOCMILL_QDRANT_URL: names several servers; name one, which reaches the others itself, or a balancer")
    parts = urlsplit(url)
    if parts.username is not None or parts.password is not None:
        raise ConfigurationError("DOCMILL_QDRANT_URL: holds a name or password, which Qdrant does not take; set DOCMILL_QDRANT_API_KEY")
    path = parts.path.rstrip("/")
    is_grpc = parts.scheme in ("grpc", "grpcs")
    if parts.query or parts.fragment or (is_grpc and path):
        raise ConfigurationError(f"DOCMILL_QDRANT_URL: must end after the {'port' if is_grpc else 'path'}")
    host = parts.hostname or ""
    return Address(
        is_grpc,
        parts.scheme in ("https", "grpcs"),
        f"[{host}]" if ":" in host else host,
        parts.port or (_GRPC_PORT if is_grpc else _REST_PORT),
        path,
    )


def connect_qdrant(settings: Settings) -> QdrantVectorStore:
    """The store on the server at ``settings.qdrant_url``, which answers, lets us in and is new enough.

    Raises:
        ConfigurationError: the URL or the file of certificates cannot be used.
        StoreDown: nothing answers, TLS fails, or the key is refused.
        ServiceDown: what answers is another kind of server, or too old.
    """
    if settings.qdrant_url is None:
        raise ConfigurationError("DOCMILL_QDRANT_URL is not set")
    address = address_of(settings.qdrant_url)
    client = _client(address, settings)
    store = QdrantVectorStore(
        client,
        address.place,
        budget_seconds=max(_LEAST_BUDGET_SECONDS, _TIMEOUTS_PER_CALL * settings.store_timeout_seconds),
        query_budget_seconds=settings.query_timeout_seconds,
    )
    try:
        check_version(store.server(), address.place)
    except BaseException:
        store.close()
        raise
    return store


def check_version(found: models.VersionInfo, place: str) -> None:
    """Raises ``ServiceDown`` unless this is a server of Qdrant that is new enough."""
    if "qdrant" not in found.title.lower():
        raise ServiceDown(f"DOCMILL_QDRANT_URL: what answers at {place} is not Qdrant but {found.title[:60]!r}")
    numbers = re.match(r"(\d+)\.(\d+)", found.version)
    if numbers is None or (int(numbers[1]), int(numbers[2])) < OLDEST_VERSION:
        oldest = ".".join(map(str, OLDEST_VERSION))
        raise ServiceDown(f"DOCMILL_QDRANT_URL: Qdrant at {place} has the version {found.version[:20]}; {oldest} or newer is needed")


def _client(address: Address, settings: Settings) -> QdrantClient:
    shared: dict[str, Any] = {
        "timeout": math.ceil(settings.store_timeout_seconds),
        "check_compatibility": False,  # it warns from a thread of its own; `check_version` raises
        "headers": {"api-key": settings.qdrant_api_key} if settings.qdrant_api_key else None,
        "verify": _tls_of(settings.qdrant_ca_file) if address.is_encrypted else True,
    }
    if address.is_grpc:
        options = dict(_GRPC_OPTIONS)
        if address.is_encrypted and (roots := _root_certificates(settings.qdrant_ca_file)):
            options["root_certificates"] = roots
        return QdrantClient(
            host=address.host, grpc_port=address.port, prefer_grpc=True, https=address.is_encrypted, grpc_options=options, **shared
        )
    scheme = "https" if address.is_encrypted else "http"
    limits = httpx.Limits(max_connections=_CONNECTIONS, max_keepalive_connections=_CONNECTIONS)
    return QdrantClient(url=f"{scheme}://{address.place}{address.path}", limits=limits, **shared)


def _tls_of(ca_file: str | None) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=ca_file)
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"DOCMILL_QDRANT_CA_FILE: holds no certificates that can be read: {ca_file}") from error


def _root_certificates(ca_file: str | None) -> bytes | None:
    """What gRPC is given: the file, or the system's certificates where they are in one, or None for those that gRPC brings."""
    file = ca_file or ssl.get_default_verify_paths().cafile
    return Path(file).read_bytes() if file else None
