"""HTTP headers in the configuration: which may stand there, and how their values are filled in from the environment."""

import re
from collections.abc import Mapping
from typing import Final

from docmill.domain.errors import ConfigurationError

_NAME: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_VARIABLE: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
#: Of these the value is a secret, which must not stand in the file.
_CREDENTIAL: Final = re.compile(r"authorization|cookie|api-?key|token|secret|password", re.IGNORECASE)
#: These are made for each request.
_RESERVED: Final = frozenset({"host", "content-length", "content-type", "content-encoding", "transfer-encoding", "connection"})


def problem_of_header(name: str, value: str) -> str | None:
    """Why a header cannot stand in the configuration; None when it can."""
    if not _NAME.fullmatch(name):
        return "is not the name of a header"
    if name.lower() in _RESERVED:
        return "is set by docmill itself"
    if not (value.isascii() and value.isprintable()):
        return "must be one line of ASCII characters"
    if _CREDENTIAL.search(name) and not _VARIABLE.search(value):
        return "must take its secret from an environment variable: `${NAME}`; a secret itself must not stand in the file"
    return None


def credentials_in(headers: Mapping[str, str]) -> tuple[str, ...]:
    """The values of those headers that say who asks, in the order of their names."""
    return tuple(value for name, value in sorted(headers.items()) if _CREDENTIAL.search(name))


def filled_in(headers: tuple[tuple[str, str], ...], environ: Mapping[str, str], *, model: str) -> dict[str, str]:
    """``headers`` with each ``${NAME}`` replaced by the environment variable.

    Raises:
        ConfigurationError: a variable is not set or cannot be in a header; the message names it, and ``model``.
    """

    def value_of(match: re.Match[str]) -> str:
        value = environ.get(match[1], "").strip()
        if not value:
            raise ConfigurationError(f"{model}: one of its headers needs the environment variable {match[1]}; set it")
        if not (value.isascii() and value.isprintable()):
            raise ConfigurationError(f"{model}: the value of the environment variable {match[1]} cannot be in a header")
        return value

    return {name: _VARIABLE.sub(value_of, value) for name, value in headers}
