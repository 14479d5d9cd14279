"""Documents: what identifies a file's content, and what a loader makes of it."""

from collections.abc import Mapping, Sequence
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
class Heading:
    """A heading.

    Attributes:
        level: 1 is the highest.
        text: as it is written, on one line, at most 200 characters.
        start: where its first line begins in the document's text.
        end: where the line after it begins.
    """

    level: int
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class WholeBlock:
    """Fenced code, a table or a list, from the beginning of its first line to the beginning of the line after it.

    Attributes:
        header_end: of a table, where its header rows end, which are repeated when it is parted; None where there are none.
    """

    start: int
    end: int
    header_end: int | None = None


@dataclass(frozen=True, slots=True)
class Outline:
    """The headings of a text and the blocks that are better kept whole, each in order; an outer block comes before those in it."""

    headings: Sequence[Heading] = ()
    blocks: Sequence[WholeBlock] = ()

    def __post_init__(self) -> None:
        """Equal outlines are equal whatever sequences they were made of."""
        object.__setattr__(self, "headings", tuple(self.headings))
        object.__setattr__(self, "blocks", tuple(self.blocks))


@dataclass(frozen=True, slots=True)
class LoadedDocument:
    """A document's text and what is known about it.

    Attributes:
        text: the decoded text; line breaks are ``\\n``; no NUL.
        kind: which chunker cuts it.
        mime: the media type.
        title: from front matter, the first heading or the file's name.
        language: the programming language of code (``python``), the natural one of prose (``en``, ISO 639-1), None where it is not known.
        metadata: front matter, flattened to what stores can hold.
        body_start_line: the line (from 1) of ``text`` at which the text to chunk begins; what is before it is front matter.
        outline: of ``text`` from there on.
        page_starts: where each page begins in ``text``, in order, for paged formats.
        source_lines: for each line of ``text`` the line of the file (from 1) that it comes from, in order; None where they are the same.
    """

    text: str
    kind: DocumentKind
    mime: str
    title: str
    language: str | None = None
    metadata: Mapping[str, MetadataValue] = field(default_factory=dict)
    body_start_line: int = 1
    outline: Outline = field(default_factory=Outline)
    page_starts: Sequence[int] = ()
    source_lines: Sequence[int] | None = None

    def __post_init__(self) -> None:
        """Equal documents are equal whatever sequences they were made of."""
        object.__setattr__(self, "page_starts", tuple(self.page_starts))
        if self.source_lines is not None:
            object.__setattr__(self, "source_lines", tuple(self.source_lines))
