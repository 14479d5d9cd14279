"""Tokens of RTF: groups, control words and symbols, and texts, as bytes that are not decoded yet."""

import re
from collections.abc import Iterator
from enum import Enum, auto
from typing import Final, NamedTuple

_TOKEN: Final = re.compile(rb"\\([a-zA-Z]{1,32})(-?[0-9]{1,10})? ?|\\'([0-9a-fA-F]{2})|\\(.)|([{}])|([^\\{}\r\n]+)|[\r\n]+|.", re.DOTALL)


class Kind(Enum):
    """What a token is."""

    BEGIN = auto()
    END = auto()
    WORD = auto()
    SYMBOL = auto()
    BYTES = auto()
    """Text as it is."""
    BYTE = auto()
    """A character by its number."""


class Token(NamedTuple):
    """A piece of RTF.

    Attributes:
        name: of a control word or symbol.
        number: of a control word, None where it has none.
        content: of a text.
        start: where it begins.
    """

    kind: Kind
    start: int
    name: str = ""
    number: int | None = None
    content: bytes = b""


def tokens(source: bytes) -> Iterator[Token]:
    """The tokens in order; binary data is left out."""
    place = 0
    while (match := _TOKEN.match(source, place)) is not None:
        place = match.end()
        if match[6] is not None:
            yield Token(Kind.BYTES, match.start(), content=match[6])
        elif match[1] is not None:
            number = None if match[2] is None else int(match[2])
            name = match[1].decode("ascii").lower()
            if name == "bin":
                place += max(0, number or 0)
            else:
                yield Token(Kind.WORD, match.start(), name, number)
        elif match[3] is not None:
            yield Token(Kind.BYTE, match.start(), content=bytes([int(match[3], 16)]))
        elif match[4] is not None:
            yield Token(Kind.SYMBOL, match.start(), match[4].decode("latin-1"))
        elif match[5] is not None:
            yield Token(Kind.BEGIN if match[5] == b"{" else Kind.END, match.start())
