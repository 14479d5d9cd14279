"""XML: what its elements say, as indented lines ``name attribute=value: text``; of documents, their running text under its titles.

Entities that are declared as plain text are replaced, and nothing outside the file is read. What is not well-formed is read as far as it
goes.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

from docmill.documents.extracted import Extracted
from docmill.documents.formats.drafts import Draft
from docmill.documents.formats.html import read_html
from docmill.documents.formats.inline import Inline, Line, Preformatted
from docmill.documents.formats.key_outline import Entry, key_outline
from docmill.documents.formats.markup import Mark, Token, tokens
from docmill.documents.formats.shortening import shortened
from docmill.documents.formats.svg import read_svg
from docmill.documents.formats.xml_entities import with_entities
from docmill.documents.formats.xml_survey import TITLES, local_name, survey
from docmill.documents.natural_language import language_code
from docmill.domain.documents import MetadataValue

_CODE: Final = frozenset(["programlisting", "screen", "literallayout", "codeblock", "pre", "synopsis", "msgblock"])
_ROWS: Final = frozenset(["row", "tr", "strow", "sthead"])
_TABLES: Final = frozenset(["table", "informaltable", "simpletable"])
#: Elements that hold running text whatever is in them.
_PARAGRAPHS: Final = frozenset(["p", "para", "simpara", "paragraph"])
#: Leaves near the root that say something of the whole.
_SAID: Final = {"author": "author", "creator": "author", "date": "date", "pubdate": "date", "published": "date", "updated": "modified"}
_SAID_WITHIN_DEPTH: Final = 3
_NAMING: Final = ("name", "id", "key", "title", "ref")
_DEEPEST_INDENT: Final = 8
_LONGEST_VALUE: Final = 1000
_SHORT_VALUE: Final = 500
_MARKED_UP: Final = re.compile(r"<(?:p|br|div|a|ul|ol|li|b|i|em|strong|h[1-6]|pre|code|table|img|span)\b[^<>]{0,1000}>", re.IGNORECASE)


@dataclass(slots=True)
class _Element:
    """An open element.

    Attributes:
        line: of the file, where it begins.
        titled: whether it has a title.
        titles_above: how many of those around it have one.
        entry: of what the text says of it, the place among the entries; None where there is nothing yet.
    """

    name: str
    line: int
    attributes: Mapping[str, str]
    titles_above: int = 0
    titled: bool = False
    entry: int | None = None


def read_xml(text: str) -> Extracted:
    """The text of the elements; XHTML and SVG are read as such, and a text without any element stays as it is."""
    text = with_entities(text)
    root = next((token for token in islice(tokens(text, xml=True), 200) if token.mark is Mark.START), None)
    if root is None:
        return Extracted(text)
    name = local_name(root.text)
    if name.lower() == "html":
        return read_html(text)
    if name == "svg":
        return read_svg(text)
    return _Reader(shortened(text), root).read()


class _Reader:
    """Attributes:
    _prose: of the open elements, those that hold running text.
    _row: which of the open elements is a row of a table, and the texts of its cells.
    """

    def __init__(self, text: str, root: Token) -> None:
        self._text = text
        self._language = language_code(root.attributes.get("xml:lang"))
        self._mixed, self._titled = survey(text)
        self._draft = Draft()
        self._open: list[_Element] = []
        self._count: Counter[str] = Counter()
        self._prose: list[int] = []
        self._inline = Inline()
        self._raw: list[Line] = []
        self._code: tuple[int, Preformatted] | None = None
        self._row: tuple[int, list[str]] | None = None
        self._table: list[int] = []
        self._entries: list[Entry] = []
        self._metadata: dict[str, MetadataValue] = {}

    def read(self) -> Extracted:
        text, line, counted = self._text, 1, 0
        for token in tokens(text, xml=True):
            line += text.count("\n", counted, token.start)
            counted = token.start
            if token.mark is Mark.TEXT:
                self._add_text(token.text, line)
            elif token.mark is Mark.START:
                self._start(local_name(token.text), line, token.attributes)
                if token.closed:
                    self._pop()
            elif token.mark is Mark.END:
                self._end(local_name(token.text))
            else:
                self._add_comment(token.text, line)
        while self._open:
            self._pop()
        self._flush_raw()
        extracted = self._draft.extracted(self._draft.first_heading, self._language, self._metadata)
        if self._titled:
            return extracted
        lines = extracted.text.split("\n")
        entries = [entry._replace(after=min(entry.after, len(lines))) for entry in self._entries if entry.first < len(lines)]
        inner = [entry._replace(depth=entry.depth - 1) for entry in entries if entry.depth]
        return replace(extracted, outline=key_outline(extracted.text, lines, inner, [(entry.first, entry.after) for entry in entries]))

    def _add_text(self, text: str, line: int) -> None:
        if self._code is not None:
            self._code[1].add(text, line)
        elif self._prose or self._row is not None:
            self._inline.add(text, line)
        elif not text.isspace():
            self._raw.append((line, text))

    def _add_comment(self, text: str, line: int) -> None:
        if self._titled or self._code is not None or self._prose or self._raw:
            return
        if self._open:
            self._begin(len(self._open) - 1)
        for number, part in enumerate(text.split("\n")):
            if part.strip():
                self._draft.add(f"{self._indent(len(self._open))}# {part.strip()}", line + number)

    def _start(self, name: str, line: int, attributes: Mapping[str, str]) -> None:
        place = len(self._open)
        if self._code is None and not self._prose and self._row is None:
            if self._open:
                self._begin(place - 1)
            self._flush_raw()
        around = self._open[-1] if self._open else None
        element = _Element(name, line, attributes, 0 if around is None else around.titles_above + around.titled)
        self._open.append(element)
        self._count[name] += 1
        if self._code is not None or self._row is not None:
            return
        if name in _CODE:
            self._flush()
            self._code = (place, Preformatted())
        elif name in _ROWS:
            self._flush()
            self._row = (place, [])
        elif name in _TABLES:
            self._flush()
            self._draft.separate()
            self._table.append(self._draft.length)
        elif name in self._mixed or name in _PARAGRAPHS or (self._titled and name in TITLES):
            self._flush()
            self._prose.append(place)

    def _end(self, name: str) -> None:
        if self._count[name]:
            while self._open[-1].name != name:
                self._pop()
            self._pop()

    def _pop(self) -> None:
        place = len(self._open) - 1
        element = self._open[-1]
        if self._code is not None:
            if self._code[0] == place:
                self._draft.add_code(self._code[1].taken())
                self._code = None
        elif self._row is not None:
            self._end_in_row(self._row, place)
        elif self._prose and self._prose[-1] == place:
            self._end_prose(element, place)
        elif not self._prose:
            self._end_entry(element, place)
        self._open.pop()
        self._count[element.name] -= 1
        if element.name in _TABLES and self._table:
            self._draft.note_block(min(self._table.pop(), self._draft.length))

    def _end_in_row(self, row: tuple[int, list[str]], place: int) -> None:
        first, cells = row
        if place == first + 1 or (place == first and not cells):
            cells.append(" ".join(text for lines in self._inline.take() for _, text in lines).replace("|", "\\|"))
        if place == first:
            self._inline.take()
            self._row = None
            if any(cells):
                self._draft.add(f"| {' | '.join(cells)} |", self._open[place].line)

    def _end_prose(self, element: _Element, place: int) -> None:
        if self._titled and element.name in TITLES:
            words = " ".join(text for lines in self._inline.take() for _, text in lines)
            section = place - 1 if place < 2 or not self._open[place - 1].name.endswith(("info", "front", "prolog")) else place - 2
            level = 1
            if section >= 0:
                self._open[section].titled = True
                level += self._open[section].titles_above
            self._draft.add_heading(min(level, 6), words, element.line)
        self._flush()
        self._prose.pop()

    def _end_entry(self, element: _Element, place: int) -> None:
        """Ends an element that holds elements, or a value."""
        raw, self._raw = self._raw, []
        if element.entry is None:
            first = self._draft.length
            self._write_leaf(element, place, raw)
            if not self._titled and self._draft.length > first:
                self._entries.append(Entry(_name_of(element), first, self._draft.length, place))
        else:
            self._entries[element.entry] = self._entries[element.entry]._replace(after=self._draft.length)

    def _write_leaf(self, element: _Element, place: int, raw: list[Line]) -> None:
        value = "".join(text for _, text in raw)
        lines: list[Line] = []
        if len(value) < _SHORT_VALUE and _MARKED_UP.search(value):
            words = " ".join(token.text for token in tokens(value) if token.mark is Mark.TEXT).split()
            lines = [(raw[0][0], " ".join(words))] if words else []
        elif _MARKED_UP.search(value):
            page = read_html(value)
            lines = [(raw[0][0] + source - 1, text) for source, text in zip(page.source_lines or (), page.text.split("\n"), strict=False)]
        elif raw:
            for line, text in raw:
                self._inline.add(text, line)
            lines = [line for paragraph in self._inline.take() for line in paragraph]
        said = _SAID.get(element.name.lower())
        if said and lines and place <= _SAID_WITHIN_DEPTH:
            self._metadata.setdefault(said, lines[0][1][:_LONGEST_VALUE])
        indent = self._indent(place)
        name = _shown(element)
        if not lines:
            if element.attributes and not self._titled:
                self._draft.add(f"{indent}{name}", element.line)
            return
        self._draft.add(f"{indent}{name}: {lines[0][1]}", lines[0][0])
        for line, text in lines[1:]:
            self._draft.add(f"{indent}  {text}" if text else "", line)

    def _begin(self, place: int) -> None:
        """Writes the line of an element that holds others, and of those around it."""
        if self._titled:
            return
        element = self._open[place]
        if element.entry is None:
            element.entry = len(self._entries)
            self._entries.append(Entry(_name_of(element), self._draft.length, self._draft.length, place))
            self._draft.add(f"{self._indent(place)}{_shown(element)}:", element.line)

    def _flush_raw(self) -> None:
        """Writes a text that an element begins with, and after which other elements come."""
        raw, self._raw = self._raw, []
        for line, text in raw:
            self._inline.add(text, line)
        self._flush()

    def _flush(self) -> None:
        for lines in self._inline.take():
            if self._titled:
                self._draft.separate()
            indent = self._indent(self._prose[-1] if self._prose else len(self._open))
            for line, text in lines:
                self._draft.add(f"{indent}{text}", line)
            if self._titled:
                self._draft.separate()

    def _indent(self, depth: int) -> str:
        return "" if self._titled else "  " * min(depth, _DEEPEST_INDENT)


def _shown(element: _Element) -> str:
    """The name with the attributes; those that only say how it is to be read are left out."""
    said = [
        f"{local_name(name)}={' '.join(value.split())[:_LONGEST_VALUE]}"
        for name, value in element.attributes.items()
        if not name.startswith(("xmlns", "xsi:", "xml:space"))
    ]
    return " ".join([element.name, *said])


def _name_of(element: _Element) -> str:
    named = next((element.attributes[name] for name in _NAMING if element.attributes.get(name)), "")
    return f"{element.name} {named}".strip()
