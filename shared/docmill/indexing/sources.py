"""Sources: where a document's bytes come from."""

from dataclasses import dataclass
from typing import Final, Protocol

from docmill.domain.documents import LoadedDocument

#: The note in which the producer keeps which folder each root is: a JSON object, from the root as a document's id to its inode. The
#: device is not in it: hosts number the same mount differently.
ROOTS: Final = "roots"
#: What stands there for a root that is gone for good: what it held is gone too.
GIVEN_UP: Final = 0


@dataclass(frozen=True, slots=True)
class Content:
    """A document as it was read.

    Attributes:
        stat: its packed stat signature, "" when the file was changed so shortly before that the signature cannot be trusted.
    """

    content: bytes
    stat: str
    size_bytes: int


class Source(Protocol):
    """The documents of one knowledge base."""

    def strategies_for(self, document_id: str) -> tuple[str, ...]:
        """The strategies that a document belongs to, by name; none when the configuration leaves it out.

        Raises:
            SourceUnreadable: nobody can tell now, which does not mean that it is left out.
        """
        ...

    def read(self, document_id: str) -> Content | None:
        """The document's bytes, or None when it is gone.

        Raises:
            DocumentSkipped: it must not or cannot be read.
            SourceUnreadable: the disk failed, or its folder may not be entered.
            RootUnavailable: the folder that should hold it is not there, which does not mean that it is gone.
        """
        ...

    def stat_of(self, document_id: str) -> str:
        """Its packed stat signature now, without reading it; "" when there is none."""
        ...

    def load(self, document_id: str, content: bytes) -> LoadedDocument:
        """Its text; raises ``DocumentSkipped`` for what is not text."""
        ...

    def require_allowed(self, document_id: str, document: LoadedDocument) -> None:
        """Raises ``DocumentSkipped`` for a document whose text must not be indexed, nor shown, since it holds a secret."""
        ...
