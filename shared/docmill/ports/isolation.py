"""Isolation: where a document's content is worked on when that may end the process that does it."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol

from docmill.domain.chunks import Chunk
from docmill.domain.documents import LoadedDocument
from docmill.domain.knowledge_bases import Chunking, EmbeddingModelSpec
from docmill.ports.models import EmbeddingModel


class Crashed(Exception):
    """The process in which a document ran alone has ended; the text says how, as what was done to it: ``it was ended by SIGKILL``."""


class Alone(Protocol):
    """One document in a process that works on nothing else meanwhile. Every method raises ``Crashed`` when that process ends."""

    def load(self, document_id: str, content: bytes) -> LoadedDocument:
        """The document that ``content`` holds; raises ``DocumentSkipped`` as loaders do. Called first."""
        ...

    def chunk(self, document: LoadedDocument, chunking: Chunking) -> list[Chunk]:
        """The chunks of ``document``, which is what ``load`` returned last."""
        ...

    def embedding_model(self, specification: EmbeddingModelSpec, model: EmbeddingModel) -> EmbeddingModel:
        """A model that embeds in that process; ``model`` itself, which ``specification`` describes, where another machine does the work."""
        ...


class Isolation(Protocol):
    """Gives documents processes of their own."""

    def alone(self, check: Callable[[], None], seconds_left: Callable[[], float], *, fresh: bool) -> AbstractContextManager[Alone]:
        """A process for one document, until the context ends.

        Args:
            check: called several times a second while something is waited for; what it raises ends the process, and is no crash.
            seconds_left: how long the document may take from now on; one call that takes longer is a crash.
            fresh: the process has worked on no other document before.

        Raises:
            ServiceDown: no process can be started.
        """
        ...
