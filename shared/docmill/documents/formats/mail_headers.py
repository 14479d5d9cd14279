"""What mail is encoded in: headers with encoded words or raw bytes, transfer encodings, and character sets under any name."""

import binascii
import codecs
import quopri
import re
from email.errors import HeaderParseError
from email.header import decode_header
from email.message import Message
from typing import Final

from docmill.documents.decoding import decode
from docmill.domain.errors import DocumentSkipped

_LONGEST: Final = 10_000
_NOT_BASE64: Final = re.compile(rb"[^A-Za-z0-9+/]+")
_LEAST_SHARE_OF_BASE64: Final = 0.8
_FOLDED: Final = re.compile(r"[ \t]*\n[ \t]*")
#: As mail programs call them, and as their texts are: supersets, and no directions of writing.
_CHARSETS: Final = {
    "iso-8859-1": "cp1252",
    "latin1": "cp1252",
    "iso-8859-8-i": "iso-8859-8",
    "iso-8859-8-e": "iso-8859-8",
    "iso-8859-6-i": "iso-8859-6",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "ks_c_5601-1987": "cp949",
    "euc-kr": "cp949",
    "shift_jis": "cp932",
    "windows-874": "cp874",
    "windows-31j": "cp932",
    "x-sjis": "cp932",
    "x-mac-roman": "mac_roman",
    "macintosh": "mac_roman",
    "utf8mb4": "utf-8",
}
#: Names that say nothing.
_UNKNOWN: Final = frozenset(["", "us-ascii", "ascii", "unknown-8bit", "x-unknown", "default", "utf-8", "utf8"])
#: In these every space and line break has a zero byte.
_WIDE: Final = ("utf-16", "utf16", "utf-32", "utf32")


def decoded_bytes(content: bytes, charset: str) -> str:
    """Bytes in a character set that may be wrong, misspelt or missing, as text."""
    name = charset.strip().strip("\"'").lower()
    if name not in _UNKNOWN and (b"\0" in content or not name.startswith(_WIDE)):
        try:
            return content.decode(codecs.lookup(_CHARSETS.get(name, name)).name)
        except (LookupError, ValueError):
            pass  # it is not what it says: it is found out from the bytes
    try:
        return decode(content, known_as_text=True)
    except DocumentSkipped:
        return content.decode("utf-8", "replace")


def header_text(value: object) -> str:
    """A header's value on one line, with its encoded words decoded; it has a character for each byte."""
    raw = _FOLDED.sub(" ", str(value)[:_LONGEST]).strip(" \t\n")
    if not raw.isascii():
        raw = decoded_bytes(raw.encode("latin-1", "replace"), "")
    if "=?" not in raw:
        return " ".join(raw.split())
    try:
        words = decode_header(raw)
    except (HeaderParseError, binascii.Error, ValueError):
        return " ".join(raw.split())
    decoded = "".join(word if isinstance(word, str) else decoded_bytes(word, charset or "") for word, charset in words)
    return " ".join((decoded if decoded.strip() else raw).split())


def transfer_decoded(content: bytes, encoding: str) -> bytes:
    """The bytes without their transfer encoding; what is not encoded so stays as it is."""
    if encoding == "quoted-printable":
        return quopri.decodestring(content)
    if encoding != "base64":
        return content
    plain = _NOT_BASE64.sub(b"", content)
    if len(plain) < _LEAST_SHARE_OF_BASE64 * len(content.translate(None, b" \t\n")):
        return content
    try:
        return binascii.a2b_base64(plain[: len(plain) // 4 * 4] if len(plain) % 4 == 1 else plain + b"=" * (-len(plain) % 4))
    except binascii.Error:
        return content


def filename_of(part: Message) -> str:
    """What an attachment is called; "" where it has no name."""
    try:
        name = part.get_filename("")
    except (LookupError, ValueError, TypeError):
        return ""
    return header_text(name)[:200]
