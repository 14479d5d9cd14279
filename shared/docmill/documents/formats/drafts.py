"""Drafts: texts that are written line by line while a file is read, each line with the file's line that it comes from."""

from collections.abc import Iterable, Mapping, Sequence

from docmill.documents.extracted import Extracted
from docmill.documents.formats.line_outline import LineOutline
from docmill.documents.markdown import outline_of
from docmill.domain.documents import MetadataValue, Outline


class Draft:
    """A text in the making. Lines have no line breaks; parts of the text are separated by one empty line."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._sources: list[int] = []
        self._headings: list[tuple[int, str, int, int]] = []
        self._blocks: list[tuple[int, int, int | None]] = []

    @property
    def length(self) -> int:
        """How many lines it has."""
        return len(self._lines)

    @property
    def first_heading(self) -> str:
        """The text of the first heading, "" where there is none yet."""
        return self._headings[0][1] if self._headings else ""

    def add(self, line: str, source: int) -> None:
        """One more line, from line ``source`` of the file; what was moved behind later lines counts as theirs."""
        self._lines.append(line)
        self._sources.append(max(source, self._sources[-1] if self._sources else 1))

    def separate(self) -> None:
        """An empty line, if there is none yet and it would not be the first."""
        if self._lines and self._lines[-1]:
            self.add("", self._sources[-1])

    def add_heading(self, level: int, text: str, source: int) -> None:
        """A heading as Markdown writes it; nothing when it is blank."""
        if text.strip():
            self.separate()
            self._headings.append((level, text, len(self._lines), len(self._lines) + 1))
            self.add(f"{'#' * level} {text}", source)
            self.separate()

    def note_block(self, first: int, header_after: int | None = None) -> None:
        """The lines from number ``first`` (from 0) on belong together; those before ``header_after`` head a table."""
        self._blocks.append((first, len(self._lines), header_after))

    def add_code(self, lines: Iterable[tuple[int, str]], info: str = "") -> None:
        """Fenced code: its lines with their sources; nothing when there is none."""
        listed = list(lines)
        if not listed:
            return
        self.separate()
        first = len(self._lines)
        longest = max((_backquotes(line) for _, line in listed), default=0)
        fence = "`" * max(3, longest + 1)
        self.add(fence + info, listed[0][0])
        for source, line in listed:
            self.add(line, source)
        self.add(fence, listed[-1][0])
        self.note_block(first)
        self.separate()

    def add_markdown(self, lines: Sequence[tuple[int, str]]) -> None:
        """Lines of Markdown as they are, with their sources, headings and blocks."""
        self.separate()
        begin = len(self._lines)
        for source, line in lines:
            self.add(line, source)
        texts = [line for _, line in lines]
        self._add_outline(outline_of("\n".join(texts)), LineOutline(texts), begin)
        self.separate()

    def add_extracted(self, other: Extracted, sources: Sequence[int]) -> None:
        """A text that was extracted from a part of the file, with its outline; ``sources`` are those of its lines."""
        self.separate()
        begin = len(self._lines)
        lines = other.text.split("\n")
        for line, source in zip(lines, sources, strict=True):
            self.add(line, source)
        self._add_outline(other.outline, LineOutline(lines), begin)
        self.separate()

    def _add_outline(self, outline: Outline, places: LineOutline, begin: int) -> None:
        for heading in outline.headings:
            first, after = places.line_at(heading.start), places.line_at(heading.end - 1) + 1
            self._headings.append((heading.level, heading.text, begin + first, begin + after))
        for block in outline.blocks:
            first, after = places.line_at(block.start), places.line_at(block.end - 1) + 1
            header_after = None if block.header_end is None else begin + places.line_at(block.header_end - 1) + 1
            self._blocks.append((begin + first, begin + after, header_after))

    def extracted(self, title: str = "", language: str | None = None, metadata: Mapping[str, MetadataValue] | None = None) -> Extracted:
        """The text without empty lines at its end, with its outline."""
        while self._lines and not self._lines[-1]:
            self._lines.pop()
            self._sources.pop()
        count = len(self._lines)
        outline = LineOutline(self._lines)
        for level, text, first, after in self._headings:
            outline.add_heading(level, text, first, after)
        for first, after, header_after in self._blocks:
            outline.add_block(first, min(after, count), header_after)
        return Extracted("\n".join(self._lines), outline.outline(), title, language, metadata or {}, source_lines=self._sources or [1])


def _backquotes(line: str) -> int:
    """How many backquotes the line begins with."""
    content = line.lstrip()
    return len(content) - len(content.lstrip("`"))
