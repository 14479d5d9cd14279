"""Texts of containers in the form that documents have; pure."""

import re
from collections.abc import Iterable
from typing import Final

_LINE_BREAKS: Final = "\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
#: Line breaks of all kinds, and what no text has: control characters, and code points that are no characters.
_CLEANING: Final = (
    dict.fromkeys([code for code in range(32) if chr(code) not in "\t\n"] + [0x7F, 0xFFFE, 0xFFFF, *range(0xD800, 0xE000)])
    | dict.fromkeys(map(ord, _LINE_BREAKS), "\n")
)  # fmt: skip
_UNCLEAN: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f\x85\u2028\u2029\ud800-\udfff\ufffe\uffff]")


def cleaned(text: str) -> str:
    """The text with line breaks as ``\\n``, without control characters and without spaces at line ends."""
    if _UNCLEAN.search(text):
        text = text.replace("\r\n", "\n").translate(_CLEANING)
    return "\n".join(line.rstrip() for line in text.split("\n")).rstrip()


def on_one_line(text: str) -> str:
    """The words of a text with one space between two."""
    return " ".join(cleaned(text).split())


def table_line(cells: Iterable[str]) -> str:
    """A row of a table as a line; "" for one without text."""
    return " | ".join(map(on_one_line, cells)).rstrip(" |")
