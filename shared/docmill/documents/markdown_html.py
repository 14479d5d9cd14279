"""HTML blocks of Markdown: where they start and what ends them (CommonMark 0.31, section 4.6), and the headings in them."""

import re
from html import unescape
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
_HEADING_START: Final = re.compile(r"<h([1-6])(?:\s[^<>]*)?>", re.IGNORECASE)
_HEADING_END: Final = re.compile(r"</h[1-6]\s*>", re.IGNORECASE)
_TAG: Final = re.compile(r"<[^<>]*>")
_DESCRIBED: Final = re.compile(r"""<img\s[^<>]*?\balt\s*=\s*(?:"([^"<>]*)"|'([^'<>]*)')""", re.IGNORECASE)


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


def html_heading_level(line: str) -> int:
    """The level of the heading that begins in ``line`` of an HTML block; 0 when none does."""
    start = _HEADING_START.search(_without_comments(line)) if "<h" in line or "<H" in line else None
    return 0 if start is None else int(start[1])


def ends_html_heading(line: str) -> bool:
    """Whether a heading that is open before or in ``line`` ends in it."""
    return "</" in line and _HEADING_END.search(line) is not None


def html_heading_text(block: str) -> str:
    """What the first heading in ``block`` says, on one line: its text, else what its pictures show; "" for neither."""
    block = _without_comments(block)
    start = _HEADING_START.search(block)
    end = None if start is None else _HEADING_END.search(block, start.end())
    if start is None or end is None:
        return ""
    inner = block[start.end() : end.start()]
    text = unescape(_TAG.sub(" ", inner)) if inner.strip() else ""
    return " ".join((text if text.strip() else " ".join(a or b for a, b in _DESCRIBED.findall(inner))).split())


def _without_comments(html: str) -> str:
    parts, position = [], 0
    while (start := html.find("<!--", position)) >= 0 and (end := html.find("-->", start)) >= 0:
        parts.append(html[position:start])
        position = end + len("-->")
    return "".join(parts) + html[position:]
