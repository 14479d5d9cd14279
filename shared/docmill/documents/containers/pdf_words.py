"""The words of a PDF page, with where they stand; the only module that asks pdfium about text."""

import ctypes
import re
from collections.abc import Callable
from math import pi
from typing import Any, Final, NamedTuple

_FONT_NAME_BYTES: Final = 128
_BOLD: Final = re.compile(r"bold|black|heavy|demi", re.IGNORECASE)
#: How pdfium writes a hyphen at the end of a line.
HYPHEN_MARKS: Final = "\x02\ufffe\xad"
#: pdfium puts the two parts of a parted word together, with a mark between them.
_WORD: Final = re.compile(r"[^\s\x02\ufffe]+[\x02\ufffe]?|[\x02\ufffe]")


class Word(NamedTuple):
    """A word as it is seen: ``left`` < ``right`` and ``bottom`` < ``top`` in points, from the lower left corner of the page as it is shown.

    Attributes:
        place: of its first character in the page, for ``Style``.
        last: of its last character.
        is_upright: it is written from the foot of the page to its head, or the other way.
    """

    text: str
    left: float
    bottom: float
    right: float
    top: float
    place: int
    last: int
    is_upright: bool = False


class Style(NamedTuple):
    """How characters are set: their size in points, and whether they are bold."""

    size: float
    bold: bool


class PageText:
    """The text layer of one page; close it."""

    def __init__(self, pdfium: Any, page: Any) -> None:
        """``pdfium`` is ``pypdfium2.raw``, ``page`` a page of ``pypdfium2``."""
        self._pdfium = pdfium
        self._page = page
        self._turn = page.get_rotation()
        self._text_page = page.get_textpage()
        self._raw = self._text_page.raw

    def close(self) -> None:
        """Gives its memory back."""
        self._text_page.close()

    def words(self) -> list[Word]:
        """Its words in the order in which they are drawn."""
        units, place_of = self._units()
        words = []
        box, turned = self._box, self._turned
        for match in _WORD.finditer(units):
            first, last = place_of(match.start()), place_of(match.end() - 1)
            if first < 0 or last < 0:
                continue
            left, bottom, right, top = box(first)
            if last != first:
                other = box(last)
                left, bottom, right, top = min(left, other[0]), min(bottom, other[1]), max(right, other[2]), max(top, other[3])
            left, bottom, right, top = turned(left, bottom, right, top)
            upright = last != first and top - bottom > right - left and self._is_upright(first)
            words.append(Word(_joined(match[0]), left, bottom, right, top, first, last, upright))
        return words

    def style(self, first: int, last: int) -> Style:
        """How a line is set whose first and last characters stand there."""
        style = self._style(first)
        return style if not style.bold or self._style(last).bold else Style(style.size, False)

    def _style(self, place: int) -> Style:
        matrix = self._pdfium.FS_MATRIX()
        scale = 1.0
        if self._pdfium.FPDFText_GetMatrix(self._raw, place, matrix):
            scale = (matrix.b**2 + matrix.d**2) ** 0.5
        name = ctypes.create_string_buffer(_FONT_NAME_BYTES)
        flags = ctypes.c_int()
        length = self._pdfium.FPDFText_GetFontInfo(self._raw, place, name, _FONT_NAME_BYTES, flags)
        bold = 0 < length <= _FONT_NAME_BYTES and _BOLD.search(name.value.decode("utf-8", "replace")) is not None
        return Style(abs(self._pdfium.FPDFText_GetFontSize(self._raw, place) * scale), bold)

    def _units(self) -> tuple[str, Callable[[int], int]]:
        """The page's text, one character for each UTF-16 unit, and where in the page each of them stands."""
        count = self._pdfium.FPDFText_CountChars(self._raw)
        if count <= 0:
            return "", lambda index: index
        buffer = ctypes.create_string_buffer((count + 1) * 2)
        written = self._pdfium.FPDFText_GetText(self._raw, 0, count, ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort)))
        data = buffer.raw[: max(0, written - 1) * 2]
        text = data.decode("utf-16-le", "surrogatepass")
        if len(text) * 2 != len(data):
            text = "".join(map(chr, memoryview(data).cast("H")))
        if len(text) == count:
            return text, lambda index: index
        return text, lambda index: int(self._pdfium.FPDFText_GetCharIndexFromTextIndex(self._raw, index))

    def _box(self, place: int) -> tuple[float, float, float, float]:
        rect = self._pdfium.FS_RECTF()
        if not self._pdfium.FPDFText_GetLooseCharBox(self._raw, place, rect):
            return 0.0, 0.0, 0.0, 0.0
        return rect.left, rect.bottom, rect.right, rect.top

    def _is_upright(self, place: int) -> bool:
        angle: float = self._pdfium.FPDFText_GetCharAngle(self._raw, place)
        return angle >= 0 and bool((round(angle / (pi / 2)) + self._turn // 90) % 2)

    def _turned(self, left: float, bottom: float, right: float, top: float) -> tuple[float, float, float, float]:
        """The box on the page as it is shown; only the order of places matters, so they may be negative."""
        match self._turn:
            case 90:
                return bottom, -right, top, -left
            case 180:
                return -right, -top, -left, -bottom
            case 270:
                return -top, left, -bottom, right
            case _:
                return left, bottom, right, top


def _joined(units: str) -> str:
    """Pairs of surrogates as the one character that they are."""
    return units.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace") if not units.isascii() else units
