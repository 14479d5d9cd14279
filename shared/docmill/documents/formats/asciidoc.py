"""AsciiDoc: sections, delimited blocks, tables and lists; comments and the attributes of the header are left out of the text.

Rules: the AsciiDoc Language documentation of Asciidoctor, with two-line titles as in older documents.
"""

import re
from collections.abc import Mapping
from typing import Final

from docmill.documents.extracted import Extracted
from docmill.documents.formats.kept_lines import joined
from docmill.documents.formats.line_outline import LineOutline
from docmill.documents.front_matter import metadata_of
from docmill.documents.natural_language import language_code

_TITLE: Final = re.compile(r"(={1,6}|#{1,6})[ \t]+(\S.*?)(?:[ \t]+\1)?[ \t]*\Z")
_UNDERLINES: Final = "=-~^+"
_UNDERLINE: Final = re.compile(r"(?:=+|-+|~+|\^+|\++)[ \t]*\Z")
#: An underline may differ so much from its title's length.
_LENGTHS_DIFFER: Final = 2
#: Of a line; nothing that makes a difference comes later.
_LOOKED_AT: Final = 1000
_WORD: Final = re.compile(r"\w")
#: Blocks whose content is no markup of the document: listings, literals, passthroughs, fenced code.
_VERBATIM: Final = re.compile(r"(?:-{4,}|\.{4,}|\+{4,}|`{3}[\w+#,. -]{0,80})\Z")
_COMMENT: Final = re.compile(r"/{4,}\Z")
#: Blocks with text in them, whose titles are no sections.
_COMPOUND: Final = re.compile(r"(?:={4,}|\*{4,}|_{4,}|--)\Z")
_TABLE: Final = re.compile(r"[|,:!]={3,}\Z")
_BLOCK_LINE: Final = re.compile(r"(?:\[[^\]]*\]|\.[^\s.].*)\Z")
_ITEM: Final = re.compile(r"[ \t]*(?:\*{1,5}|-|\.{1,5}|\d{1,9}\.|<(?:\d{1,3}|\.)>)[ \t]+\S|[^\s].{0,200}?::(?:[ \t]|\Z)")
_ATTRIBUTE: Final = re.compile(r":(!?[A-Za-z0-9_][\w-]{0,80}!?):(?:[ \t]+(.*))?\Z")
_CONDITION: Final = re.compile(r"(?:ifn?def|ifeval|endif)::")
_REFERENCE: Final = re.compile(r"(?<!\\)\{(\w[\w-]{0,80})\}")
_LONGEST_VALUE: Final = 200
_AUTHOR: Final = re.compile(r"\w[\w.'’ -]{0,200}(?:<[^>]{1,200}>)?(?:;.{0,500})?\Z")
_REVISION: Final = re.compile(r"(?:v?(\d[\w.]*)\s*,\s*)?(\d{4}-\d{2}-\d{2}|\d{1,2} \w+ \d{4}|\w+ \d{1,2}, \d{4})(?::.*)?\Z|v(\d[\w.]*)\Z")
_NAMES: Final = "author authors email date revdate revnumber docdate description keywords category product tags version"
_SAID: Final = frozenset(_NAMES.split())


def read_asciidoc(text: str) -> Extracted:
    """The text without comments and attributes, the values of the header's where they are used."""
    file_lines = text.split("\n")
    said, dropped, title = _header(file_lines)
    kept = [line for line in _without_comments(file_lines) if line not in dropped]
    text, source_lines = joined([_with_values(line, said) for line in file_lines], kept)
    outline = _outline(text.split("\n"))
    language = language_code(said.pop("lang", ""))
    return Extracted(
        text,
        outline.outline(),
        _with_values(title, said) or said.pop("title", "") or outline.first_heading(),
        language,
        metadata_of({name: value for name, value in said.items() if name in _SAID}),
        source_lines=source_lines,
    )


def _with_values(text: str, said: Mapping[str, str]) -> str:
    """The text with the values of the header's attributes in place of their names in braces; long ones are left as they are."""
    if "{" not in text:
        return text
    return _REFERENCE.sub(lambda found: value if 0 < len(value := said.get(found[1].lower(), "")) <= _LONGEST_VALUE else found[0], text)


def _header(lines: list[str]) -> tuple[dict[str, str], set[int], str]:
    """What the header says, its lines other than the title, and the title."""
    said: dict[str, str] = {}
    dropped: set[int] = set()
    title, after_title = "", 0
    line = 0
    while line < len(lines):
        text = lines[line][:_LOOKED_AT].rstrip()
        if (attribute := _ATTRIBUTE.match(text)) is not None:
            if attribute[2]:
                said[attribute[1].lower()] = _with_values(attribute[2].strip(), said)
            dropped.add(line)
        elif not title and (match := _TITLE.match(text)) is not None and len(match[1]) == 1:
            title, after_title = match[2], line + 1
        elif not title and _is_two_line_title(lines, line) and lines[line + 1][0] == "=":
            title, after_title = text.strip(), line + 2
            line += 1
        elif title and line == after_title and _AUTHOR.match(text):
            said.setdefault("author", re.sub(r"\s*<.*?>", "", text))
            dropped.add(line)
        elif title and line in (after_title, after_title + 1) and (revision := _REVISION.match(text)) is not None:
            for name, value in (("revnumber", revision[1] or revision[3]), ("date", revision[2])):
                if value:
                    said.setdefault(name, value)
            dropped.add(line)
        elif not (text.startswith("//") or _CONDITION.match(text) or (not text and not title)):
            break
        line += 1
    return said, dropped, title


def _without_comments(lines: list[str]) -> list[int]:
    """The lines that are text: no comments, conditions, and settings of attributes, unless they stand in a verbatim block."""
    kept: list[int] = []
    inside = comment = ""
    between, continued = True, False
    for line, text in enumerate(lines):
        bare = text.rstrip()
        if comment:
            comment = "" if bare == comment else comment
        elif inside:
            inside = "" if bare == inside else inside
            kept.append(line)
        elif (bare.startswith("//") and not bare.startswith("///")) or (bare and bare[0] in "ie" and _CONDITION.match(bare)):
            continue
        elif between and (attribute := _ATTRIBUTE.match(bare[:_LOOKED_AT])) is not None:
            continued = (attribute[2] or "").endswith(" \\")
        elif between and continued and bare:
            continued = bare.endswith(" \\")
        elif _COMMENT.match(bare):
            comment = bare
        else:
            inside = _verbatim_delimiter(lines, line) if bare and bare[0] in "-.+`" else ""
            kept.append(line)
            between = not bare or _TITLE.match(bare[:_LOOKED_AT]) is not None
            continued = False
    return kept


def _verbatim_delimiter(lines: list[str], line: int) -> str:
    """The delimiter that ends the block which the line begins; "" when it begins none."""
    bare = lines[line].rstrip()
    if not _VERBATIM.match(bare):
        return ""
    if line and _is_two_line_title(lines, line - 1) and (line < 2 or not lines[line - 2].strip()):
        return ""
    return "```" if bare.startswith("```") else bare


def _is_two_line_title(lines: list[str], line: int) -> bool:
    if line + 1 >= len(lines) or not _UNDERLINE.match(lines[line + 1]) or not _WORD.search(lines[line][:200]):
        return False
    title, underline = lines[line].rstrip(), lines[line + 1].rstrip()
    return title[0] not in " \t[.|" and len(underline) > 1 and abs(len(title) - len(underline)) <= _LENGTHS_DIFFER


def _outline(lines: list[str]) -> LineOutline:
    outline = LineOutline(lines)
    opened: list[tuple[str, int]] = []
    line, blank, first_of_block = 0, True, 0
    while line < len(lines):
        bare = lines[line][:_LOOKED_AT].rstrip()
        if not bare:
            blank, line, first_of_block = True, line + 1, line + 1
            continue
        after = line + 1
        delimiter = _verbatim_delimiter(lines, line)
        if not delimiter and bare[0] in "|,:!" and _TABLE.match(bare):
            delimiter = bare
        if delimiter:
            after = _after_delimiter(lines, line, delimiter)
            header_after = _header_after(lines, line, after, first_of_block) if _TABLE.match(bare) else None
            outline.add_block(first_of_block, after, header_after)
        elif _COMPOUND.match(bare):
            if any(one == bare for one, _ in opened):
                while opened:
                    one, first = opened.pop()
                    if one == bare:
                        outline.add_block(first, after)
                        break
            else:
                opened.append((bare, first_of_block))
        elif blank and not opened and _is_two_line_title(lines, line):
            after = line + 2
            outline.close_list()
            outline.add_heading(_UNDERLINES.index(lines[line + 1][0]) + 1, bare, line, after)
        elif not opened and (title := _TITLE.match(bare)) is not None:
            outline.close_list()
            outline.add_heading(len(title[1]), title[2], line, after)
        elif not opened and (blank or outline.in_list) and _ITEM.match(bare):
            outline.open_item(line)
        elif outline.in_list and blank and bare != "+" and not lines[line - 1].strip() and not _BLOCK_LINE.match(bare):
            outline.close_list()
        if outline.in_list:
            outline.go_on_in_list(after - 1)
        if not _BLOCK_LINE.match(bare):
            first_of_block = after
        blank = blank and _BLOCK_LINE.match(bare) is not None
        line = after
    return outline


def _after_delimiter(lines: list[str], first: int, delimiter: str) -> int:
    for line in range(first + 1, len(lines)):
        if lines[line].rstrip() == delimiter:
            return line + 1
    return len(lines)


def _header_after(lines: list[str], first: int, after: int, first_of_block: int) -> int | None:
    """The line after the header row: the first one, when the table says so or a blank line follows it."""
    if first + 2 >= after or not lines[first + 1].strip():
        return None
    said = any("header" in lines[line] for line in range(first_of_block, first))
    return first + 2 if said or not lines[first + 2].strip() else None
