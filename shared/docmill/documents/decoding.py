"""Bytes to text: byte order marks, UTF-8, UTF-16 without a mark, and old code pages; line breaks become ``\\n``, and no NUL is left."""

import codecs
import re
from typing import Final

from docmill.documents.code_pages import decode_old_code_page
from docmill.domain.errors import DocumentSkipped, SkipReason

_MARKS: Final = (
    # UTF-32 first: the mark of UTF-32-LE begins with that of UTF-16-LE.
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SAMPLE_BYTES: Final = 8192
_TEXT_CONTROLS: Final = b"\t\n\v\f\r\b\x1b"
_CONTROLS: Final = bytes(set(range(0x20)) - set(_TEXT_CONTROLS)) + b"\x7f"
_MOST_CONTROLS: Final = 0.1
_MOST_CONTROLS_IN_OLD_CODE_PAGE: Final = 0.005
_CARRIAGE_RETURN: Final = re.compile(r"\r\n?")


def decode(content: bytes, *, known_as_text: bool) -> str:
    """The text of ``content``.

    Args:
        known_as_text: the file's name says that it is text; then a few control characters do not make it binary.

    Raises:
        DocumentSkipped: it is not text.
    """
    text = _decode(content, known_as_text=known_as_text)
    if "\0" in text:
        text = text.replace("\0", " ")
    return _CARRIAGE_RETURN.sub("\n", text) if "\r" in text else text


def _decode(content: bytes, *, known_as_text: bool) -> str:
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            return content[len(mark) :].decode(encoding, "replace")
    sample = content[:_SAMPLE_BYTES]
    share_of_controls = (len(sample) - len(sample.translate(None, _CONTROLS))) / max(len(sample), 1)
    if b"\0" in sample:
        encoding_without_mark = _utf16_without_mark(sample)
        if encoding_without_mark is not None:
            return content.decode(encoding_without_mark, "replace")
        if not known_as_text:
            raise DocumentSkipped(SkipReason.BINARY, "its content is binary")
    if share_of_controls > _MOST_CONTROLS:
        raise DocumentSkipped(SkipReason.BINARY, "its content is binary: it has too many control characters for a text")
    try:
        return content.decode()
    except UnicodeDecodeError:
        return _decode_broken(content, share_of_controls)


def _decode_broken(content: bytes, share_of_controls: float) -> str:
    """UTF-8 with a few errors in it, or an old code page."""
    text = content.decode(errors="replace")
    others = len(text) - len(text.encode("ascii", "ignore"))
    errors = text.count("\ufffd")
    if errors * 4 < others - errors:
        return text
    if share_of_controls > _MOST_CONTROLS_IN_OLD_CODE_PAGE:
        raise DocumentSkipped(SkipReason.BINARY, "its content is binary: it is not valid in any encoding that was tried")
    return decode_old_code_page(content)


def _utf16_without_mark(sample: bytes) -> str | None:
    """Text in Latin letters has a NUL in nearly every second place."""
    pairs = len(sample) // 2
    even = sample[0::2].count(0)
    odd = sample[1::2].count(0)
    if odd > pairs * 0.6 and even < pairs * 0.05:
        return "utf-16-le"
    if even > pairs * 0.6 and odd < pairs * 0.05:
        return "utf-16-be"
    return None
