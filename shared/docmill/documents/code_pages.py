"""Texts in encodings from before Unicode: the one that they declare, else the one in which they are likeliest to be a text."""

import codecs
import re
from collections.abc import Mapping
from typing import Final

from docmill.documents.letter_statistics import bits_of_places, east_asian_bits, places_in

_SAMPLE_BYTES: Final = 3000
#: By so much of it the encodings are found that need not be looked at further.
_FIRST_BYTES: Final = 400
_BEFORE_BYTES: Final = 100
_HIGH_BYTE: Final = re.compile(rb"[\x80-\xff]")
_HIGH_BYTES: Final = bytes(range(0x80, 0x100))
_DECLARATION_BYTES: Final = 1024
#: ``<meta charset=...>``, ``<?xml ... encoding="...">``, ``# -*- coding: ... -*-`` (HTML Standard 13.2.3.2, XML 1.0 4.3.3, PEP 263).
_DECLARATION: Final = re.compile(rb"(?:charset|coding)\s*[:=]\s*[\"']?\s*(?:x-)?([A-Za-z0-9._-]{2,40})", re.IGNORECASE)
#: Python's names of encodings that hold ASCII. Latin-1 is not among them: what declares it is Windows-1252 in practice.
_CODE_PAGE: Final = re.compile(r"cp\d+|iso8859-(?!1$)\d+|koi8-\w|mac-\w+|shift_jis\w*|euc_\w+|gb\w+|big5\w*|johab|tis-620|ptcp154")
#: What is read in which larger encoding, as browsers do (Encoding Standard 4.2).
_LARGER: Final = {"shift_jis": "cp932", "gb2312": "gb18030", "gbk": "gb18030", "euc_kr": "cp949", "tis-620": "cp874", "big5": "big5hkscs"}
#: By which encoding one that is declared is judged, where they are nearly the same.
_JUDGED_AS: Final = {
    "shift_jis": "cp932",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "euc_kr": "cp949",
    "tis-620": "cp874",
    "big5hkscs": "big5",
    "cp950": "big5",
    "iso8859-8": "cp1255",
    "iso8859-9": "cp1254",
    "iso8859-13": "cp1257",
    "iso8859-15": "cp1252",
}
_JAPANESE_ESCAPES: Final = (b"\x1b$B", b"\x1b$@")

_WESTERN: Final = ("en", "fr", "de", "es", "pt", "it", "ca", "sv", "da", "fi", "is")
_CENTRAL: Final = ("pl", "cs", "sk", "hu", "ro", "hr", "de")
_CYRILLIC: Final = ("ru", "uk", "bg", "sr")
#: Encodings with one byte for each character, and the languages that are written in them; of equals the first is taken.
_SINGLE_BYTE: Final = {
    "cp1252": _WESTERN,
    "cp1250": _CENTRAL,
    "cp1251": _CYRILLIC,
    "cp1253": ("el",),
    "cp1254": ("tr",),
    "cp1255": ("he",),
    "cp1256": ("ar",),
    "cp1257": ("lt", "lv", "et"),
    "cp874": ("th",),
    "iso8859_2": _CENTRAL,
    "iso8859_5": _CYRILLIC,
    "iso8859_6": ("ar",),
    "iso8859_7": ("el",),
    "koi8_r": ("ru",),
    "koi8_u": ("uk",),
    "cp866": _CYRILLIC,
    "mac_cyrillic": _CYRILLIC,
    "mac_roman": _WESTERN,
    "cp850": _WESTERN,
    "cp437": _WESTERN,
    "cp852": _CENTRAL,
    "cp737": ("el",),
    "iso8859_3": ("eo",),
}
_EAST_ASIAN: Final = ("cp932", "euc_jp", "cp949", "gb18030", "big5")
#: Bits that an encoding must save before it is believed, the rarer the more.
_DOUBT_BITS: Final = {"cp1252": 0.0, "cp1250": 3.0, "cp1251": 3.0, "cp932": 2.0, "euc_jp": 3.0, "gb18030": 3.0, "big5": 3.0, "cp949": 3.0}
_DOUBT_BITS_ELSE: Final = 6.0
#: Bits for each character above which a text is none in any language that is known here.
_IMPLAUSIBLE_BITS: Final = 9.5
_FEWEST_TO_JUDGE: Final = 24
#: A declared encoding is believed up to so many times the bits of the likeliest, and so many more.
_BELIEVED_TIMES: Final = 1.5
_BELIEVED_BITS: Final = 20.0
#: Of so many characters beyond ASCII one may be broken.
_MOST_BROKEN_OF: Final = 50


def decode_old_code_page(content: bytes) -> str | None:
    """The text of bytes that are not UTF-8; None when they are no text in any encoding that is known here.

    An encoding that the text declares is taken, unless the text is far likelier to be in another one.
    """
    sample = _lines_beyond_ascii(content)
    bits = _bits_by_encoding(sample)
    declared = _declared(content)
    if declared is not None:
        known_as = _JUDGED_AS.get(declared, declared.replace("-", "_"))
        if _bits_of_declared(sample, known_as, bits) <= _BELIEVED_TIMES * min(bits.values()) + _BELIEVED_BITS:
            text = _nearly_whole(content, _LARGER.get(declared, declared))
            if text is not None:
                return text
    return _likeliest(content, sample, bits)


def decode_japanese_escapes(content: bytes) -> str | None:
    """The text of ASCII bytes that switch to Japanese characters as ISO-2022-JP does; None where they do not."""
    if b"\x1b" in content and any(escape in content for escape in _JAPANESE_ESCAPES):
        return _nearly_whole(content, "iso2022_jp_2")
    return None


def _declared(content: bytes) -> str | None:
    """Python's name of the encoding."""
    declaration = _DECLARATION.search(content[:_DECLARATION_BYTES])
    if declaration is None:
        return None
    try:
        encoding = codecs.lookup(declaration[1].decode()).name
    except LookupError:
        return None
    return encoding if _CODE_PAGE.fullmatch(encoding) else None


def _likeliest(content: bytes, sample: bytes, bits: Mapping[str, float]) -> str | None:
    scores = {encoding: score + _DOUBT_BITS.get(encoding, _DOUBT_BITS_ELSE) for encoding, score in bits.items()}
    high = len(sample) - len(sample.translate(None, _HIGH_BYTES))
    for encoding in sorted(scores, key=lambda one: scores[one]):
        if high >= _FEWEST_TO_JUDGE and scores[encoding] > high * _IMPLAUSIBLE_BITS:
            return None
        text = _western(content) if encoding == "cp1252" else _nearly_whole(content, encoding)
        if text is not None:
            return text
    return None


def _bits_by_encoding(sample: bytes) -> dict[str, float]:
    """Of the encodings that are not far behind after the first bytes of the sample."""
    first = {encoding: _bits(sample[:_FIRST_BYTES], encoding) for encoding in (*_SINGLE_BYTE, *_EAST_ASIAN)}
    if len(sample) <= _FIRST_BYTES:
        return first
    most = _BELIEVED_TIMES * min(first.values()) + 2 * _BELIEVED_BITS
    return {encoding: _bits(sample, encoding) for encoding, bits in first.items() if bits <= most}


def _bits_of_declared(sample: bytes, encoding: str, bits: Mapping[str, float]) -> float:
    """0 for one of which nothing is known here."""
    known = encoding in _SINGLE_BYTE or encoding in _EAST_ASIAN
    return bits[encoding] if encoding in bits else _bits(sample, encoding) if known else 0.0


def _bits(sample: bytes, encoding: str) -> float:
    if encoding in _EAST_ASIAN:
        return east_asian_bits(sample.decode(encoding, "replace"), encoding)
    text = _western(sample) if encoding == "cp1252" else sample.decode(encoding, "replace")
    places = places_in(text)
    return min(bits_of_places(places, language) for language in _SINGLE_BYTE[encoding])


def _lines_beyond_ascii(content: bytes) -> bytes:
    """Lines that are not all ASCII: only they tell. Each begins at a character, since all before its first other byte is ASCII."""
    lines: list[bytes] = []
    taken = place = 0
    while taken < _SAMPLE_BYTES and (high := _HIGH_BYTE.search(content, place)) is not None:
        first = high.start()
        start = max(content.rfind(b"\n", place, first) + 1, place, first - _BEFORE_BYTES)
        end = content.find(b"\n", first, first + _SAMPLE_BYTES - taken)
        lines.append(content[start : end + 1 if end >= 0 else first + _SAMPLE_BYTES - taken])
        taken += len(lines[-1])
        place = content.find(b"\n", first) + 1 or len(content)
    return b"".join(lines)


def _nearly_whole(content: bytes, encoding: str) -> str | None:
    """The text, in which few characters may be broken; None where they are more."""
    text = content.decode(encoding, "replace")
    broken = text.count("\ufffd")
    return text if broken * _MOST_BROKEN_OF <= len(text) - len(text.encode("ascii", "ignore")) else None


def _western(content: bytes) -> str:
    """Windows-1252; the five bytes that it leaves undefined are read as in Latin-1."""
    try:
        return content.decode("cp1252")
    except UnicodeDecodeError:
        return content.decode("cp1252", "undefined_as_latin_1")


def _undefined_as_latin_1(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return error.object[error.start : error.end].decode("latin-1"), error.end


codecs.register_error("undefined_as_latin_1", _undefined_as_latin_1)
