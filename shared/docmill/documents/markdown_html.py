"""HTML blocks of Markdown: where they start and what ends them (CommonMark 0.31, section 4.6)."""

import re
from typing import Final

#: What ends a block that ends at a blank line.
BLANK_LINE: Final = re.compile(r"\Z(?!\A)")

_ENDS_WITH: Final = (
    (
        re.compile(r"<(?:script|pre|style|textarea)(?:[\s>]|\Z)", re.IGNORECASE),
        re.compile(r"</(?:script|pre|style|textarea)>", re.IGNORECASE),
    ),
    (re.compile(r"<!--"), re.compile(r"-->")),
    (re.compile(r"<\?"), re.compile(r"\?>")),
    (re.compile(r"<!\[CDATA\["), re.compile(r"\]\]>")),
    (re.compile(r"<![A-Za-z]"), re.compile(r">")),
)
_BLOCK_TAG: Final = re.compile(
    r"</?(?:address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|fieldset"
    r"|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu|menuitem|nav|noframes|ol"
    r"|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|track|ul)(?:\s|/?>|\Z)",
    re.IGNORECASE,
)
_LONE_TAG: Final = re.compile(r"</?[A-Za-z][A-Za-z0-9-]*(?:\s[^<>]*)?>\s*\Z")


def html_block_end(line: str, *, in_paragraph: bool) -> re.Pattern[str] | None:
    """What ends the HTML block that ``line`` (without its indentation) starts; None when it starts none.

    The end may be found on the same line; ``BLANK_LINE`` never is.
    """
    for start, end in _ENDS_WITH:
        if start.match(line):
            return end
    if _BLOCK_TAG.match(line) or (not in_paragraph and _LONE_TAG.match(line)):
        return BLANK_LINE
    return None
