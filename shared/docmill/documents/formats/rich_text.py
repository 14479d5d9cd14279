"""RTF: its text, with headings by the outline levels of its styles and tables by rows; nothing in it is run or opened.

Control words are those of the Rich Text Format Specification 1.9.1.
"""

import codecs
import re
from dataclasses import dataclass, replace
from typing import Final

from docmill.documents.extracted import Extracted
from docmill.documents.formats.drafts import Draft
from docmill.documents.formats.rich_text_names import (
    CHARACTERS,
    CODE_PAGES,
    FONT_CODE_PAGES,
    INFO,
    LEFT_OUT,
    PARAGRAPH_ENDS,
    SYMBOLS,
    TEXT_GROUPS,
)
from docmill.documents.formats.rich_text_tokens import Kind, Token, tokens
from docmill.documents.front_matter import metadata_of

_HEADING_STYLE: Final = re.compile(r"heading (\d)\Z", re.IGNORECASE)
_BODY_LEVEL: Final = 9
_LONGEST_HEADING: Final = 300
_LONGEST_INFO: Final = 1000


@dataclass(slots=True)
class _Group:
    """What holds in a group, and in those in it until they say otherwise.

    Attributes:
        target: what its text is for: the text, nothing, or a part of the header.
        uc: how many characters after a Unicode character stand for it.
    """

    target: str = "text"
    uc: int = 1
    font: int | None = None
    hidden: bool = False
    starred: bool = False
    fresh: bool = True


@dataclass(slots=True)
class _Style:
    """A style that is being defined, or a paragraph's own settings."""

    number: int = 0
    level: int | None = None
    name: str = ""


def read_rich_text(content: bytes) -> Extracted:
    """The text; of what is cut off or broken, as far as it goes."""
    return _Reader(content).read()


class _Reader:
    def __init__(self, content: bytes) -> None:
        self._content = content
        self._draft = Draft()
        self._group = _Group()
        self._groups: list[_Group] = []
        self._code_page = "cp1252"
        self._fonts: dict[int, str] = {}
        self._default_font: int | None = None
        self._levels: dict[int, int] = {}
        self._info: dict[str, str] = {}
        self._pending = bytearray()
        self._texts: list[str] = []
        self._body: list[str] | None = None
        self._to_skip = 0
        self._style = _Style()
        self._defined = _Style()
        self._font_defined = 0
        self._cells: list[str] = []
        self._in_table = self._heads = False
        self._table: tuple[int, int | None] | None = None
        self._line = self._started = 1
        self._date: dict[str, int] = {}

    def read(self) -> Extracted:
        counted = 0
        for token in tokens(self._content):
            self._line += self._content.count(b"\n", counted, token.start)
            counted = token.start
            if token.kind is Kind.BYTES or token.kind is Kind.BYTE:
                self._add_bytes(token.content)
            elif token.kind is Kind.WORD:
                self._word(token)
            elif token.kind is Kind.BEGIN:
                self._groups.append(self._group)
                self._group = replace(self._group, starred=False, fresh=True)
            elif token.kind is Kind.END:
                self._end_group()
            else:
                self._symbol(token.name)
        self._back_in_body()
        self._group.target = "text"
        self._end_paragraph()
        self._end_table()
        if {"yr", "mo", "dy"} <= self._date.keys():
            self._info["date"] = f"{self._date['yr']:04}-{self._date['mo']:02}-{self._date['dy']:02}"
        title = " ".join(self._info.pop("title", "").split())
        return self._draft.extracted(title or self._draft.first_heading, metadata=metadata_of(self._info))

    # Texts

    def _add_bytes(self, content: bytes) -> None:
        if self._to_skip:
            skipped = min(self._to_skip, len(content))
            self._to_skip -= skipped
            content = content[skipped:]
        group = self._group
        group.fresh = False
        if not group.hidden and group.target != "":
            if not self._texts and not self._pending:
                self._started = self._line
            self._pending += content

    def _add_text(self, text: str) -> None:
        if not self._group.hidden and self._group.target != "":
            if not self._texts and not self._pending:
                self._started = self._line
            self._decode_pending()
            self._texts.append(text)

    def _decode_pending(self) -> None:
        """Decodes the bytes so far; characters of several bytes may be written partly as numbers, partly as they are."""
        if self._pending:
            font = self._default_font if self._group.font is None else self._group.font
            code_page = self._fonts.get(-1 if font is None else font) or self._code_page
            self._texts.append(self._pending.decode(code_page, "replace"))
            self._pending.clear()

    def _taken(self) -> str:
        self._decode_pending()
        text = "".join(self._texts)
        self._texts.clear()
        if not text.isascii():
            # Characters beyond the 16 bits of a control word are written as two of them.
            text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").replace("\u00ad", "")
        return text.replace("\0", "")

    # Groups

    def _end_group(self) -> None:
        self._to_skip = 0
        group = self._group
        if group.target != "text" and self._groups and self._groups[-1].target != group.target:
            self._end_target(group.target)
        else:
            self._decode_pending()
        if group.target == "stylesheet":
            self._define_style()
        elif group.target == "fonttbl":
            self._taken()
        self._group = self._groups.pop() if self._groups else group
        if self._group.target == "text":
            self._back_in_body()

    def _back_in_body(self) -> None:
        if self._body is not None:
            self._taken()
            self._texts, self._body = self._body, None

    def _end_target(self, target: str) -> None:
        if target in INFO:
            self._info[INFO[target]] = self._taken()[:_LONGEST_INFO]
        elif target == "stylesheet":
            self._define_style()
        elif target == "fonttbl":
            self._taken()

    def _define_style(self) -> None:
        defined, name = self._defined, self._taken().strip().rstrip(";").strip()
        named = _HEADING_STYLE.match(name)
        level = int(named[1]) - 1 if named is not None else 0 if name.lower() == "title" else defined.level
        if level is not None and level < _BODY_LEVEL:
            self._levels[defined.number] = level
        self._defined = _Style()

    def _enter(self, target: str) -> None:
        """The group that has just begun is for ``target``, ``""`` for nothing."""
        if self._group.target == "text" and self._groups and self._groups[-1].target == "text":
            group, self._group = self._group, self._groups[-1]
            self._decode_pending()
            self._group = group
            if target:
                self._body, self._texts = self._texts, []
        self._group.target = target

    # Control words

    def _symbol(self, symbol: str) -> None:
        if symbol == "*":
            self._group.starred = True
        elif symbol in SYMBOLS:
            if symbol in "\\{}":
                self._add_bytes(symbol.encode())
            else:
                self._add_text(SYMBOLS[symbol])
        elif symbol in "\r\n":
            self._end_paragraph()

    def _word(self, token: Token) -> None:
        name, number, group = token.name, token.number, self._group
        fresh, group.fresh = group.fresh, False
        if fresh and group.target != "" and self._groups and self._enters(name):
            return
        if name == "u":
            if self._to_skip:
                self._to_skip -= 1
                return
            self._add_text(chr((number or 0) & 0xFFFF))
            self._to_skip = group.uc
        elif name == "uc":
            group.uc = min(max(number or 0, 0), 10)
        elif name in CHARACTERS:
            self._add_text(CHARACTERS[name])
        elif group.target == "text":
            self._formats(name, number)
        else:
            self._defines(name, number)

    def _enters(self, name: str) -> bool:
        """Whether the control word at the beginning of a group says what the group is for."""
        target = self._group.target
        if name in LEFT_OUT or (self._group.starred and name not in TEXT_GROUPS and target == "text"):
            self._enter("")
        elif name in ("fonttbl", "stylesheet", "info") or (target == "info" and (name in INFO or name == "creatim")):
            self._enter(name)
        elif target == "info":
            self._enter("")
        else:
            return False
        return True

    def _formats(self, name: str, number: int | None) -> None:
        if name in PARAGRAPH_ENDS:
            if self._in_table and name in ("par", "line"):
                self._add_text(" ")
            else:
                self._end_paragraph()
        elif name in ("cell", "row"):
            self._end_cell_or_row(name)
        elif name == "f":
            self._decode_pending()
            self._group.font = number
        elif name in ("pard", "trowd"):
            if name == "pard":
                self._style = _Style()
                self._in_table = False
            else:
                self._heads = False
        elif name == "intbl":
            self._in_table = True
        elif name == "trhdr":
            self._heads = True
        elif name == "s":
            self._style.number = number or 0
        elif name == "outlinelevel":
            self._style.level = number
        elif name in ("v", "deleted"):
            self._decode_pending()
            self._group.hidden = number != 0
        elif name == "plain":
            self._decode_pending()
            self._group.hidden = False
            self._group.font = None
        elif name == "ansicpg" and number:
            self._code_page = _known(f"cp{number}")
        elif name in CODE_PAGES:
            self._code_page = CODE_PAGES[name]
        elif name == "deff":
            self._default_font = number

    def _defines(self, name: str, number: int | None) -> None:
        target = self._group.target
        if target == "stylesheet":
            if name == "s":
                self._defined.number = number or 0
            elif name == "outlinelevel":
                self._defined.level = number
        elif target == "fonttbl":
            if name == "f":
                self._font_defined = number or 0
            elif name == "fcharset" and number in FONT_CODE_PAGES:
                self._fonts[self._font_defined] = FONT_CODE_PAGES[number]
        elif target == "creatim" and name in ("yr", "mo", "dy"):
            self._date[name] = number or 0

    # Paragraphs and tables

    def _end_paragraph(self) -> None:
        if self._group.target != "text":
            return
        source = self._started
        text = self._taken().strip(" \n\r")
        if not self._in_table and text.strip():
            self._end_table()
        level = self._levels.get(self._style.number) if self._style.level is None else self._style.level
        if text.strip() and level is not None and 0 <= level < _BODY_LEVEL and len(text) <= _LONGEST_HEADING:
            self._draft.add_heading(min(level + 1, 6), " ".join(text.split()), source)
        elif text.strip():
            self._draft.add(text.replace("\n", " "), source)
        else:
            self._draft.separate()

    def _end_cell_or_row(self, name: str) -> None:
        text = " ".join(self._taken().split())
        if name == "cell" or text:
            self._cells.append(text.replace("|", "\\|"))
        if name == "cell":
            return
        cells, self._cells = self._cells, []
        if not any(cells):
            return
        if self._table is None:
            self._draft.separate()
            self._table = (self._draft.length, None)
        self._draft.add(f"| {' | '.join(cells)} |", self._started)
        if self._heads and self._draft.length == self._table[0] + 1:
            self._draft.add("|" + " --- |" * len(cells), self._started)
            self._table = (self._table[0], self._draft.length)

    def _end_table(self) -> None:
        if self._cells:
            self._end_cell_or_row("row")
        if self._table is not None:
            self._draft.note_block(*self._table)
            self._table = None
            self._draft.separate()


def _known(code_page: str) -> str:
    name = {"cp65001": "utf-8", "cp936": "gb18030", "cp10000": "mac_roman"}.get(code_page, code_page)
    try:
        return codecs.lookup(name).name
    except LookupError:
        return "cp1252"
