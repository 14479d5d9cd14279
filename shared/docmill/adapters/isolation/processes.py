"""The ``Isolation`` port with child processes: a few at most, each kept for the next document while it is well."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any, Final, TypeVar

from pydantic import TypeAdapter, ValidationError

from docmill.adapters.isolation.process import Child
from docmill.config.providers import Adapter, adapter_for
from docmill.domain.chunks import Chunk, Vector
from docmill.domain.documents import LoadedDocument
from docmill.domain.errors import ServiceDown
from docmill.domain.knowledge_bases import Chunking, EmbeddingModelSpec
from docmill.ports.isolation import Alone, Crashed
from docmill.ports.models import Caller, EmbeddingModel

_DOCUMENT: Final = TypeAdapter(LoadedDocument)
_CHUNKS: Final = TypeAdapter(list[Chunk])
_VECTORS: Final = TypeAdapter(list[list[float]])
_START_SECONDS: Final = 60.0
_LOOK_SECONDS: Final = 0.05
#: Libraries that take files apart lose a little memory over each.
_MOST_REQUESTS: Final = 500

_Form = TypeVar("_Form")
Check = Callable[[], None]
SecondsLeft = Callable[[], float]


class ProcessIsolation:
    """Children of this process, however it ends; they are ended when they have been idle for a while."""

    def __init__(self, *, embedding_threads: int, most: int = 2, idle_seconds: float = 10.0) -> None:
        """Nothing is started before a document needs it.

        Args:
            embedding_threads: of a local model in a child.
            most: children at a time; further documents wait.
            idle_seconds: how long a child is kept for a next document.
        """
        self._embedding_threads = embedding_threads
        self._places = threading.BoundedSemaphore(most)
        self._idle_seconds = idle_seconds
        self._idle: list[tuple[Child, float]] = []
        self._timer: threading.Timer | None = None
        self._closed = False
        self._lock = threading.Lock()

    @contextmanager
    def alone(self, check: Check, seconds_left: SecondsLeft, *, fresh: bool) -> Iterator[Alone]:
        """See ``Isolation.alone``."""
        while not self._places.acquire(timeout=_LOOK_SECONDS):
            check()
        try:
            child = self._child(check, fresh=fresh)
            try:
                yield _InChild(child, check, seconds_left)
            finally:
                self._put_back(child)
        finally:
            self._places.release()

    def close(self) -> None:
        """Ends the children that have nothing to do; the others end with their document."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
            if self._timer is not None:
                self._timer.cancel()
        for child, _ in idle:
            child.end()

    def _child(self, check: Check, *, fresh: bool) -> Child:
        """One that answers: one that was kept may have ended meanwhile."""
        while not fresh:
            with self._lock:
                if not self._idle:
                    break
                child, _ = self._idle.pop()
            try:
                child.ask({"do": "answer"}, check=check, seconds_left=lambda: _START_SECONDS)
            except Crashed:
                continue
            return child
        try:
            child = Child(self._embedding_threads)
            child.ask({"do": "answer"}, check=check, seconds_left=lambda: _START_SECONDS)
        except (OSError, Crashed) as error:
            raise ServiceDown(f"no process could be started for a document that must run alone: {error}") from error
        return child

    def _put_back(self, child: Child) -> None:
        with self._lock:
            if child.alive and not self._closed and child.asked < _MOST_REQUESTS:
                self._idle.append((child, time.monotonic()))
                self._end_idle_later()
                return
        child.end()

    def _end_idle_later(self) -> None:
        if self._timer is None and self._idle:
            self._timer = threading.Timer(self._idle_seconds, self._end_idle)
            self._timer.daemon = True
            self._timer.start()

    def _end_idle(self) -> None:
        with self._lock:
            until = time.monotonic() - self._idle_seconds
            ended = [child for child, since in self._idle if since <= until]
            self._idle = [(child, since) for child, since in self._idle if since > until]
            self._timer = None
            self._end_idle_later()
        for child in ended:
            child.end()


class _InChild:
    """The document that a child works on."""

    def __init__(self, child: Child, check: Check, seconds_left: SecondsLeft) -> None:
        self._child = child
        self._check = check
        self._seconds_left = seconds_left

    def load(self, document_id: str, content: bytes) -> LoadedDocument:
        """See ``Alone.load``."""
        return self._validated(_DOCUMENT, {"do": "load", "document_id": document_id}, content)

    def chunk(self, document: LoadedDocument, chunking: Chunking) -> list[Chunk]:
        """See ``Alone.chunk``."""
        return self._validated(_CHUNKS, {"do": "chunk", "chunking": asdict(chunking)})

    def embedding_model(self, specification: EmbeddingModelSpec, model: EmbeddingModel) -> EmbeddingModel:
        """See ``Alone.embedding_model``."""
        return _ModelInChild(specification, model, self.embed) if adapter_for(specification) is Adapter.LOCAL else model

    def embed(self, specification: EmbeddingModelSpec, texts: Sequence[str]) -> list[Vector]:
        """The vectors of a local model."""
        vectors = self._validated(_VECTORS, {"do": "embed", "specification": asdict(specification), "texts": list(texts)})
        return [*vectors]

    def _validated(self, form: "TypeAdapter[_Form]", request: dict[str, Any], body: bytes = b"") -> _Form:
        result = self._child.ask(request, body, check=self._check, seconds_left=self._seconds_left)
        try:
            return form.validate_python(result)
        except ValidationError as error:
            self._child.end()
            raise Crashed(f"it answered with what is no answer ({error.error_count()} errors)") from error


class _ModelInChild:
    """A local model that embeds passages in a child, and queries here."""

    def __init__(
        self,
        specification: EmbeddingModelSpec,
        model: EmbeddingModel,
        embed: Callable[[EmbeddingModelSpec, Sequence[str]], list[Vector]],
    ) -> None:
        self._specification = specification
        self._model = model
        self._embed = embed

    @property
    def name(self) -> str:
        """See ``EmbeddingModel.name``."""
        return self._model.name

    @property
    def dimensions(self) -> int:
        """See ``EmbeddingModel.dimensions``."""
        return self._model.dimensions

    def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        """See ``EmbeddingModel.embed_passages``."""
        return self._embed(self._specification, texts)

    def embed_query(self, text: str) -> Vector:
        """See ``EmbeddingModel.embed_query``."""
        return self._model.embed_query(text)

    def on_behalf_of(self, caller: Caller) -> "_ModelInChild":
        """See ``EmbeddingModel.on_behalf_of``: it is a model that runs inside docmill."""
        return self
