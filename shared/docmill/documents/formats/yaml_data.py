"""YAML: the text as it is; large keys and the documents of a stream are sections, entries are kept whole.

It is read by its indentation, so that templates, tabs and other mistakes cost nothing but an entry.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from docmill.documents.extracted import Extracted
from docmill.documents.formats.escapes import with_letters
from docmill.documents.formats.key_outline import Entry, key_outline
from docmill.documents.formats.line_outline import indent_of
from docmill.documents.formats.shortening import shortened

_KEY: Final = re.compile(
    r"""[ \t]*(?:"((?:[^"\\]|\\.){1,200})"|'([^']{1,200})'"""
    r"""|([^\s#&*!|>'"%@`{}\[\],:-][^#\n"'{}\[\]]{0,200}?|-[^\s:]{1,200})):(?=[ \t]|\Z)"""
)
_ITEM: Final = re.compile(r"[ \t]*-(?:[ \t]+|\Z)")
_BLOCK_SCALAR: Final = re.compile(r".*(?::|-)[ \t]+(?:[&!]\S+[ \t]+)*[|>][-+0-9]{0,2}[ \t]*(?:#.*)?\Z")
_SCALAR: Final = re.compile(r"[ \t]*(?:-[ \t]+)?([\w.-]+):[ \t]+[\"']?([^\"'#\n{}\[\]]{1,100})")
_NAMES: Final = ("kind", "name", "title", "id")
_NAMED_WITHIN_LINES: Final = 60
_ITEM_NAMED_WITHIN_LINES: Final = 6
_LONGEST_KEY_LINE: Final = 500


def read_yaml(text: str) -> Extracted:
    """The text, comments included."""
    text = shortened(with_letters(text))
    lines = text.split("\n")
    separators = [number for number, line in enumerate(lines) if line[:3] == "---" and not line[3:].strip("- \t")]
    spans = list(zip([0, *(number + 1 for number in separators)], [*separators, len(lines)], strict=True))
    documents = [(first, after) for first, after in spans if any(line.strip() for line in lines[first:after])]
    several = len(documents) > 1
    entries: list[Entry] = []
    blocks: list[tuple[int, int]] = []
    for first, after in documents:
        if several:
            entries.append(Entry(_name_of(lines[first:after], within=_NAMED_WITHIN_LINES), first, after, 0, apart=True))
        for key, begin, end, depth in _indented(lines, first, after):
            blocks.append((begin, end))
            if key is None:
                key = _name_of(lines[begin:end], within=_ITEM_NAMED_WITHIN_LINES) if end - begin > 2 else ""
            entries.append(Entry(key, begin, end, depth + several))
    return Extracted(text, key_outline(text, lines, entries, blocks))


def _name_of(lines: Sequence[str], *, within: int) -> str:
    """What a document of a stream or an item calls itself: by its kind and its name, as manifests have them."""
    found: dict[str, str] = {}
    for line in lines[:within]:
        scalar = _SCALAR.match(line)
        if scalar is not None and scalar[1] in _NAMES:
            found.setdefault(scalar[1], scalar[2].strip())
    return " ".join(found[name] for name in _NAMES if name in found)


def _indented(lines: Sequence[str], first: int, after: int) -> Iterator[tuple[str | None, int, int, int]]:
    """Each key, or item without one, with its lines and its depth, an outer one before those in it."""
    found: list[tuple[str | None, int, int, int]] = []
    is_open: list[tuple[int, int]] = []  # the indentation of each, and its place in ``found``
    comment: int | None = None
    scalar: int | None = None
    end = first
    for number in range(first, after):
        line = lines[number]
        content = line.lstrip(" \t")
        if not content:
            comment = None
            continue
        indent = indent_of(line)
        if scalar is not None and indent > scalar:
            end = number + 1
            continue
        scalar = indent if len(line) <= _LONGEST_KEY_LINE and _BLOCK_SCALAR.match(line) else None
        if content[0] == "#":
            comment = number if comment is None else comment
            continue
        item = _ITEM.match(line)
        key = _KEY.match(line, item.end() if item is not None else 0)
        begin = number if comment is None else comment
        comment = None
        if key is not None or item is not None:
            # An item of a list stands as deep as the key of the list, or deeper.
            while is_open and (is_open[-1][0] > indent or (is_open[-1][0] == indent and (item is None or _is_item(found[is_open[-1][1]])))):
                _, place = is_open.pop()
                found[place] = (*found[place][:2], end, found[place][3])
            name = None if item is not None or key is None else key[1] or key[2] or key[3]
            depth = len(is_open)
            is_open.append((indent, len(found)))
            found.append((name, begin, after, depth))
        end = number + 1
    for _, place in is_open:
        found[place] = (*found[place][:2], end, found[place][3])
    yield from found


def _is_item(entry: tuple[str | None, int, int, int]) -> bool:
    return entry[0] is None
