"""Puts the text of a document together piece by piece, and notes its headings, its blocks and its pages on the way."""

from collections.abc import Iterable, Sequence
from typing import Final

from docmill.documents.containers.cleaning import cleaned, on_one_line
from docmill.documents.containers.properties import Properties
from docmill.documents.extracted import Extracted
from docmill.domain.documents import Heading, Outline, WholeBlock
from docmill.domain.errors import DocumentSkipped, SkipReason

#: As much text as a text file may have by default.
MOST_CHARACTERS: Final = 20 * 1024 * 1024
_HEADING_CHARACTERS: Final = 200


class TextBuilder:
    """A text that grows; pieces stand apart by an empty line."""

    def __init__(self, most_characters: int = MOST_CHARACTERS) -> None:
        """``most_characters``: a longer text is refused with ``DocumentSkipped``."""
        self._most_characters = most_characters
        self._parts: list[str] = []
        self._length = 0
        self._is_apart = True
        self._headings: list[Heading] = []
        self._blocks: list[WholeBlock] = []
        self._page_starts: list[int] = []

    @property
    def length(self) -> int:
        """How many characters there are."""
        return self._length

    def page(self) -> None:
        """A page begins."""
        self._stand_apart()
        self._page_starts.append(self._length)

    def heading(self, level: int, text: str) -> None:
        """Adds a heading; one without text is left out."""
        line = on_one_line(text)
        if line:
            start = self._add(line)
            self._headings.append(Heading(level, line[:_HEADING_CHARACTERS], start, self._length))

    def paragraph(self, text: str) -> None:
        """Adds a piece of text; one without text is left out."""
        text = cleaned(text).lstrip("\n")
        if text.strip():
            self._add(text)

    def block(self, lines: Sequence[str], header_lines: int = 0) -> None:
        """Adds a table or a list, the first lines of a table being its header; lines without text are left out."""
        header, rest = _with_text(lines[:header_lines]), _with_text(lines[header_lines:])
        if not header and not rest:
            return
        start = self._add("\n".join((*header, *rest)))
        header_end = start + sum(len(line) + 1 for line in header) if header and rest else None
        self._blocks.append(WholeBlock(start, self._length, header_end))

    def extracted(self, part: Extracted) -> None:
        """Adds what a reader made of a part of the document, with its headings and blocks."""
        text = part.text[part.body_start :]
        stripped = text.lstrip("\n")
        shift = -part.body_start - (len(text) - len(stripped))
        stripped = stripped.rstrip()
        if not stripped:
            return
        shift += self._add(stripped)

        def moved(place: int) -> int:
            return min(place + shift, self._length)

        self._headings += [
            Heading(one.level, one.text, moved(one.start), moved(one.end)) for one in part.outline.headings if one.start >= part.body_start
        ]
        self._blocks += [
            WholeBlock(moved(one.start), moved(one.end), None if one.header_end is None else moved(one.header_end))
            for one in part.outline.blocks
            if one.start >= part.body_start
        ]

    def built(self, known: Properties, *, title: str | None = None) -> Extracted:
        """The whole, titled as the document says, else by ``title``, which is the first heading when it is None."""
        return Extracted(
            text="".join(self._parts),
            outline=Outline(tuple(self._headings), tuple(self._blocks)),
            title=known.title or (next((heading.text for heading in self._headings), "") if title is None else title),
            language=known.language,
            metadata=known.metadata,
            page_starts=tuple(self._page_starts),
        )

    def _stand_apart(self) -> None:
        if not self._is_apart:
            self._parts.append("\n")
            self._length += 1
            self._is_apart = True

    def _add(self, text: str) -> int:
        """Adds lines; returns where they begin."""
        self._stand_apart()
        start = self._length
        self._parts += (text, "\n")
        self._length += len(text) + 1
        self._is_apart = False
        if self._length > self._most_characters:
            raise DocumentSkipped(SkipReason.TOO_LARGE, f"its text has more than {self._most_characters:,} characters")
        return start


def _with_text(lines: Iterable[str]) -> list[str]:
    return [line for line in (cleaned(one).replace("\n", " ") for one in lines) if line.strip()]
