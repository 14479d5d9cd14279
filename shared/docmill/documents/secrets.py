"""Secrets in text: private keys, access tokens of well-known services, and passwords in addresses.

A document that holds one is withheld as a whole: part of it would be no version of the file, and what stands around a secret often helps to
use it. What documentation shows as an example is none. Every search is linear in the text's length.
"""

import base64
import binascii
import bisect
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote

from docmill.documents.placeholders import is_made_up, is_made_up_password
from docmill.documents.private_keys import private_keys
from docmill.documents.token_shapes import BEFORE, TOKEN_SHAPES
from docmill.domain.documents import LoadedDocument
from docmill.domain.errors import DocumentSkipped, SkipReason

#: In a token (RFC 7519) three parts of base64url, of which the first two are JSON objects.
_JWT: Final = re.compile(BEFORE + r"(eyJ[A-Za-z0-9_-]{8,2000})\.(eyJ[A-Za-z0-9_-]{8,8000})\.([A-Za-z0-9_-]{20,2000})")
#: A token that expired before 2025 opens nothing any more; documentation is full of them.
_LONG_EXPIRED: Final = 1_735_689_600

_SCHEMES: Final = frozenset(
    [
        "postgres",
        "postgresql",
        "cockroachdb",
        "mysql",
        "mysqlx",
        "mariadb",
        "mongodb",
        "redis",
        "rediss",
        "valkey",
        "amqp",
        "amqps",
        "mssql",
        "sqlserver",
        "oracle",
        "clickhouse",
        "couchdb",
        "neo4j",
        "bolt",
        "nats",
        "ftp",
        "ftps",
        "sftp",
        "ssh",
        "smtp",
        "smtps",
        "imap",
        "imaps",
        "ldap",
        "ldaps",
        "mqtt",
        "mqtts",
        "http",
        "https",
        "git",
        "elasticsearch",
        "opensearch",
    ]
)
_SCHEME: Final = re.compile(r"(?:\\[nrt]|(?<![A-Za-z0-9+]))([a-z][a-z0-9]*)(?:\+[a-z0-9]+)?\Z", re.IGNORECASE)
_LONGEST_SCHEME: Final = 24
_CREDENTIALS: Final = re.compile(
    r"""://([^\s:/?#@"'<>{}|\\^`,]{0,128}):([^\s/?#@"'\\`,]{1,200})@(\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9_.-]{1,253})""", re.ASCII
)
_NO_HOST: Final = re.compile(
    r"localhost|127\.|0\.0\.0\.0|\[::1\]|host(?:name)?\Z|server\Z|(?:.*\.)?example(?:\.[a-z]+)?\Z"
    r"|.*\.(?:test|invalid|localhost|local|example)\Z|your|my-?host",
    re.IGNORECASE,
)
#: In a network of containers a host has one word for a name, and its password is most often one for development.
_LEAST_PASSWORD_OF_ONE_WORD_HOST: Final = 12

_PASSWORD_FIELDS: Final = ("Password=", "password=", "PASSWORD=", "Pwd=", "pwd=", "PWD=")
_FIELD_VALUE: Final = re.compile(r"""[ \t]{0,4}([^;"'\s&]{1,128})""")
_SERVER_FIELD: Final = re.compile(
    r"(?:server|data source|host|address|addr)[ \t]{0,4}=[ \t]{0,4}(?:tcp:)?([A-Za-z0-9_.-]{1,253})", re.IGNORECASE
)
_USER_FIELD: Final = re.compile(r"(?:user id|uid|user|username)[ \t]{0,4}=[ \t]{0,4}([^;\s]{1,128})", re.IGNORECASE)
_FIELDS_BEFORE: Final = 300

#: Every secret has at least so many characters between two blanks, and most words of most texts have fewer.
_LONG_WORD: Final = 20
#: The words of a longer text would take too much memory.
_MOST_SPLIT: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class FoundSecret:
    """What looks like a secret.

    Attributes:
        kind: for people, with its article; never the secret.
        start: where it begins in the text.
    """

    kind: str
    start: int


def find_secret(text: str) -> FoundSecret | None:
    """The first secret in ``text``; None where there is none."""
    long_words = text if len(text) > _MOST_SPLIT else "\n".join(word for word in text.split() if len(word) >= _LONG_WORD)
    if not long_words:
        return None
    found = [FoundSecret(kind, start) for start, kind in _firsts(text, long_words)]
    first = min(found, key=lambda secret: secret.start, default=None)
    if first is not None and first.kind.startswith("a private key") and '"service_account"' in text:
        return FoundSecret("a GCP service account's private key", first.start)
    return first


def require_no_secret(document: LoadedDocument) -> None:
    """Raises ``DocumentSkipped`` for a document that holds a secret, saying which kind and where, never the secret.

    What is known of it counts as well as its text: both are stored and shown.
    """
    secret = find_secret(document.text)
    place = "" if secret is None else _place(document, secret.start)
    if secret is None:
        secret, place = find_secret(_about(document)), "in its title or its metadata"
    if secret is not None:
        found = f"it holds what looks like {secret.kind}, {place}"
        raise DocumentSkipped(SkipReason.SECRET, f"{found}; to index it, name the file in docs or set allow_secrets")


def _about(document: LoadedDocument) -> str:
    values = [value if isinstance(value, list) else [value] for value in document.metadata.values()]
    return "\n".join([document.title, *(one for value in values for one in value if isinstance(one, str))])


def _place(document: LoadedDocument, start: int) -> str:
    if document.page_starts:
        return f"page {bisect.bisect_right(document.page_starts, start)}"
    line = document.text.count("\n", 0, start) + 1
    if document.source_lines is None:
        return f"line {line}"
    return f"line {document.source_lines[line - 1]}" if line <= len(document.source_lines) else f"line {line} of its text"


def _firsts(text: str, long_words: str) -> Iterator[tuple[int, str]]:
    """The first secret of each kind: where it is, and its kind."""
    for shape in TOKEN_SHAPES:
        place = shape.first(text, long_words)
        if place is not None:
            yield place, shape.kind
    key = next(private_keys(text), None)
    if key is not None:
        yield key
    if "eyJ" in long_words:
        token = next((match.start() for match in _JWT.finditer(text) if _is_token(match)), None)
        if token is not None:
            yield token, "an access token (JWT)"
    if "://" in long_words and "@" in long_words:
        password = next(_addresses(text), None)
        if password is not None:
            yield password, "a password in an address"
    if any(field in long_words for field in _PASSWORD_FIELDS):
        password = next(_connection_strings(text), None)
        if password is not None:
            yield password, "a password in a connection string"


def _is_token(match: re.Match[str]) -> bool:
    """Whether a JWT may still open something: it names who made it or when it ends, and is no example or key for everybody."""
    header, claims = _json_of(match[1]), _json_of(match[2])
    if header is None or claims is None or "alg" not in header or is_made_up(match[3]):
        return False
    if claims.get("sub") == "1234567890" or claims.get("role") == "anon" or "example" in json.dumps(claims).lower():
        return False
    expires = claims.get("exp")
    if isinstance(expires, int | float):
        return expires > _LONG_EXPIRED
    return "iss" in claims


def _json_of(part: str) -> dict[str, object] | None:
    try:
        found = json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))
    except (binascii.Error, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _addresses(text: str) -> Iterator[int]:
    """Where addresses with a user's password in them begin."""
    place = text.find("://")
    while place >= 0:
        match = _CREDENTIALS.match(text, place)
        if match is not None:
            before = max(0, place - _LONGEST_SCHEME)
            scheme = _SCHEME.search(text[before:place])
            if scheme is not None and scheme[1].lower() in _SCHEMES and _opens(match[3], unquote(match[2]), match[1]):
                yield before + scheme.start(1)
        place = text.find("://", place + 3)


def _connection_strings(text: str) -> Iterator[int]:
    """Where passwords stand among fields: ``Server=db.acme.com;User Id=app;Password=...``."""
    for field in _PASSWORD_FIELDS:
        place = text.find(field)
        while place >= 0:
            value = _FIELD_VALUE.match(text, place + len(field))
            if value is not None and not is_made_up_password(value[1], ""):
                line_start = max(place - _FIELDS_BEFORE, text.rfind("\n", max(0, place - _FIELDS_BEFORE), place) + 1)
                fields = text[max(0, line_start) : place]
                server, user = _SERVER_FIELD.search(fields), _USER_FIELD.search(fields)
                if server is not None and ";" in fields and _opens(server[1], value[1], user[1] if user else ""):
                    yield place
            place = text.find(field, place + len(field))


def _opens(host: str, password: str, user: str) -> bool:
    """Whether a password may open something that others can reach, too."""
    if _NO_HOST.match(host) or is_made_up_password(password, user):
        return False
    return "." in host or ":" in host or _is_strong(password)


def _is_strong(password: str) -> bool:
    kinds = sum(any(test(character) for character in password) for test in (str.islower, str.isupper, str.isdigit))
    return len(password) >= _LEAST_PASSWORD_OF_ONE_WORD_HOST and kinds == 3
