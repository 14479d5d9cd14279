"""Bytes to text: byte order marks, UTF-8, UTF-16 without a mark, and old code pages; line breaks become ``\\n``, and no NUL is left."""

import codecs
import re
from typing import Final

from docmill.documents.code_pages import decode_japanese_escapes, decode_old_code_page
from docmill.documents.wide_encodings import wide_encoding_of
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
#: So many errors in UTF-8 may be lines in an old code page; and of a text that cannot be read, so much is left out at most.
_MOST_LINES: Final = 1000
_MOST_UNREADABLE: Final = 0.2
_UTF8_CHARACTER: Final = re.compile(rb"[\xc3-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
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
        encoding_without_mark = wide_encoding_of(content)
        if encoding_without_mark is not None:
            return content.decode(encoding_without_mark, "replace")
        if not known_as_text:
            raise DocumentSkipped(SkipReason.BINARY, "its content is binary")
    if share_of_controls > _MOST_CONTROLS:
        raise DocumentSkipped(SkipReason.BINARY, "its content is binary: it has too many control characters for a text")
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return _decode_broken(content, share_of_controls)
    return text if "\x1b" not in text else decode_japanese_escapes(content) or text


def _decode_broken(content: bytes, share_of_controls: float) -> str:
    """UTF-8 with a few errors in it, UTF-8 with lines in an old code page, or an old code page."""
    text = content.decode(errors="replace")
    errors = text.count("\ufffd")
    whole = len(text) - len(text.encode("ascii", "ignore")) - errors
    if errors * 4 < whole:
        return text if errors > _MOST_LINES else _with_lines_in_old_code_page(content) or text
    if share_of_controls > _MOST_CONTROLS_IN_OLD_CODE_PAGE:
        raise DocumentSkipped(SkipReason.BINARY, "its content is binary: it is not valid in any encoding that was tried")
    if _UTF8_CHARACTER.search(content) and (mixed := _with_lines_in_old_code_page(content)):
        return mixed
    old = decode_old_code_page(content)
    if old is not None:
        return old
    if errors > _MOST_UNREADABLE * len(text):
        raise DocumentSkipped(SkipReason.BINARY, "its content is binary, or in an encoding that is not known here")
    return text


def _with_lines_in_old_code_page(content: bytes) -> str | None:
    """The text, where lines that are no UTF-8 are all in an old code page, as in files that several people have written in.

    None where there are none, where a line has both UTF-8 and bytes that are none, and for East Asian texts, in whose encodings short
    lines are UTF-8 by chance.
    """
    lines = content.split(b"\n")
    texts = [_utf8(line) for line in lines]
    old = [place for place, text in enumerate(texts) if text is None]
    if any(_UTF8_CHARACTER.search(lines[place]) for place in old) or not any(text is not None and not text.isascii() for text in texts):
        return None
    decoded = decode_old_code_page(b"\n".join([lines[place] for place in old]))
    if decoded is None or any(character >= "\u2e80" for character in decoded):
        return None
    for place, text in zip(old, decoded.split("\n"), strict=True):
        texts[place] = text
    return "\n".join([text or "" for text in texts])


def _utf8(line: bytes) -> str | None:
    try:
        return line.decode()
    except UnicodeDecodeError:
        return None
