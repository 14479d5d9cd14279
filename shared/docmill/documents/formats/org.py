"""Org: headings by their stars, blocks, tables and lists; property drawers are left out, the settings at the top are metadata."""

import re
from typing import Final

from docmill.documents.extracted import Extracted
from docmill.documents.formats.kept_lines import joined
from docmill.documents.formats.line_outline import LineOutline, indent_of
from docmill.documents.front_matter import metadata_of
from docmill.documents.natural_language import language_code

_HEADING: Final = re.compile(
    r"(\*+)[ \t]+(?:(?:TODO|NEXT|DOING|WAITING|HOLD|DONE|CANCELL?ED|COMMENT)[ \t]+)?(?:\[#\w\][ \t]+)?(.*?)(?:[ \t]+:[\w@#%:]+:)?[ \t]*\Z"
)
_SETTING: Final = re.compile(r"#\+([A-Za-z_-]{1,60}):[ \t]*(.*)\Z")
_BLOCK: Final = re.compile(r"[ \t]*#\+begin_(\w{1,40})", re.IGNORECASE)
_BLOCK_END: Final = re.compile(r"[ \t]*#\+end_(\w{1,40})[ \t]*\Z", re.IGNORECASE)
_DRAWER: Final = re.compile(r"[ \t]*:(?:PROPERTIES|LOGBOOK|CLOCK):[ \t]*\Z", re.IGNORECASE)
_DRAWER_END: Final = re.compile(r"[ \t]*:END:[ \t]*\Z", re.IGNORECASE)
_RULE: Final = re.compile(r"[ \t]*\|-")
_ITEM: Final = re.compile(r"[ \t]*(?:[-+][ \t]|\d{1,9}[.)][ \t])|[ \t]+\*[ \t]")
#: Settings that say something of the document.
_NAMES: Final = "title subtitle author date email description keywords filetags category language"
_SAID: Final = frozenset(_NAMES.split())
#: Of a line; nothing that makes a difference comes later.
_LOOKED_AT: Final = 1000


def read_org(text: str) -> Extracted:
    """The text without drawers of properties."""
    file_lines = text.split("\n")
    text, source_lines = joined(file_lines, _without_drawers(file_lines))
    lines = text.split("\n")
    settings, body = _settings(lines)
    outline = _outline(lines, body)
    language = language_code(settings.pop("language", ""))
    title = settings.pop("title", "") or outline.first_heading()
    tags = settings.get("filetags", "").strip(":").split(":")
    metadata = metadata_of({**settings, "filetags": tags} if "filetags" in settings else settings)
    start = outline.start_of(body)
    return Extracted(text, outline.outline(), title, language, metadata, source_lines=source_lines, body_start=start)


def _without_drawers(lines: list[str]) -> list[int]:
    ends = _ends_of_drawers(lines)
    kept: list[int] = []
    line = 0
    while line < len(lines):
        if line in ends:
            line = ends[line] + 1
        else:
            kept.append(line)
            line += 1
    return kept


def _ends_of_drawers(lines: list[str]) -> dict[int, int]:
    """The line that ends each drawer, by the one that begins it; no heading is in a drawer."""
    ends: dict[int, int] = {}
    end: int | None = None
    for line in range(len(lines) - 1, -1, -1):
        text = lines[line]
        if text.startswith("*"):
            end = None
        elif ":" in text:
            if _DRAWER_END.match(text):
                end = line
            elif end is not None and _DRAWER.match(text):
                ends[line] = end
    return ends


def _settings(lines: list[str]) -> tuple[dict[str, str], int]:
    """What the settings before the first text say, and the line that comes after them."""
    said: dict[str, str] = {}
    body = 0
    for line, text in enumerate(lines):
        setting = _SETTING.match(text)
        if setting is not None and not text[2:].lower().startswith(("name:", "caption:", "attr_", "results:")):
            name = setting[1].lower()
            if name in _SAID and setting[2].strip():
                said[name] = f"{said[name]} {setting[2].strip()}" if name in said else setting[2].strip()
            body = line + 1
        elif text.strip() and not text.startswith("# "):
            break
    return said, body if said else 0


def _outline(lines: list[str], body: int) -> LineOutline:
    outline = LineOutline(lines)
    ends = _ends_of_blocks(lines)
    line, blank = body, False
    item_indent = 0
    while line < len(lines):
        text = lines[line]
        bare = text.strip()
        if not bare:
            blank, line = True, line + 1
            continue
        heading = _HEADING.match(text[:_LOOKED_AT]) if text[0] == "*" else None
        is_item = heading is None and _ITEM.match(text) is not None
        indent = indent_of(text)
        if outline.in_list and not is_item and (indent <= item_indent if blank or bare[0] != "#" else heading is not None):
            outline.close_list()
        blank = False
        after = line + 1
        if heading is not None:
            outline.close_list()
            outline.add_heading(len(heading[1]), heading[2], line, after)
        elif (block := _BLOCK.match(text)) is not None and (end := _next_end(ends, block[1].lower(), line)) is not None:
            after = end + 1
            outline.add_block(line, after)
        elif bare[0] == "|":
            after, header_after = _after_table(lines, line)
            outline.add_block(line, after, header_after)
        elif is_item and (not outline.in_list or indent <= item_indent):
            item_indent = indent
            outline.open_item(line)
        if outline.in_list:
            outline.go_on_in_list(after - 1)
        line = after
    return outline


def _ends_of_blocks(lines: list[str]) -> dict[str, list[int]]:
    """The lines that end blocks, by the kind of block, the last one first."""
    ends: dict[str, list[int]] = {}
    for line in range(len(lines) - 1, -1, -1):
        if "#+" in lines[line] and (end := _BLOCK_END.match(lines[line])) is not None:
            ends.setdefault(end[1].lower(), []).append(line)
    return ends


def _next_end(ends: dict[str, list[int]], kind: str, line: int) -> int | None:
    own = ends.get(kind, [])
    while own and own[-1] <= line:
        own.pop()
    return own[-1] if own else None


def _after_table(lines: list[str], first: int) -> tuple[int, int | None]:
    after = first + 1
    header_after = None
    while after < len(lines) and lines[after].lstrip(" \t").startswith("|"):
        after += 1
        if header_after is None and _RULE.match(lines[after - 1]):
            header_after = after
    return after, header_after
