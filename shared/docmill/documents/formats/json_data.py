"""JSON, with or without comments, and a value per line: the text as it is; large members are sections, objects are kept whole.

It is read by its lines and brackets, so that mistakes and depth cost nothing: text on a single line has no outline.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from docmill.documents.extracted import Extracted
from docmill.documents.formats.escapes import with_letters
from docmill.documents.formats.key_outline import Entry, key_outline
from docmill.documents.formats.shortening import shortened
from docmill.domain.documents import Outline, WholeBlock

_MEMBER: Final = re.compile(r"""[ \t]*(?:"((?:[^"\\]|\\.){0,300})"|'([^'\\]{0,300})'|([A-Za-z_$][\w$]{0,100}))[ \t]*:[ \t]*""")
_NAME: Final = re.compile(r"""[ \t{]*"(?:name|title|id|key|path|label)"[ \t]*:[ \t]*"([^"\\]{1,200})\"""")
_NAMED_WITHIN_LINES: Final = 8
#: Shorter lines are hardly ever parted, longer ones are in no chunk as a whole.
_SHORT_LINE: Final = 300
_LONG_LINE: Final = 8000
_MOST_LINES: Final = 50_000
_TOKEN: Final = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[\]{}]|//.*|/\*.*?\*/')


def read_json(text: str) -> Extracted:
    """The text."""
    text = shortened(with_letters(text))
    lines = text.split("\n")
    return Extracted(text, _outline(text, lines) if len(lines) > 2 else Outline())


def read_json_lines(text: str) -> Extracted:
    """The text; a value, which takes a line, is kept whole."""
    text = shortened(with_letters(text))
    blocks: list[WholeBlock] = []
    start = 0
    while start < len(text) and len(blocks) < _MOST_LINES:
        end = text.find("\n", start) + 1 or len(text)
        if _SHORT_LINE < end - start <= _LONG_LINE:
            blocks.append(WholeBlock(start, end))
        start = end
    return Extracted(text, Outline((), blocks))


def _outline(text: str, lines: Sequence[str]) -> Outline:
    entries, blocks = [], []
    for key, first, after, depth in _nested(lines):
        blocks.append((first, after))
        entries.append(Entry(_name_of(lines, first, after) if key is None else key, first, after, depth))
    return key_outline(text, lines, entries, blocks)


def _name_of(lines: Sequence[str], first: int, after: int) -> str:
    """What an object in an array calls itself."""
    for line in lines[first : min(after, first + _NAMED_WITHIN_LINES)]:
        name = _NAME.match(line)
        if name is not None:
            return name[1]
    return ""


def _nested(lines: Sequence[str]) -> Iterator[tuple[str | None, int, int, int]]:
    """Each member, and each value in an array that takes several lines, with its lines and how many others it is in."""
    found: list[tuple[str | None, int, int, int]] = []
    brackets: list[tuple[int | None, int]] = []  # of each open bracket, the place in ``found`` and the depth around it
    depth = 0
    for number, line in enumerate(lines):
        content = line.lstrip(" \t")
        closers = len(content) - len(content.lstrip("}], \t"))
        opened = closed = 0
        for token in _TOKEN.finditer(content, closers):
            if token[0] in ("{", "["):
                opened += 1
            elif token[0] in ("}", "]"):
                if opened:
                    opened -= 1
                else:
                    closed += 1
        closed += content.count("}", 0, closers) + content.count("]", 0, closers)
        for _ in range(min(closed, len(brackets))):
            place, depth = brackets.pop()
            if place is not None:
                found[place] = (found[place][0], found[place][1], max(number, found[place][1]) + 1, found[place][3])
        member = None if closers else _MEMBER.match(content)
        if member is None and not (opened and brackets):
            brackets += [(None, depth)] * opened
            continue
        # On a line that also ends something, what begins is said to begin on the next one.
        first = min(number + (closers > 0), len(lines) - 1)
        found.append((member and (member[1] or member[2] or member[3] or ""), first, len(lines) if opened else first + 1, depth))
        if opened:
            brackets += [(len(found) - 1, depth)] + [(None, depth + 1)] * (opened - 1)
            depth += 1
    yield from found
