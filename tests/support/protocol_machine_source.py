"""A changing source of documents, and what is known of its past."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from docmill.documents.roots import RootIdentity
from docmill.domain.documents import DocumentKind, LoadedDocument, StatSignature
from docmill.domain.errors import DocumentSkipped, RootUnavailable, SkipReason
from docmill.indexing.sources import Content
from docmill_services.producer.scan import ScannedFile, Unreadable

DOCUMENTS: Final = ("a.md", "b.md", "c.md")
BINARY: Final = "\0"
#: What files may hold; None is no file. Every line has the word that queries look for.
TEXTS: Final = ("apple one\napple shared", "apple two\napple shared\napple last", "apple one")
CONTENTS: Final = (None, "", BINARY, *TEXTS)


@dataclass(frozen=True, slots=True)
class FileState:
    """A file between two changes; ``number`` rises with each change of any kind."""

    number: int
    content: str | None


class ChangingSource:
    """The files; every change has a number."""

    def __init__(self) -> None:
        self.files = {document_id: FileState(0, None) for document_id in DOCUMENTS}
        self.racy = False

    def change(self, document_id: str, content: str | None) -> None:
        self.files[document_id] = FileState(self.files[document_id].number + 1, content)

    def touch(self, document_id: str) -> None:
        self.change(document_id, self.files[document_id].content)

    def strategies_for(self, document_id: str) -> tuple[str, ...]:
        return ("dense", "words")

    def read(self, document_id: str) -> Content | None:
        content = self.files[document_id].content
        if content is None:
            return None
        return Content(content.encode(), "" if self.racy else self.stat_of(document_id), len(content))

    def stat_of(self, document_id: str) -> str:
        return self.signature_of(document_id).packed() if self.files[document_id].content is not None else ""

    def load(self, document_id: str, content: bytes) -> LoadedDocument:
        if content == BINARY.encode():
            raise DocumentSkipped(SkipReason.BINARY, "it is not text")
        return LoadedDocument(content.decode(), DocumentKind.TEXT, "text/plain", document_id)

    def require_allowed(self, document_id: str, document: LoadedDocument) -> None:
        pass

    def signature_of(self, document_id: str) -> StatSignature:
        file = self.files[document_id]
        return StatSignature(len(file.content or ""), file.number, file.number, 1)


class SourceScan:
    """One look at all files, as the producer's own."""

    def __init__(self, source: ChangingSource) -> None:
        self.unavailable: dict[bytes, RootUnavailable] = {}
        self.unreadable: list[Unreadable] = []
        self._source = source

    def files(self) -> Iterator[ScannedFile]:
        for document_id, file in self._source.files.items():
            if file.content is not None:
                yield ScannedFile(document_id, document_id.encode(), self._source.signature_of(document_id))

    def proves_gone(self, document_id: str) -> bool:
        return True

    def root_ids(self) -> dict[str, RootIdentity]:
        return {}

    def missing_roots(self) -> dict[str, bytes]:
        return {}

    def is_missing(self, document_id: str) -> bool:
        return True


def texts_of(content: str | None) -> list[str]:
    """The chunks that a file with this content has, in every strategy."""
    return [line for line in (content or "").split("\n") if line.strip("\0 ")]
