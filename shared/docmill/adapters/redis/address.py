"""Where Redis is: ``DOCMILL_REDIS_URL`` taken apart.

``redis://[USER:PASSWORD@]HOST[:PORT][/DB]``, ``rediss://`` for the same over TLS, ``unix://[USER:PASSWORD@]/PATH[?db=DB]``, and
``sentinel://[USER:PASSWORD@]HOST[:PORT],HOST[:PORT].../NAME[/DB]``, where the login is for the servers that Sentinel names (and for a
Sentinel that asks for one). Everything that stands for itself in a URL (``@:/,%``) is percent-encoded in a user or a password.
"""

from dataclasses import dataclass, field
from typing import Final
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

from docmill.config.settings import Settings
from docmill.domain.errors import ConfigurationError

VARIABLE: Final = "DOCMILL_REDIS_URL"
_CA_VARIABLE: Final = "DOCMILL_REDIS_CA_FILE"
_REDIS_PORT: Final = 6379
_SENTINEL_PORT: Final = 26379


@dataclass(frozen=True, slots=True)
class RedisAddress:
    """A Redis server, or the Sentinels that know which server it is.

    Attributes:
        hosts: host and port of the server, or of each Sentinel; none for a unix socket.
        path: of the unix socket.
        master_name: what Sentinel calls the servers; "" without Sentinel.
        username: "" for the default user.
        password: "" for none.
        tls: whether connections are encrypted and certificates checked, those of the Sentinels too.
        ca_file: certificates that the server's must be signed by; the system's when None.
    """

    hosts: tuple[tuple[str, int], ...] = ()
    path: str = ""
    master_name: str = ""
    username: str = ""
    password: str = field(default="", repr=False)
    database: int = 0
    tls: bool = False
    ca_file: str | None = None

    @property
    def place(self) -> str:
        """For people: where that is, without a login."""
        if self.path:
            return self.path
        hosts = ", ".join(f"[{host}]:{port}" if ":" in host else f"{host}:{port}" for host, port in self.hosts)
        return f"{self.master_name} of Sentinel at {hosts}" if self.master_name else hosts


def address_of(settings: Settings) -> RedisAddress:
    """The address that ``settings`` name.

    Raises:
        ConfigurationError: the URL cannot be used; the message does not repeat it, since it may hold a password.
    """
    if settings.redis_url is None:
        raise ConfigurationError(f"{VARIABLE} is not set")
    try:
        address = _parse(settings.redis_url, settings.redis_ca_file)
    except ValueError as error:
        raise ConfigurationError(f"{VARIABLE}: {error}") from None
    if settings.redis_ca_file is not None and not address.tls:
        raise ConfigurationError(
            f"{_CA_VARIABLE} is set, but {VARIABLE} is not encrypted: begin it with rediss://, or unset {_CA_VARIABLE}"
        )
    return address


def _parse(url: str, ca_file: str | None) -> RedisAddress:
    parts = urlsplit(url)
    login, _, places = parts.netloc.rpartition("@")
    username, _, password = (unquote(part) for part in login.partition(":"))
    if username and not password:
        raise ValueError("has a user without a password; write USER:PASSWORD@, or :PASSWORD@ for a password alone")
    options = parse_qs(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
    if set(options) - {"db"}:
        raise ValueError(f"has an option that is not known: {', '.join(sorted(set(options) - {'db'}))}; only db is")
    if parts.fragment:
        raise ValueError("has a # that must be written %23")
    in_query = options.get("db", [""])[-1]
    if parts.scheme == "unix":
        if places:
            raise ValueError("must have three slashes before the path of the socket: unix:///PATH")
        return RedisAddress((), unquote(parts.path), "", username, password, _database(in_query))
    if parts.scheme == "sentinel":
        return _parse_sentinel(parts, places, username, password, in_query, ca_file)
    database = _database(in_query or parts.path.strip("/"))
    return RedisAddress(_hosts(places, _REDIS_PORT), "", "", username, password, database, parts.scheme == "rediss", ca_file)


def _parse_sentinel(parts: SplitResult, places: str, username: str, password: str, in_query: str, ca_file: str | None) -> RedisAddress:
    """TLS is meant for Sentinel and for its servers alike where a file of certificates is named."""
    name, _, database = parts.path.strip("/").partition("/")
    if not name:
        raise ValueError("must end with the name that Sentinel has for the servers: sentinel://HOST:PORT,HOST:PORT/NAME")
    hosts = _hosts(places, _SENTINEL_PORT)
    return RedisAddress(hosts, "", unquote(name), username, password, _database(in_query or database), ca_file is not None, ca_file)


def _hosts(places: str, default_port: int) -> tuple[tuple[str, int], ...]:
    found = []
    for place in places.split(","):
        parts = urlsplit(f"//{place}")
        if not parts.hostname:
            raise ValueError("names no host")
        found.append((parts.hostname, parts.port or default_port))
    return tuple(found)


def _database(text: str) -> int:
    if not text:
        return 0
    if not (text.isascii() and text.isdigit() and len(text) <= 5):
        raise ValueError("must name a database by its number")
    return int(text)
