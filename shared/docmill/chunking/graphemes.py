"""Where a text may be cut without parting what a reader sees as one character: a grapheme cluster (Unicode Standard Annex 29).

Every boundary that the annex forbids is respected. A few more are, where the properties that Python knows are coarser than the annex's:
before every mark, and between a virama of any script and the letter after it.
"""

import unicodedata
from typing import Final

_ZERO_WIDTH_NON_JOINER: Final = "\u200c"
_ZERO_WIDTH_JOINER: Final = "\u200d"
#: No character below it joins another, but for a line feed.
_FIRST_JOINING: Final = "\u0300"
_VIRAMA_CLASS: Final = 9
#: Marks by their use that are letters by their category: Thai and Lao AM, and the sound marks of narrow Katakana.
_JOINING_LETTERS: Final = frozenset("\u0e33\u0eb3\uff9e\uff9f")
#: They belong to what follows (Grapheme_Cluster_Break=Prepend).
_PREPENDED: Final = frozenset(
    "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\u0d4e\u1cf5\u1cf6\U000110bd\U000110cd\U000111c2\U000111c3\U000113d1"
    "\U0001193f\U00011941\U00011a3a\U00011a84\U00011a85\U00011a86\U00011a87\U00011a88\U00011a89\U00011d46\U00011f02"
)


def cut_at_or_before(text: str, position: int, lowest: int) -> int:
    """The last place from ``lowest`` + 1 to ``position`` where ``text`` may be cut.

    When there is no such place, as in a letter with a thousand accents, it is ``position``.

    Args:
        lowest: where it may be cut.
    """
    for place in range(position, lowest, -1):
        if _may_cut(text, place, lowest):
            return place
    return position


def cut_at_or_after(text: str, position: int, highest: int, start: int) -> int:
    """The first place from ``position`` to ``highest`` where ``text`` may be cut, ``highest`` at the latest.

    Args:
        start: a place before ``position`` where it may be cut.
    """
    return next((place for place in range(position, highest) if _may_cut(text, place, start)), highest)


def _may_cut(text: str, place: int, lowest: int) -> bool:
    if place >= len(text):
        return True
    before, after = text[place - 1], text[place]
    if after < _FIRST_JOINING:
        if after < " ":
            return not (before == "\r" and after == "\n")
        return before != _ZERO_WIDTH_JOINER and before not in _PREPENDED
    if before in "\n\r" or unicodedata.category(before) == "Cc":
        return True
    if before == _ZERO_WIDTH_JOINER or before in _PREPENDED or _joins_the_one_before(after):
        return False
    if _is_regional_indicator(after) and _is_regional_indicator(before):
        return _indicators_before(text, place, lowest) % 2 == 0
    if _is_hangul(after) and _is_hangul(before):
        return not _is_one_syllable(before, after)
    return not (_joins_the_one_before(before) and unicodedata.category(after) == "Lo" and _follows_virama(text, place, lowest))


def _joins_the_one_before(character: str) -> bool:
    return (
        character in (_ZERO_WIDTH_JOINER, _ZERO_WIDTH_NON_JOINER)
        or "\U0001f3fb" <= character <= "\U0001f3ff"
        or "\U000e0020" <= character <= "\U000e007f"
        or _is_mark(character)
        or character in _JOINING_LETTERS
    )


def _is_mark(character: str) -> bool:
    return unicodedata.category(character)[0] == "M"


def _is_regional_indicator(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _indicators_before(text: str, place: int, lowest: int) -> int:
    """How many regional indicators stand in a row before ``place``; two of them are one flag."""
    start = place
    while start > lowest and _is_regional_indicator(text[start - 1]):
        start -= 1
    return place - start


def _follows_virama(text: str, place: int, lowest: int) -> bool:
    """Whether a virama is in what belongs to the letter before ``place``: it makes one sign of the consonants around it."""
    start = place
    while start > lowest and _joins_the_one_before(text[start - 1]):
        start -= 1
        if unicodedata.combining(text[start]) == _VIRAMA_CLASS:
            return True
    return False


def _is_hangul(character: str) -> bool:
    return "\u1100" <= character <= "\u11ff" or "\ua960" <= character <= "\ua97c" or "\uac00" <= character <= "\ud7fb"


def _is_one_syllable(before: str, after: str) -> bool:
    """Whether two Hangul characters are parts of one syllable: leading consonants, vowels, trailing consonants."""
    first, second = _parts(before), _parts(after)
    return bool(first) and bool(second) and "LVT".index(first[-1]) <= "LVT".index(second[0]) and not (first[-1] == "L" and second == "T")


def _parts(character: str) -> str:
    """What a Hangul character consists of: ``L``, ``V``, ``T``, ``LV`` or ``LVT``; empty for one that is not assigned."""
    if "\uac00" <= character <= "\ud7a3":
        return "LV" if (ord(character) - 0xAC00) % 28 == 0 else "LVT"
    if character <= "\u115f" or "\ua960" <= character <= "\ua97c":
        return "L"
    if character <= "\u11a7" or "\ud7b0" <= character <= "\ud7c6":
        return "V"
    return "T" if character <= "\u11ff" or "\ud7cb" <= character <= "\ud7fb" else ""
