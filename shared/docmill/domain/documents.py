"""Documents: what identifies a file's content, and what a loader makes of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import blake2b
from typing import Final

#: Metadata values as front matter has them and as both stores can hold them.
MetadataValue = str | int | float | bool | list[str]

FINGERPRINT_BYTES: Final = 16


def fingerprint_of(content: bytes) -> str:
    """blake2b of a document's bytes, 32 hexadecimal digits."""
    return blake2b(content, digest_size=FINGERPRINT_BYTES).hexdigest()


@dataclass(frozen=True, slots=True)
class StatSignature:
    """What ``stat`` says of a file's state; equal signatures mean that the file need not be read."""

    size_bytes: int
    mtime_ns: int
    ctime_ns: int
    inode: int

    def packed(self) -> str:
        """One short text; two signatures are equal exactly when these are."""
        return f"{self.size_bytes:x}.{self.mtime_ns:x}.{self.ctime_ns:x}.{self.inode:x}"


class DocumentKind(StrEnum):
    """How a document is cut into chunks."""

    TEXT = "text"
    MARKDOWN = "markdown"
    CODE = "code"


@dataclass(frozen=True, slots=True)
class LoadedDocument:
    """A document's text and what is known about it.

    Attributes:
        text: the decoded text; line breaks are ``\\n``; no NUL.
        kind: which chunker cuts it.
        mime: the media type.
        title: from front matter, the first heading or the file's name.
        language: the programming language of code (``python``), else None.
        metadata: front matter, flattened to what stores can hold.
        body_start_line: the line (from 1) at which the text to chunk begins; what is before it is front matter.
    """

    text: str
    kind: DocumentKind
    mime: str
    title: str
    language: str | None = None
    metadata: Mapping[str, MetadataValue] = field(default_factory=dict)
    body_start_line: int = 1
