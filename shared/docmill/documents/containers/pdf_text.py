"""From lines as they stand on PDF pages to paragraphs: words parted at line ends, spaces between paragraphs, repeated page heads; pure."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median
from typing import Final

from docmill.documents.containers.pdf_layout import Line
from docmill.documents.containers.pdf_words import HYPHEN_MARKS, Style

#: What is wider than the usual space between two lines by this part of their height parts paragraphs.
_PARAGRAPH_GAP: Final = 0.35
_SIZE_CHANGE: Final = 0.12
_PARTED: Final = re.compile(rf"(\w)[-\u2010{HYPHEN_MARKS}]$")
_CONTINUATION: Final = re.compile(r"[a-z\u00df-\u024f\u0430-\u045f\u03ac-\u03ce]\S*")
#: What leads the eye from a title to its page, or waits to be filled in.
_LEADERS: Final = re.compile(r"[ \t]*[._\u00b7\u2026](?:[ \t]*[._\u00b7\u2026]){5,}[ \t]*")
_LIGATURES: Final = re.compile("[\ufb00-\ufb06]")
_NUMBER: Final = re.compile(r"\b(\d+|[ivxlc]+)\b")
_HEAD_LINES: Final = 2
_REPEATED: Final = 3
_LINES_OF_A_FULL_PAGE: Final = 6


@dataclass(frozen=True, slots=True)
class SetLine:
    """A line with how it is set.

    Attributes:
        begins_paragraph: it stands apart from the line before it.
    """

    text: str
    size: float
    bold: bool
    bottom: float
    top: float
    begins_paragraph: bool


def set_lines(lines: Sequence[Line], styles: Sequence[Style]) -> list[SetLine]:
    """The lines of a page, with words put together that were parted at line ends."""
    gaps = [upper.bottom - lower.top for upper, lower in pairwise(lines) if upper.block == lower.block]
    usual = median(gaps) if gaps else 0.0
    result = []
    for place, (line, style) in enumerate(zip(lines, styles, strict=True)):
        begins = place == 0 or _begins_paragraph(lines[place - 1], styles[place - 1], line, style, usual)
        text = _LEADERS.sub(" … ", _LIGATURES.sub(_letters, line.text)).strip()
        result.append(SetLine(text, style.size, style.bold, line.bottom, line.top, begins))
    return _without_parted_words(result)


def without_page_heads(pages: Sequence[Sequence[SetLine]]) -> list[list[SetLine]]:
    """The pages without the lines that stand at the head or the foot of many of them, numbers aside; the first of each kind stays."""
    heads = [{place: _form(page[place].text) for place in _outer(page)} for page in pages]
    counts = Counter(form for head in heads for form in set(head.values()))
    seen: set[str] = set()
    kept = []
    for page, head in zip(pages, heads, strict=True):
        left_out = set()
        for place, form in head.items():
            if counts[form] >= _REPEATED and (form in seen or form == "#"):
                left_out.add(place)
            seen.add(form)
        kept.append([line for place, line in enumerate(page) if place not in left_out])
    return kept


def paragraphs_of(lines: Iterable[SetLine]) -> list[list[SetLine]]:
    """The lines by paragraph."""
    paragraphs: list[list[SetLine]] = []
    for line in lines:
        if line.begins_paragraph or not paragraphs:
            paragraphs.append([])
        paragraphs[-1].append(line)
    return paragraphs


def _begins_paragraph(before: Line, before_style: Style, line: Line, style: Style, usual_gap: float) -> bool:
    if abs(before_style.size - style.size) > _SIZE_CHANGE * max(before_style.size, style.size):
        return True
    if before_style.bold != style.bold and before.right < line.right:  # what is set bold ends before its line is full
        return True
    if before.block != line.block:  # the text of a column goes on in the next one
        return before.text.rstrip().endswith((".", "!", "?", ":", "。"))
    return before.bottom - line.top > usual_gap + _PARAGRAPH_GAP * min(before.height, line.height)


def _without_parted_words(lines: list[SetLine]) -> list[SetLine]:
    result: list[SetLine] = []
    for line in lines:
        before = result[-1] if result else None
        text = line.text
        if before is not None and not line.begins_paragraph and _PARTED.search(before.text):
            rest = _CONTINUATION.match(text)
            if rest is not None:
                result[-1] = replace(before, text=_PARTED.sub(r"\1", before.text) + rest[0])
                text = text[rest.end() :].lstrip()
                if not text:
                    continue
        result.append(replace(line, text=text) if text != line.text else line)
    return [replace(line, text=_with_hyphens(line.text)) for line in result]


def _with_hyphens(text: str) -> str:
    return text.replace("\xad", "").replace("\x02", "-").replace("\ufffe", "-")


def _letters(ligature: "re.Match[str]") -> str:
    return unicodedata.normalize("NFKC", ligature[0])


def _outer(page: Sequence[SetLine]) -> list[int]:
    """Which lines of a page stand highest and lowest."""
    if len(page) < _LINES_OF_A_FULL_PAGE:
        return []
    by_height = sorted(range(len(page)), key=lambda place: -page[place].top)
    return [*by_height[:_HEAD_LINES], *by_height[-_HEAD_LINES:]]


def _form(text: str) -> str:
    """What is equal in the heads of several pages."""
    return _NUMBER.sub("#", " ".join(text.lower().split())).strip("-–— .|")
