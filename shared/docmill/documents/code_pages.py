"""Texts in encodings from before Unicode: the one they declare, an East Asian one when the bytes clearly say so, else Windows-1252."""

import codecs
import re
from typing import Final

_SAMPLE_BYTES: Final = 8192
_FEWEST_HIGH_BYTES: Final = 24
_KANA: Final = re.compile("[\u3040-\u30ff]")
_HANGUL: Final = re.compile("[\uac00-\ud7a3]")
#: Encoding, characters that no text in it is without, and their least share among those that are not ASCII.
_BY_SCRIPT: Final = (("shift_jis", _KANA, 0.2), ("euc_jp", _KANA, 0.2), ("euc_kr", _HANGUL, 0.7))
#: Encoding, the set in which common characters come first, and the first bytes of their part of it (with punctuation).
_BY_COMMONNESS: Final = (("gb18030", "gb2312", (0xA1, 0xA3, 0xB0, 0xD7)), ("big5", "big5", (0xA1, 0xA3, 0xA4, 0xC6)))
_LEAST_COMMON: Final = 0.8
_DECLARATION_BYTES: Final = 1024
#: ``<meta charset=...>``, ``<?xml ... encoding="...">``, ``# -*- coding: ... -*-`` (HTML Standard 13.2.3.2, XML 1.0 4.3.3, PEP 263).
_DECLARATION: Final = re.compile(rb"(?:charset|coding)\s*[:=]\s*[\"']?\s*([A-Za-z0-9._-]{2,40})", re.IGNORECASE)
#: Python's names of encodings that hold ASCII. Latin-1 is not among them: what declares it is Windows-1252 in practice.
_CODE_PAGE: Final = re.compile(r"cp\d+|iso8859-(?!1$)\d+|koi8-\w|mac-\w+|shift_jis\w*|euc_\w+|gb\w+|big5\w*|johab|tis-620|ptcp154")


def decode_old_code_page(content: bytes) -> str:
    """The text of bytes that are not UTF-8; never fails."""
    return _declared(content) or _east_asian(content) or _western(content)


def _declared(content: bytes) -> str | None:
    declaration = _DECLARATION.search(content[:_DECLARATION_BYTES])
    if declaration is None:
        return None
    try:
        encoding = codecs.lookup(declaration[1].decode()).name
    except LookupError:
        return None
    return _strictly(content, encoding) if _CODE_PAGE.fullmatch(encoding) else None


def _east_asian(content: bytes) -> str | None:
    sample = content[:_SAMPLE_BYTES]
    high = len(sample) - len(sample.decode("ascii", "ignore"))
    if high < max(_FEWEST_HIGH_BYTES, 0.3 * len(sample)):
        return None
    for encoding, script, share in _BY_SCRIPT:
        text = _strictly(content, encoding)
        others = _beyond_ascii(text)
        if text and len(script.findall(others)) >= share * len(others):
            return text
    for encoding, ordered, (first, last, first_common, last_common) in _BY_COMMONNESS:
        text = _strictly(content, encoding)
        others = _beyond_ascii(text)
        leads = others.encode(ordered, "ignore")[0::2]
        common = sum(first <= lead <= last or first_common <= lead <= last_common for lead in leads)
        if text and common >= _LEAST_COMMON * len(others):
            return text
    return None


def _strictly(content: bytes, encoding: str) -> str:
    try:
        return content.decode(encoding)
    except UnicodeDecodeError:
        return ""


def _beyond_ascii(text: str) -> str:
    return "".join(character for character in text[:_SAMPLE_BYTES] if character > "\x7f")


def _western(content: bytes) -> str:
    """Windows-1252; the five bytes that it leaves undefined are read as in Latin-1."""
    try:
        return content.decode("cp1252")
    except UnicodeDecodeError:
        return "".join(bytes([byte]).decode("cp1252", "ignore") or chr(byte) for byte in content)
