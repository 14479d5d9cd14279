"""TOML, INI and other settings in tables: the text as it is; large tables, or small ones of one name, are sections."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from docmill.documents.extracted import Extracted
from docmill.documents.formats.escapes import with_letters
from docmill.documents.formats.key_outline import Entry, key_outline
from docmill.documents.formats.shortening import shortened

_TABLE: Final = re.compile(r"[ \t]*(\[{1,2})[ \t]*([^\[\]\n]{1,200}?)[ \t]*\]{1,2}[ \t]*(?:[#;].*)?\Z")
_PART: Final = re.compile(r"""[ \t]*(?:"([^"]*)"|'([^']*)'|([^.\s"']+))[ \t]*""")
_KEY: Final = re.compile(r"[ \t]*[^\s=\[#;][^=]{0,200}=")
_MULTILINE: Final = re.compile(r"\"\"\"|'''")


def read_toml(text: str) -> Extracted:
    """The text, comments included."""
    text = shortened(with_letters(text))
    lines = text.split("\n")
    tables = list(_tables(lines))
    entries = list(_entries(tables, len(lines)))
    blocks = [(first, after) for _, first, after in tables]
    return Extracted(text, key_outline(text, lines, entries, blocks))


def _tables(lines: Sequence[str]) -> Iterator[tuple[tuple[str, ...], int, int]]:
    """Each table: the parts of its name, its first line, comments above it included, and the line after it."""
    name: tuple[str, ...] | None = None
    first = 0
    comment: int | None = None
    string = ""
    for number, line in enumerate(lines):
        content = line.strip()
        if string:
            string = _left_open(line, string)
            continue
        if content[:1] in ("#", ";"):
            comment = number if comment is None else comment
            continue
        table = _TABLE.match(line) if content[:1] == "[" else None
        if table is not None:
            begin = number if comment is None else comment
            if name is not None:
                yield name, first, begin
            name, first = _parts(table[2]), begin
        elif '"""' in line or "'''" in line:
            string = _left_open(line, "")
        comment = None
    if name is not None:
        yield name, first, len(lines)


def _left_open(line: str, string: str) -> str:
    """The quotes of the string of several lines that is open after ``line``, "" where none is."""
    for quotes in _MULTILINE.findall(line):
        if not string:
            string = quotes
        elif quotes == string:
            string = ""
    return string


def _parts(name: str) -> tuple[str, ...]:
    parts = [match[1] or match[2] or match[3] or "" for match in _PART.finditer(name)]
    return tuple(parts) if len(parts) <= 8 else (name,)


def _entries(tables: Sequence[tuple[tuple[str, ...], int, int]], end: int) -> Iterator[Entry]:
    """The tables as they stand in each other: ``a.b`` and ``a.c`` in ``a``, when they follow each other."""
    entries: list[Entry] = []
    path: list[tuple[str, int]] = []
    for parts, first, _ in tables:
        common = 0
        while common < len(path) and common < len(parts) - 1 and path[common][0] == parts[common]:
            common += 1
        for _, place in path[common:]:
            entries[place] = entries[place]._replace(after=first)
        del path[common:]
        for depth in range(common, len(parts)):
            path.append((parts[depth], len(entries)))
            entries.append(Entry(parts[depth], first, end, depth))
    return iter(entries)
