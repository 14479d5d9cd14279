"""Manual pages (roff with the macros ``man`` or ``mdoc``): sections, and comments left out."""

import re
from typing import Final

from docmill.documents.extracted import Extracted
from docmill.documents.formats.kept_lines import joined
from docmill.documents.formats.line_outline import LineOutline
from docmill.documents.front_matter import metadata_of

_COMMENT: Final = re.compile(r"['.][ \t]*\\\"|\.[ \t]*\Z|'\\\"")
_MACRO: Final = re.compile(r"\.[ \t]*(TH|SH|SS|Dt|Dd|Sh|Ss)[ \t]+(.*)\Z")
_LEVELS: Final = {"SH": 1, "Sh": 1, "SS": 2, "Ss": 2}
_BLOCKS: Final = {".nf": ".fi", ".EX": ".EE", ".TS": ".TE", ".Bd": ".Ed"}
_ARGUMENT: Final = re.compile(r'"((?:[^"]|"")*)"|(\S+)')
_FONT: Final = re.compile(r"\\f(?:\[\w*\]|\(..|.)|\\&")


def looks_like_manual_page(text: str) -> bool:
    """Whether the text begins as manual pages do."""
    for line in text[:8192].split("\n"):
        if line.startswith((".TH ", ".Dd ", ".Dt ")):
            return True
        if line.strip() and not line.startswith((".", "'")):
            return False
    return False


def read_manual_page(text: str) -> Extracted:
    """The text without comments."""
    file_lines = text.split("\n")
    text, source_lines = joined(file_lines, [line for line, content in enumerate(file_lines) if not _COMMENT.match(content)])
    lines = text.split("\n")
    outline = LineOutline(lines)
    name, said = "", {}
    opened: list[tuple[str, int]] = []
    for line, content in enumerate(lines):
        macro = _MACRO.match(content) if content.startswith(".") else None
        if macro is not None:
            arguments = [_FONT.sub("", match[1] or match[2] or "") for match in _ARGUMENT.finditer(macro[2])]
            if macro[1] in _LEVELS:
                outline.add_heading(_LEVELS[macro[1]], " ".join(arguments), line, line + 1)
            elif macro[1] in ("TH", "Dt") and not name:
                name = f"{arguments[0]}({arguments[1]})" if len(arguments) > 1 else "".join(arguments)
                if macro[1] == "TH" and len(arguments) > 2:
                    said["date"] = arguments[2]
            elif macro[1] == "Dd":
                said["date"] = " ".join(arguments).replace(" ,", ",")
        elif content[:3] in _BLOCKS:
            opened.append((_BLOCKS[content[:3]], line))
        elif opened and content.startswith(opened[-1][0]):
            outline.add_block(opened.pop()[1], line + 1)
    return Extracted(text, outline.outline(), name, metadata=metadata_of(said), source_lines=source_lines)
