"""Operational settings: where the servers are, and how long and how much; from environment variables."""

import math
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from docmill.config.knowledge_bases import MIN_SCAN_INTERVAL_SECONDS
from docmill.config.problems import one_line
from docmill.config.wording import listed
from docmill.domain.errors import ConfigurationError

PREFIX: Final = "DOCMILL_"

_REDIS_SCHEMES: Final = ("redis", "rediss", "unix", "sentinel")
_QDRANT_SCHEMES: Final = ("http", "https", "grpc", "grpcs")
_HTTP_SCHEMES: Final = ("http", "https")
_API_KEY_CHARACTERS: Final = 16
_MAX_SECONDS: Final = 365 * 24 * 3600.0


def _read_url(text: str, schemes: tuple[str, ...]) -> str:
    """A URL, or several servers of one kind: ``sentinel://HOST,HOST/NAME``, ``http://HOST,http://HOST``.

    The value is never repeated in a message: it may hold a password.
    """
    if any(not c.isprintable() or c == " " for c in text) or not all(_names_a_place(part, schemes) for part in _servers_of(text)):
        raise ValueError(f"must be a URL that begins with {_alternatives(schemes)} and names a place")
    return text


def _servers_of(text: str) -> list[str]:
    """Each server as a URL of its own."""
    first, *others = text.split(",")
    if not first.startswith("sentinel://"):
        return [first, *others]
    login, at, _ = first.rpartition("@")
    return [first, *(f"{login}{at}{other}" if at else f"sentinel://{other}" for other in others)]


def _names_a_place(text: str, schemes: tuple[str, ...]) -> bool:
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as error:
        raise ValueError("is not a URL") from error
    has_place = parts.path not in ("", "/") if parts.scheme == "unix" else bool(parts.hostname)
    return parts.scheme in schemes and has_place and port != 0


def _alternatives(schemes: tuple[str, ...]) -> str:
    return listed(f"{scheme}://" for scheme in schemes)


def _read_file(text: str) -> str:
    if not Path(text).is_file():
        raise ValueError(f"names no file: {one_line(text)}")
    return text


def _read_secret(text: str) -> str:
    if not text.isascii() or not text.isprintable():
        raise ValueError("holds a character that no key has")
    return text


def _read_api_key(text: str) -> str:
    if len(_read_secret(text)) < _API_KEY_CHARACTERS or " " in text:
        raise ValueError(f"must be at least {_API_KEY_CHARACTERS} characters without spaces")
    return text


def _read_seconds(text: str) -> float:
    return _number(text, float, f"must be a number of seconds above 0 and at most {_MAX_SECONDS:.0f}", _MAX_SECONDS)


def _read_count(text: str) -> int:
    return int(_number(text, int, "must be a whole number from 1 to 1000000", 1_000_000))


def _number(text: str, read: Callable[[str], float], problem: str, most: float) -> float:
    try:
        value = read(text)
    except (ValueError, OverflowError):
        value = math.nan
    if not 0 < value <= most:
        raise ValueError(f"{problem}, not `{text[:60]}`")
    return value


def _url(schemes: tuple[str, ...], description: str) -> Any:
    # A URL may hold a password, so it is left out of repr.
    return field(default=None, repr=False, metadata={"read": lambda text: _read_url(text, schemes), "description": description})


def _file(description: str) -> Any:
    return field(default=None, metadata={"read": _read_file, "description": description})


def _secret(description: str) -> Any:
    return field(default=None, repr=False, metadata={"read": _read_secret, "description": description})


def _seconds(default: float, description: str) -> Any:
    return field(default=default, metadata={"read": _read_seconds, "description": description})


def _count(default: int | None, description: str) -> Any:
    return field(default=default, metadata={"read": _read_count, "description": description})


@dataclass(frozen=True, slots=True)
class Settings:
    """How docmill runs. A backend's URL that is None means the embedded backend; a count that is None fits the machine."""

    redis_url: str | None = _url(_REDIS_SCHEMES, "The Redis or Valkey server; embedded when not set.")
    redis_ca_file: str | None = _file("Certificates that the TLS certificate of Redis must be signed by; the system's when not set.")
    qdrant_url: str | None = _url(_QDRANT_SCHEMES, "The Qdrant server; embedded when not set.")
    qdrant_api_key: str | None = _secret("The key for Qdrant.")
    qdrant_ca_file: str | None = _file("Certificates that the TLS certificate of Qdrant must be signed by; the system's when not set.")
    elasticsearch_url: str | None = _url(
        _HTTP_SCHEMES, "The Elasticsearch server, or several nodes with commas between; embedded when not set."
    )
    elasticsearch_api_key: str | None = _secret("The key for Elasticsearch, encoded as it was given out; or USER:PASSWORD@ in the URL.")
    elasticsearch_ca_file: str | None = _file(
        "Certificates that the TLS certificate of Elasticsearch must be signed by; the system's when not set."
    )
    api_key: str | None = field(
        default=None,
        repr=False,
        metadata={
            "read": _read_api_key,
            "description": "What callers of the query service must bring as `Authorization: Bearer KEY`, at least 16 characters.",
        },
    )
    query_timeout_seconds: float = _seconds(10.0, "A strategy that takes longer is left out of a search.")
    store_timeout_seconds: float = _seconds(20.0, "One request to a store.")
    grace_seconds: float = _seconds(60.0, "How long replaced chunks stay before the sweeper removes them.")
    lease_seconds: float = _seconds(30.0, "How long a lock on a document lives when its holder does not renew it.")
    lease_renewal_seconds: float = _seconds(5.0, "How often a holder renews its locks.")
    group_commit_seconds: float = _seconds(
        1.0,
        "The longest that a written document waits for others to commit with; 0.05 on the embedded backends, which show writes at once.",
    )
    group_commit_documents: int = _count(500, "The most documents in one commit.")
    live_commit_seconds: float = _seconds(
        0.1, "The same wait for a document changed while watching; at most 0.05 on the embedded backends."
    )
    document_deadline_seconds: float = _seconds(600.0, "The longest time for one document.")
    scan_interval_seconds: float = _seconds(900.0, "Between full scans, for knowledge bases without a `scan_interval`.")
    window_documents: int = _count(1000, "Documents that are queued or in work at once, over all knowledge bases.")
    visibility_timeout_seconds: float = _seconds(900.0, "When the broker gives a task of a lost worker to another one.")
    worker_threads: int | None = _count(None, "Threads that index in one process; fitted to the cores when not set.")
    embedding_threads: int | None = _count(None, "Threads of the local embedding model; fitted to the cores when not set.")

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> "Settings":
        """The settings in ``environ``; an empty variable counts as not set.

        Raises:
            ConfigurationError: one line for each variable whose value cannot be used.
        """
        values: dict[str, Any] = {}
        problems: list[str] = []
        for variable, setting in _settings().items():
            text = environ.get(variable, "").strip()
            if not text:
                continue
            try:
                values[setting.name] = setting.metadata["read"](text)
            except ValueError as error:
                problems.append(f"{variable}: {error}")
        settings = cls(**values)
        if settings.lease_renewal_seconds * 2 > settings.lease_seconds:
            problems.append(
                f"{PREFIX}LEASE_RENEWAL_SECONDS: must be at most half of {PREFIX}LEASE_SECONDS ({settings.lease_seconds:g}),"
                f" not {settings.lease_renewal_seconds:g}"
            )
        if settings.scan_interval_seconds < MIN_SCAN_INTERVAL_SECONDS:
            problems.append(
                f"{PREFIX}SCAN_INTERVAL_SECONDS: must be at least {MIN_SCAN_INTERVAL_SECONDS:g}, not {settings.scan_interval_seconds:g}"
            )
        if problems:
            raise ConfigurationError("\n".join(one_line(problem) for problem in problems))
        return settings


@dataclass(frozen=True, slots=True)
class SettingDescription:
    """One environment variable, for people; ``default`` is None where the machine or an embedded backend decides."""

    variable: str
    default: str | float | None
    description: str


def setting_descriptions() -> list[SettingDescription]:
    """All environment variables that are settings, in their order."""
    return [
        SettingDescription(variable, None if setting.default is MISSING else setting.default, setting.metadata["description"])
        for variable, setting in _settings().items()
    ]


def _settings() -> dict[str, "Field[Any]"]:
    return {PREFIX + setting.name.upper(): setting for setting in fields(Settings)}
