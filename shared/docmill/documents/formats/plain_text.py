"""Plain text: lines that are underlined to their own length are headings."""

import re
from typing import Final

from docmill.documents.extracted import Extracted
from docmill.documents.formats.logs import without_colours
from docmill.domain.documents import Heading, Outline

_UNDERLINE: Final = re.compile(r"^([=\-~^*])\1{2,119}[ \t]*$", re.MULTILINE)
_TITLE: Final = re.compile(r"[^\W_].{1,118}\S")


def read_plain_text(text: str) -> Extracted:
    """The text, without a terminal's colours; the first kind of line that is met is that of the highest headings."""
    text = without_colours(text)
    headings: list[Heading] = []
    kinds = ""
    for underline in _UNDERLINE.finditer(text):
        start = text.rfind("\n", 0, max(0, underline.start() - 1)) + 1
        title = text[start : max(start, underline.start() - 1)]
        stands_alone = start == 0 or text[start - 2 : start] == "\n\n"
        if stands_alone and len(title) == len(underline[0].rstrip()) and _TITLE.fullmatch(title):
            kinds += "" if underline[1] in kinds else underline[1]
            headings.append(Heading(kinds.index(underline[1]) + 1, title, start, min(underline.end() + 1, len(text))))
    return Extracted(text, Outline(headings))
