"""reStructuredText: sections, whose levels are told by the order in which their adornments come, literal blocks, tables and lists.

Rules: the reStructuredText Markup Specification of docutils. A text that breaks them is read as far as it can be.
"""

import re
import unicodedata
from typing import Final

from docmill.documents.extracted import Extracted
from docmill.documents.formats.line_outline import LineOutline, after_deeper, indent_of
from docmill.documents.front_matter import metadata_of

_ADORNMENT: Final = re.compile(r"([!-/:-@\[-`{-~])\1*[ \t]*\Z")
_SHORTEST_ADORNMENT: Final = 3
#: A title may be longer than so long an underline.
_SURE_ADORNMENT: Final = 4
_DIRECTIVE: Final = re.compile(r"\.\.[ \t]+(?:\|[^|]{1,100}\|[ \t]+)?([\w:.+-]{1,100}?)::(?:[ \t]+(.*))?\Z")
#: Targets, footnotes and citations: text, unlike a comment.
_TARGET: Final = re.compile(r"\.\.[ \t]+(?:_|\[)")
_DIRECTIVES: Final = (
    "code code-block sourcecode parsed-literal literalinclude math table list-table csv-table flat-table graphviz digraph mermaid uml "
    "productionlist raw highlight doctest testcode testoutput ipython prompt plot"
)
_WHOLE_DIRECTIVES: Final = frozenset(_DIRECTIVES.split())
_SIMPLE_TABLE: Final = re.compile(r"=+(?:[ \t]+=+)+[ \t]*\Z")
_GRID_TABLE: Final = re.compile(r"\+-[-+]*\+[ \t]*\Z")
_ITEM: Final = re.compile(r"[-*+•‣⁃][ \t]+\S|\(?(?:\d{1,9}|[A-Za-z]|#)[.)][ \t]+\S")
_BULLETS: Final = "-*+•‣⁃"
_FIELD: Final = re.compile(r":([^:\s](?:[^:]{0,80}[^:\s])?):(?:[ \t]+(.*))?\Z")
_COMMENT_FIELD: Final = re.compile(r"\.\.[ \t]+([a-z_-]{2,40}):(?!:)[ \t]+(.*)\Z")


def read_restructured_text(text: str) -> Extracted:
    """The text as it is; fields before the first paragraph are metadata."""
    reader = _Reader(text.split("\n"))
    reader.read()
    fields = reader.fields
    title = fields.pop("title", "") or reader.outline.first_heading()
    return Extracted(text, reader.outline.outline(), title, metadata=metadata_of(fields))


class _Reader:
    """Reads line by line.

    Attributes:
        _fresh: whether a title can begin at the line: what is before it is no paragraph that it goes on with.
        _styles: the adornments by level, each with whether it is also above the title.
        _at_top: no paragraph has been seen yet.
    """

    def __init__(self, lines: list[str]) -> None:
        self.fields: dict[str, str] = {}
        self.outline = LineOutline(lines)
        self._lines = lines
        self._fresh = True
        self._styles: list[tuple[str, bool]] = []
        self._at_top = True
        self._simple_tables = True

    def read(self) -> None:
        """Reads all lines."""
        line = 0
        while line < len(self._lines):
            text = self._lines[line]
            if not text or text.isspace():
                self._fresh = True
                line += 1
            elif text[0] in " \t":
                line = self._read_indented(line, text)
            else:
                line = self._read_flush(line, text)

    def _read_indented(self, line: int, text: str) -> int:
        if self.outline.in_list:
            self.outline.go_on_in_list(line)
        bare = text.strip()
        after = self._after_explicit(line, bare) if bare.startswith("..") else self._after_literal(line, bare)
        if after is not None and self.outline.in_list:
            self.outline.go_on_in_list(after - 1)
        self._fresh = True  # what is no longer indented is a paragraph of its own
        return line + 1 if after is None else after

    def _read_flush(self, line: int, text: str) -> int:
        """A line that is not indented; returns the next to read."""
        fresh, self._fresh = self._fresh, False
        is_item = _ITEM.match(text) is not None
        if fresh and (not is_item or text[0] not in _BULLETS) and (after := self._after_title(line, text)) is not None:
            return after
        if self.outline.in_list and not (is_item and fresh):
            if fresh:
                self.outline.close_list()
            else:
                self.outline.go_on_in_list(line)
        if text.startswith(".."):
            after = self._after_explicit(line, text.rstrip())
            self._fresh = True
            return line + 1 if after is None else after
        if text.startswith(":") and self._at_top and (field := _FIELD.match(text)):
            return self._after_field(line, field)
        for after in (self._after_grid_table(line, text), self._after_simple_table(line, text), self._after_doctest(line, text, fresh)):
            if after is not None:
                return after
        self._at_top = False
        if is_item and (fresh or self.outline.in_list):
            self.outline.open_item(line)
            self._fresh = True  # so that the next item needs no blank line before it
        after = self._after_literal(line, text.rstrip())
        if after is not None and self.outline.in_list:
            self.outline.go_on_in_list(after - 1)
        return line + 1 if after is None else after

    def _after_title(self, line: int, text: str) -> int | None:
        lines = self._lines
        following = lines[line + 1] if line + 1 < len(lines) else ""
        if (over := _ADORNMENT.match(text)) is not None:
            title = following.strip()
            under = lines[line + 2].rstrip() if line + 2 < len(lines) else ""
            if not title or under != text.rstrip() or not _is_long_enough(under, title):
                return None
            return self._add_title(title, over[1], True, line, line + 3)
        under = following.rstrip()
        match = _ADORNMENT.match(under)
        if match is None or not _is_long_enough(under, text.rstrip()):
            return None
        return self._add_title(text, match[1], False, line, line + 2)

    def _add_title(self, title: str, character: str, overlined: bool, line: int, after: int) -> int:
        style = character, overlined
        if style not in self._styles:
            self._styles.append(style)
        self.outline.close_list()
        self.outline.add_heading(self._styles.index(style) + 1, title, line, after)
        self._fresh = True
        return after

    def _after_explicit(self, line: int, bare: str) -> int | None:
        """A directive that is kept whole, or a comment; None for others, whose content is text."""
        indent = indent_of(self._lines[line])
        directive = _DIRECTIVE.match(bare)
        if directive is None:
            if self._at_top and (field := _COMMENT_FIELD.match(bare)):
                self.fields.setdefault(field[1], field[2].strip())
            return None if _TARGET.match(bare) else after_deeper(self._lines, line + 1, indent)
        name = directive[1].rpartition(":")[2]
        if name == "title" and directive[2]:
            self.fields.setdefault("title", directive[2].strip())
        if name not in _WHOLE_DIRECTIVES:
            return None
        after = after_deeper(self._lines, line + 1, indent)
        self.outline.add_block(line, after)
        return after

    def _after_literal(self, line: int, bare: str) -> int | None:
        """After the literal block that a paragraph ending in ``::`` announces."""
        if not bare.endswith("::"):
            return None
        first = line + 1
        while first < len(self._lines) and not self._lines[first].strip():
            first += 1
        if first == line + 1:
            return None
        after = after_deeper(self._lines, first, indent_of(self._lines[line]))
        if after > first:
            self.outline.add_block(first, after)
            return after
        return None

    def _after_field(self, line: int, field: re.Match[str]) -> int:
        after = after_deeper(self._lines, line + 1, 0)
        value = " ".join(" ".join([field[2] or "", *self._lines[line + 1 : after]]).split())
        if value:
            self.fields.setdefault(field[1].lower(), value)
        self._fresh = True
        return after

    def _after_grid_table(self, line: int, text: str) -> int | None:
        if text[0] != "+" or not _GRID_TABLE.match(text):
            return None
        after = line + 1
        header_after = None
        while after < len(self._lines) and self._lines[after].startswith(("|", "+")):
            after += 1
            if self._lines[after - 1].startswith("+=") and header_after is None:
                header_after = after
        self.outline.add_block(line, after, header_after)
        return after

    def _after_simple_table(self, line: int, text: str) -> int | None:
        if text[0] != "=" or not self._simple_tables or not _SIMPLE_TABLE.match(text):
            return None
        borders: list[int] = []
        for after in range(line + 1, len(self._lines)):
            if self._lines[after].startswith("=") and _SIMPLE_TABLE.match(self._lines[after]):
                borders.append(after)
                if after + 1 >= len(self._lines) or not self._lines[after + 1].strip():
                    self.outline.add_block(line, after + 1, borders[0] + 1 if len(borders) > 1 else None)
                    return after + 1
        self._simple_tables = False  # no later one ends either
        return None

    def _after_doctest(self, line: int, text: str, fresh: bool) -> int | None:
        if not fresh or not text.startswith(">>> "):
            return None
        after = line + 1
        while after < len(self._lines) and self._lines[after].strip():
            after += 1
        self.outline.add_block(line, after)
        return after


def _is_long_enough(adornment: str, title: str) -> bool:
    if len(adornment) >= _SURE_ADORNMENT:
        return True
    return len(adornment) >= min(_SHORTEST_ADORNMENT, len(title)) and _columns(title) <= len(adornment)


def _columns(title: str) -> int:
    return len(title) + sum(unicodedata.east_asian_width(character) in "WF" for character in title)
