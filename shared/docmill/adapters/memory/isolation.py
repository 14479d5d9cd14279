"""The ``Isolation`` port without processes: what runs alone runs here, and crashes where it is told to."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from docmill.domain.chunks import Chunk
from docmill.domain.documents import LoadedDocument
from docmill.domain.knowledge_bases import Chunking, EmbeddingModelSpec
from docmill.ports.isolation import Alone, Crashed
from docmill.ports.models import EmbeddingModel


class MemoryIsolation:
    """Works with a loader and a chunker.

    Attributes:
        alone_now: whether a document is alone at this moment.
        fresh: of each document that was alone, whether it asked for a fresh process.
        before: called before a document is alone, while it waits for that.
    """

    def __init__(
        self,
        load: Callable[[str, bytes], LoadedDocument],
        chunk: Callable[[LoadedDocument, Chunking], list[Chunk]],
        how_it_ends: Callable[[bytes], str | None] = lambda content: None,
    ) -> None:
        """``how_it_ends`` says of a content how it ends the process that loads it; None for one that does no harm."""
        self.alone_now = False
        self.fresh: list[bool] = []
        self.before: Callable[[], None] = lambda: None
        self._load = load
        self._chunk = chunk
        self._how_it_ends = how_it_ends

    @contextmanager
    def alone(self, check: Callable[[], None], seconds_left: Callable[[], float], *, fresh: bool) -> Iterator[Alone]:
        """See ``Isolation.alone``."""
        self.before()
        self.fresh.append(fresh)
        self.alone_now = True
        try:
            yield _Here(self, check, seconds_left)
        finally:
            self.alone_now = False

    def load(self, document_id: str, content: bytes) -> LoadedDocument:
        """Loads, or crashes."""
        end = self._how_it_ends(content)
        if end is not None:
            raise Crashed(end)
        return self._load(document_id, content)

    def chunk(self, document: LoadedDocument, chunking: Chunking) -> list[Chunk]:
        """Cuts."""
        return self._chunk(document, chunking)


class _Here:
    def __init__(self, isolation: MemoryIsolation, check: Callable[[], None], seconds_left: Callable[[], float]) -> None:
        self._isolation = isolation
        self._check = check
        self._seconds_left = seconds_left

    def load(self, document_id: str, content: bytes) -> LoadedDocument:
        """See ``Alone.load``."""
        self._look()
        return self._isolation.load(document_id, content)

    def chunk(self, document: LoadedDocument, chunking: Chunking) -> list[Chunk]:
        """See ``Alone.chunk``."""
        self._look()
        return self._isolation.chunk(document, chunking)

    def embedding_model(self, specification: EmbeddingModelSpec, model: EmbeddingModel) -> EmbeddingModel:
        """See ``Alone.embedding_model``."""
        return model

    def _look(self) -> None:
        self._check()
        if self._seconds_left() <= 0:
            raise Crashed("it was not done in time")
