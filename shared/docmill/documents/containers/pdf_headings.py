"""Which lines of a PDF are headings: those that its bookmarks name, and where it has none, those that are set larger; pure."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from docmill.documents.containers.pdf_text import SetLine

#: Of the size of the running text.
_LARGER: Final = 1.12
_MOST_CHARACTERS: Final = 160
_MOST_LINES: Final = 4
_MOST_LEVELS: Final = 4
#: A document much of whose text is set large has no headings that could be known by that.
_MOST_OF_TEXT: Final = 0.4
_MOST_OF_BOLD_TEXT: Final = 0.15
_NOT_SMALLER: Final = 0.95
_NO_LETTERS: Final = re.compile(r"[\W_]+")
_LETTER: Final = re.compile(r"[^\W\d_]")


@dataclass(frozen=True, slots=True)
class Bookmark:
    """An entry of the outline: its level from 1, and the page from 0 to which it leads."""

    level: int
    title: str
    page: int


#: By page and paragraph, each from 0: the level of the heading, and how many of the paragraph's lines it has.
Found = Mapping[tuple[int, int], tuple[int, int]]
Paragraphs = Sequence[Sequence[Sequence[SetLine]]]


def headings_by_bookmarks(pages: Paragraphs, bookmarks: Sequence[Bookmark]) -> Found:
    """The paragraphs that begin with the title of a bookmark of their page, in the order of the bookmarks."""
    found: dict[tuple[int, int], tuple[int, int]] = {}
    page, begin = -1, 0
    for bookmark in bookmarks:
        wanted = _letters(bookmark.title)
        if not wanted or not 0 <= bookmark.page < len(pages):
            continue
        if bookmark.page != page:
            page, begin = bookmark.page, 0
        for place in range(begin, len(pages[page])):
            lines = _lines_that_say(wanted, pages[page][place])
            if lines:
                found[page, place] = (bookmark.level, lines)
                begin = place + 1
                break
    return found


def headings_by_size(pages: Paragraphs) -> Found:
    """Short paragraphs that are set larger than most of the text, the largest with level 1; below them bold lines that stand alone."""
    usual = _usual_size(pages)
    larger = _places(pages, lambda paragraph: _is_set_as_heading(paragraph, usual * _LARGER))
    bold = _places(pages, lambda paragraph: _is_set_bold(paragraph, usual)) - larger
    characters = sum(len(line.text) for page in pages for paragraph in page for line in paragraph)
    if _characters_of(pages, larger) > _MOST_OF_TEXT * characters:
        return {}
    if _characters_of(pages, bold) > _MOST_OF_BOLD_TEXT * characters:
        bold = set()
    sizes = sorted({_rounded(pages[number][place][0].size) for number, place in larger}, reverse=True)
    ranks = {size: min(rank, _MOST_LEVELS) for rank, size in enumerate(sizes, 1)}
    below = min(len(sizes) + 1, _MOST_LEVELS + 1)
    return {
        (number, place): (below if (number, place) in bold else ranks[_rounded(pages[number][place][0].size)], len(pages[number][place]))
        for number, place in larger | bold
    }


def _places(pages: Paragraphs, is_one: Callable[[Sequence[SetLine]], bool]) -> set[tuple[int, int]]:
    return {(number, place) for number, page in enumerate(pages) for place, paragraph in enumerate(page) if is_one(paragraph)}


def _characters_of(pages: Paragraphs, places: Iterable[tuple[int, int]]) -> int:
    return sum(len(line.text) for number, place in places for line in pages[number][place])


def title_by_size(pages: Paragraphs) -> str:
    """What is set largest on the first page that has text, where that is larger than most of the text; "" otherwise."""
    usual = _usual_size(pages)
    first = next((page for page in pages if page), ())
    candidates = [paragraph for paragraph in first if _is_set_as_heading(paragraph, usual * _LARGER)]
    if not candidates:
        return ""
    return " ".join(line.text for line in max(candidates, key=lambda paragraph: paragraph[0].size))


def _usual_size(pages: Paragraphs) -> float:
    sizes: Counter[float] = Counter()
    for page in pages:
        for paragraph in page:
            for line in paragraph:
                sizes[_rounded(line.size)] += len(line.text)
    return sizes.most_common(1)[0][0] if sizes else 0.0


def _rounded(size: float) -> float:
    return round(size * 2) / 2


def _is_set_bold(paragraph: Sequence[SetLine], usual: float) -> bool:
    """Whether one bold line stands alone that is not set smaller than the running text."""
    return (
        len(paragraph) == 1 and paragraph[0].bold and _is_set_as_heading(paragraph, usual * _NOT_SMALLER) and paragraph[0].text[-1] != ":"
    )


def _is_set_as_heading(paragraph: Sequence[SetLine], more_than: float) -> bool:
    text = " ".join(line.text for line in paragraph)
    return (
        len(paragraph) <= _MOST_LINES
        and all(line.size > more_than for line in paragraph)
        and 1 < len(text) <= _MOST_CHARACTERS
        and not text.endswith((".", ",", ";"))
        and _LETTER.search(text) is not None
    )


def _lines_that_say(wanted: str, paragraph: Sequence[SetLine]) -> int:
    """How many of its first lines say nothing but ``wanted``; 0 when they say something else. Numbers before it make no difference."""
    said = ""
    for count, line in enumerate(paragraph[:_MOST_LINES], 1):
        said += _letters(line.text)
        if (
            said == wanted
            or (said.endswith(wanted) and said[: -len(wanted)].isdigit())
            or (wanted.endswith(said) and wanted[: -len(said)].isdigit() and said)
        ):
            return count
        if len(said) > len(wanted) + 8:
            return 0
    return 0


def _letters(text: str) -> str:
    return _NO_LETTERS.sub("", text).casefold()
