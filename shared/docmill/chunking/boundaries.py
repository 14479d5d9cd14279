"""Where texts are best cut: the boundaries of each kind of text, the best first."""

import re
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class End:
    """Where a piece may end.

    Attributes:
        pattern: matches up to the end of the last such place after which something follows.
        anywhere: such a place counts however short the piece becomes; otherwise it must be in its second half.
        stop: matches where what follows ends; the place counts only if that fits into a piece.
    """

    pattern: re.Pattern[str]
    anywhere: bool = False
    stop: re.Pattern[str] | None = None


@dataclass(frozen=True, slots=True)
class Boundaries:
    """Where a kind of text is best cut.

    Attributes:
        ends: where a piece may end, the best first.
        inside: where a word that does not fit into a piece may be parted, the best first.
        starts: where an overlap may begin, the best first; each matches the place before it.
    """

    ends: tuple[End, ...]
    inside: tuple[End, ...]
    starts: tuple[re.Pattern[str], ...]


def _last(boundary: str) -> re.Pattern[str]:
    return re.compile(rf"(?s:.*)(?:{boundary})(?=(?s:.))")


_SENTENCE_END: Final = r"[.!?…][\"'”’)\]]*\s|[。！？｡]+[”’」』）]*"
_LINE: Final = _last(r"\n")
_BLANK_LINE: Final = _last(r"\n[ \t]*\n")
_BEFORE_ITEM: Final = _last(r"\n(?=(?:[-*+•]|\d{1,9}[.)])[ \t])")
_WORD: Final = _last(r"\s|[、，；：]")
_WORDS: Final = (End(_WORD), End(_WORD, anywhere=True, stop=re.compile(r"\s|[、，；：]")))
_INSIDE: Final = (End(_last(r"[,;:)\]}>/|&=_-]")),)

PROSE: Final = Boundaries(
    ends=(End(_BLANK_LINE), End(_BEFORE_ITEM), End(_LINE), End(_last(_SENTENCE_END)), *_WORDS),
    inside=_INSIDE,
    starts=(re.compile(rf"(?:\n|{_SENTENCE_END})\s*(?=\S)"), re.compile(r"(?:\s+|[、，；：])(?=\S)")),
)
CODE: Final = Boundaries(
    ends=(
        End(_last(r"\n[ \t]*\n(?=[^\s)\]}])")),  # a definition at the left margin
        End(_last(r"\n[ \t]*\n(?=(?: {1,4}|\t)[^\s)\]}])")),  # a member
        End(_last(r"\n(?=[^\s)\]}])")),
        End(_BLANK_LINE),
        End(_LINE),
        End(_LINE, anywhere=True),
        *_WORDS,
    ),
    inside=_INSIDE,
    starts=(re.compile(r"\n(?=[^\n])"),),
)
#: A table, a list or fenced code: lines are what it consists of.
LINES: Final = Boundaries(
    ends=(End(_BLANK_LINE), End(_BEFORE_ITEM), End(_LINE), End(_LINE, anywhere=True), *_WORDS), inside=_INSIDE, starts=CODE.starts
)
#: A table, whose rows are worth the same.
ROWS: Final = Boundaries(ends=(End(_LINE, anywhere=True), *_WORDS), inside=_INSIDE, starts=())
#: Cut where the size is reached.
ANYWHERE: Final = Boundaries((), (), ())
