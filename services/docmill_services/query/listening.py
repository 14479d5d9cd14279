"""Takes the address that the HTTP server listens on."""

import errno
import socket
from ipaddress import IPv6Address, ip_address
from typing import Final

from docmill.domain.errors import AddressInUse, ConfigurationError
from docmill_services.query.edge import is_loopback

BACKLOG: Final = 2048


def listen(host: str, port: int, *, guarded: bool = False) -> socket.socket:
    """A socket that listens; ``host`` and ``port`` as for ``serve``, which says what it raises."""
    if not is_loopback(host):
        _require_guard(host, guarded)
    if not 0 <= port <= 65535:
        raise ConfigurationError(f"port {port}: a port is from 0 to 65535")
    address = "127.0.0.1" if host.lower() == "localhost" else host
    family = socket.AF_INET6 if isinstance(ip_address(address), IPv6Address) else socket.AF_INET
    # With the protocol named, the event loop switches Nagle's algorithm off; without it every answer waits 40 ms for an acknowledgement.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((address, port))
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            raise AddressInUse(f"{host}:{port} is taken by another program; stop that, or choose another port (0 takes any)") from error
        raise ConfigurationError(f"cannot listen on {host}:{port}: {error.strerror or error}") from error
    return listener


def _require_guard(host: str, guarded: bool) -> None:
    if not guarded:
        raise ConfigurationError(
            f"host {host}: without a key docmill listens on loopback addresses only (127.0.0.1, ::1, localhost); "
            "make one (docmill keys create) or set DOCMILL_API_KEY"
        )
    try:
        ip_address(host)
    except ValueError as error:
        raise ConfigurationError(f"host {host}: name an address to listen on, such as 0.0.0.0") from error
