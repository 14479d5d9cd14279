"""UTF-16 and UTF-32 without a byte order mark."""

import unicodedata
from typing import Final

_SAMPLE_BYTES: Final = 8192
#: Of the characters of a sample, so many are usual in texts, and fewer when their bytes are taken in the wrong order.
_USUAL: Final = 0.95
_USUAL_AT_MOST_OF_OTHER: Final = 0.9
_USUAL_RANGES: Final = (
    (0x20, 0x24F),
    (0x370, 0x5FF),
    (0x600, 0x6FF),
    (0x900, 0x97F),
    (0xE00, 0xE7F),
    (0x1E00, 0x1EFF),
    (0x2010, 0x203A),
    (0x20AC, 0x20AC),
    (0x3000, 0x30FF),
    (0x4E00, 0x9FFF),
    (0xAC00, 0xD7A3),
    (0xFF01, 0xFF5E),
)


def wide_encoding_of(content: bytes) -> str | None:
    """The encoding of bytes among which are NULs, if it is one with two or four bytes for most characters."""
    sample = content[:_SAMPLE_BYTES]
    quarters = [sample[place::4].count(0) for place in range(4)]
    fours = len(sample) // 4
    if fours and quarters[3] >= fours and quarters[2] >= fours * 0.9 and quarters[0] < fours * 0.1:
        return "utf-32-le"
    if fours and quarters[0] >= fours and quarters[1] >= fours * 0.9 and quarters[3] < fours * 0.1:
        return "utf-32-be"
    pairs = len(sample) // 2
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    if odd > pairs * 0.6 and even < pairs * 0.05:
        return "utf-16-le"
    if even > pairs * 0.6 and odd < pairs * 0.05:
        return "utf-16-be"
    little, big = _usual_share(sample, "utf-16-le"), _usual_share(sample, "utf-16-be")
    if little >= _USUAL and big <= _USUAL_AT_MOST_OF_OTHER:
        return "utf-16-le"
    return "utf-16-be" if big >= _USUAL and little <= _USUAL_AT_MOST_OF_OTHER else None


def _usual_share(sample: bytes, encoding: str) -> float:
    text = sample[: len(sample) // 2 * 2].decode(encoding, "replace")
    usual = sum(character in "\t\n\r" or _is_usual(character) for character in text)
    return usual / max(len(text), 1)


def _is_usual(character: str) -> bool:
    code = ord(character)
    return any(first <= code <= last for first, last in _USUAL_RANGES) and unicodedata.category(character) != "Cn"
