"""Sections of a document: what stands between one heading and the next, with the headings above it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from docmill.domain.documents import Heading


@dataclass(frozen=True, slots=True)
class Section:
    """A stretch of a document under one path of headings.

    Attributes:
        headings: outermost first.
        start: where it begins in the document's text: at its heading.
        end: where it ends.
    """

    headings: tuple[str, ...]
    start: int
    end: int


def sections_of(text: str, start: int, headings: Sequence[Heading]) -> list[Section]:
    """The sections of ``text`` from ``start`` on, in order and without gaps.

    A heading that has nothing below it but a deeper heading is in one section with that.
    """
    sections = []
    path: list[Heading] = []
    end = headings[0].start if headings else len(text)
    if end > start:
        sections.append(Section((), start, end))
    begin = end
    for index, heading in enumerate(headings):
        following = headings[index + 1] if index + 1 < len(headings) else None
        end = len(text) if following is None else following.start
        while path and path[-1].level >= heading.level:
            path.pop()
        path.append(heading)
        if following is not None and following.level > heading.level and not text[heading.end : end].strip():
            continue
        sections.append(Section(tuple(above.text for above in path if above.text), begin, end))
        begin = end
    return sections


def parted_by_pages(sections: Sequence[Section], page_starts: Sequence[int]) -> Iterator[Section]:
    """The sections, each of which ends where a page begins: what is found is then on the page that is named."""
    place = 0
    for section in sections:
        begin = section.start
        while place < len(page_starts) and page_starts[place] <= begin:
            place += 1
        while place < len(page_starts) and page_starts[place] < section.end:
            if page_starts[place] > begin:
                yield replace(section, start=begin, end=page_starts[place])
                begin = page_starts[place]
            place += 1
        yield replace(section, start=begin)
