"""What a file's bytes say that it is: formats that are no text, or that are text only inside."""

from typing import Final

from docmill.documents.file_types import FileType
from docmill.domain.documents import DocumentKind

#: By extension, formats that are read from their bytes.
_BYTES_MIMES: Final = {
    "pdf": "application/pdf",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "docm": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "dotx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "dotm": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "pptm": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "ppsm": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "potx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "potm": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "ppsx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "xlsm": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "xlsb": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "xltx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "xltm": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "odt": "application/vnd.oasis.opendocument.text",
    "ott": "application/vnd.oasis.opendocument.text",
    "odm": "application/vnd.oasis.opendocument.text",
    "ods": "application/vnd.oasis.opendocument.spreadsheet",
    "ots": "application/vnd.oasis.opendocument.spreadsheet",
    "odp": "application/vnd.oasis.opendocument.presentation",
    "otp": "application/vnd.oasis.opendocument.presentation",
    "epub": "application/epub+zip",
    "ole": "application/vnd.ms-excel",
    "eml": "message/rfc822",
    "emlx": "message/rfc822",
    "mbox": "application/mbox",
    "mht": "multipart/related",
    "mhtml": "multipart/related",
    "rtf": "application/rtf",
}
_MAIL: Final = frozenset(["eml", "emlx", "mbox", "mht", "mhtml"])
#: What the project itself reads, in time and memory in proportion to the file.
_FLAT: Final = frozenset(_BYTES_MIMES[extension] for extension in (*_MAIL, "rtf"))
#: Files in archives by which a format is known, whose names stand uncompressed in the archive.
_ZIP_MARKS: Final = (
    (b"mimetypeapplication/vnd.oasis.opendocument.text", "odt"),
    (b"mimetypeapplication/vnd.oasis.opendocument.spreadsheet", "ods"),
    (b"mimetypeapplication/vnd.oasis.opendocument.presentation", "odp"),
    (b"mimetypeapplication/epub+zip", "epub"),
    (b"ppt/presentation.xml", "pptx"),
    (b"word/document.xml", "docx"),
    (b"xl/workbook.xml", "xlsx"),
    (b"xl/workbook.bin", "xlsb"),
)
_ZIP_EXTENSIONS: Final = frozenset(_BYTES_MIMES) - {"pdf", "ole", "rtf"} - _MAIL
_OLE: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
#: What files begin with that hold much more than text: they may be larger than a text.
_CONTAINERS: Final = (b"PK\x03\x04", b"%PDF-", _OLE)
_PDF_WITHIN_BYTES: Final = 1024

#: What the content of files begins with that are no text, or none that can be read here yet.
_SIGNATURES: Final = (
    (b"%PDF-", "PDF"),
    (b"PK\x03\x04", "ZIP or Office"),
    (b"PK\x05\x06", "ZIP"),
    (_OLE, "old Office"),
    (b"{\\rtf", "RTF"),
    (b"\x89PNG\r\n", "PNG"),
    (b"\xff\xd8\xff", "JPEG"),
    (b"GIF87a", "GIF"),
    (b"GIF89a", "GIF"),
    (b"\x1f\x8b", "gzip"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"7z\xbc\xaf", "7z"),
    (b"Rar!", "RAR"),
    (b"\x28\xb5\x2f\xfd", "Zstandard"),
    (b"\x7fELF", "ELF"),
    (b"\xca\xfe\xba\xbe", "Java class"),
    (b"SQLite format 3\x00", "SQLite"),
    (b"\x00asm", "WebAssembly"),
    (b"OggS", "Ogg"),
    (b"ID3", "MP3"),
    (b"fLaC", "FLAC"),
)
#: Signatures with which no text begins; with the others one may, so that what follows must be no ASCII text.
_SURE: Final = frozenset(("PDF", "RTF"))
_LOOKED_AT_BYTES: Final = 512
_CONTROLS: Final = bytes(set(range(0x20)) - set(b"\t\n\v\f\r\x1b"))
_FIRST_BYTES: Final = frozenset(signature[0] for signature, _ in _SIGNATURES)


def bytes_format_of(document_id: str, content: bytes) -> FileType | None:
    """The format of a file that is read from its bytes, by what they are, whatever its name says; None for text and for what is unknown."""
    extension = _bytes_extension(document_id.rpartition("/")[2].rpartition(".")[2].lower(), content)
    return None if extension is None else FileType(DocumentKind.TEXT, _BYTES_MIMES[extension])


def begins_as_container(head: bytes) -> bool:
    """Whether a file with these first bytes (8 are enough) is read from its bytes, of which its text is a small part."""
    return head.startswith(_CONTAINERS)


def is_taken_apart(file_type: FileType) -> bool:
    """Whether files of the type are archives and the like, whose content is much larger than they are."""
    return file_type.mime not in _FLAT


def _bytes_extension(named: str, content: bytes) -> str | None:
    if content.startswith(b"%PDF-") or (named == "pdf" and b"%PDF-" in content[:_PDF_WITHIN_BYTES]):
        return "pdf"
    if content.startswith(b"{\\rtf"):
        return "rtf"
    if content.startswith(_OLE):
        return "ole"
    if content.startswith(b"PK\x03\x04"):
        found = [extension for mark, extension in _ZIP_MARKS if mark in content]
        named_mime = _BYTES_MIMES.get(named) if named in _ZIP_EXTENSIONS else None
        if named_mime is not None and (not found or any(_BYTES_MIMES[extension] == named_mime for extension in found)):
            return named
        return found[0] if found else None
    return named if named in _MAIL and content else None


def binary_format_of(content: bytes) -> str | None:
    """The name of a well-known format that is no text, by the first bytes; None for anything else."""
    if content[:1] and content[0] in _FIRST_BYTES:
        for signature, name in _SIGNATURES:
            if content.startswith(signature) and (name in _SURE or not content[:_LOOKED_AT_BYTES].isascii() or _has_controls(content)):
                return name
    if content[4:8] == b"ftyp" and content[:1] == b"\0":
        return "MP4"
    if content[:4] == b"RIFF" and content[8:12] in (b"WAVE", b"AVI ", b"WEBP"):
        return content[8:12].decode().strip()
    return None


def _has_controls(content: bytes) -> bool:
    head = content[:_LOOKED_AT_BYTES]
    return len(head.translate(None, _CONTROLS)) < len(head)


def bytes_extensions() -> dict[str, str]:
    """The media types of formats that are read from their bytes, by extension."""
    return dict(_BYTES_MIMES)


def binary_formats() -> list[str]:
    """The names of formats that are known by their first bytes, and of which nothing is read unless a reader takes their bytes."""
    return list(dict.fromkeys([*(name for _, name in _SIGNATURES), "MP4", "WAVE", "AVI", "WEBP"]))
