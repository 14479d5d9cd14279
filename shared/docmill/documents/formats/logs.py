"""Logs: the text without colours; entries of several lines, such as stack traces, are kept whole."""

import re
from itertools import accumulate
from typing import Final

from docmill.documents.extracted import Extracted
from docmill.domain.documents import Outline, WholeBlock

#: Sequences that colour a terminal's text and move its cursor (ECMA-48, 5.4).
_ESCAPES: Final = re.compile(r"\x1b(?:\[[0-?]{0,40}[ -/]{0,4}[@-~]|\][^\x07\x1b\n]{0,200}(?:\x07|\x1b\\))")
_ENTRY: Final = re.compile(
    r"[\[<(]{0,2}(?:\d{4}[-/.]\d\d[-/.]\d\d[T ,]|\d\d?[/.-](?:\d\d|[A-Z][a-z]{2})[/.-]\d{4}|(?:[A-Z][a-z]{2} ){1,2} ?\d{1,2} \d\d:\d\d"
    r"|\d\d:\d\d:\d\d|\d{10}\.\d|(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|CRITICAL|FATAL)\b|[\w.:-]{1,60} \S+ \S+ \[\d\d/[A-Z])"
)
_MOST_LINES: Final = 300
_MOST_BLOCKS: Final = 50_000
_LEAST_SHARE: Final = 0.02


def without_colours(text: str) -> str:
    """The text without what colours it and moves the cursor in a terminal; lines stay as they are."""
    return _ESCAPES.sub("", text) if "\x1b" in text else text


def read_log(text: str) -> Extracted:
    """The text, line by line that of the file."""
    text = without_colours(text)
    lines = text.split("\n")
    entries = [number for number, line in enumerate(lines) if _ENTRY.match(line)]
    if len(entries) < max(2, _LEAST_SHARE * len(lines)):
        return Extracted(text)
    starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
    blocks = []
    for first, after in zip(entries, [*entries[1:], len(lines)], strict=True):
        if 1 < after - first <= _MOST_LINES:
            blocks.append(WholeBlock(starts[first], min(starts[after], len(text))))
            if len(blocks) >= _MOST_BLOCKS:
                break
    return Extracted(text, Outline((), blocks))
