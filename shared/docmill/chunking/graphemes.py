"""Where a text may be cut without parting what a reader sees as one character."""

import unicodedata
from typing import Final

_ZERO_WIDTH_JOINER: Final = "\u200d"
#: No character below it joins the one before it.
_FIRST_JOINING: Final = "\u0300"


def cut_at_or_before(text: str, position: int, lowest: int) -> int:
    """The last place from ``lowest`` + 1 to ``position`` where ``text`` may be cut.

    Combining marks, variation selectors, emoji modifiers, joined emoji, flags and Hangul jamo stay with what they belong to. When there is
    no such place, as in a letter with a thousand accents, it is ``position``.
    """
    place = position
    while place > lowest:
        if _may_cut(text, place, lowest):
            return place
        place -= 1
    return position


def _may_cut(text: str, place: int, lowest: int) -> bool:
    if place >= len(text):
        return True
    after, before = text[place], text[place - 1]
    if after < _FIRST_JOINING:
        return not (before == "\r" and after == "\n")
    if before == _ZERO_WIDTH_JOINER or _joins_the_one_before(after):
        return False
    if _is_regional_indicator(after) and _is_regional_indicator(before):
        return _indicators_before(text, place, lowest) % 2 == 0
    return not ("\u1100" <= before <= "\u11ff" and "\u1160" <= after <= "\u11ff")


def _joins_the_one_before(character: str) -> bool:
    return (
        character == _ZERO_WIDTH_JOINER
        or "\U0001f3fb" <= character <= "\U0001f3ff"
        or "\U000e0020" <= character <= "\U000e007f"
        or unicodedata.category(character).startswith("M")
    )


def _is_regional_indicator(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _indicators_before(text: str, place: int, lowest: int) -> int:
    """How many regional indicators stand in a row before ``place``; two of them are one flag."""
    start = place
    while start > lowest and _is_regional_indicator(text[start - 1]):
        start -= 1
    return place - start


def cut_at_or_after(text: str, position: int, highest: int, start: int) -> int:
    """The first place from ``position`` to ``highest`` where ``text`` may be cut, ``highest`` at the latest.

    Args:
        start: a place before ``position`` where it may be cut.
    """
    return next((place for place in range(position, highest) if _may_cut(text, place, start)), highest)
