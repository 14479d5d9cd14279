"""The child's side: answers requests to load, to cut and to embed, one after the other."""

import dataclasses
import math
import os
import signal
from typing import Any, Final

from pydantic import TypeAdapter

from docmill.adapters.isolation.bounding import bounded_memory
from docmill.adapters.isolation.process import CONTAINER_MEMORY_BYTES
from docmill.adapters.isolation.wire import CONTAINER_OUT_OF_MEMORY_EXIT, OUT_OF_MEMORY_EXIT, FrameReader, Message, frame
from docmill.adapters.providers.catalog import local_model_for
from docmill.chunking import chunk
from docmill.documents.loading import is_container, load
from docmill.domain.documents import LoadedDocument
from docmill.domain.errors import DocmillError, DocumentSkipped
from docmill.domain.knowledge_bases import Chunking, EmbeddingModelSpec
from docmill.ports.models import EmbeddingModel

_READ_BYTES: Final = 1 << 20
_CHUNKING: Final = TypeAdapter(Chunking)
_SPECIFICATION: Final = TypeAdapter(EmbeddingModelSpec)


def serve(requests: int, answers: int, threads: int) -> None:
    """Answers until ``requests`` ends.

    Args:
        requests: a descriptor to read frames from.
        answers: a descriptor to write frames to.
        threads: of a local embedding model.
    """
    reader, work = FrameReader(), _Work(threads)
    while data := os.read(requests, _READ_BYTES):
        reader.feed(data)
        while (found := reader.take()) is not None:
            for piece in work.answer(*found):
                _write(answers, piece)


def _write(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


class _Work:
    """What the child keeps between two requests: the document that it has loaded, and its models."""

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._document: LoadedDocument | None = None
        self._models: dict[EmbeddingModelSpec, EmbeddingModel] = {}
        self._in_container = False

    def answer(self, request: Message, body: bytes) -> list[bytes]:
        """The answer to one request, as a frame."""
        signal.alarm(max(1, math.ceil(request["seconds"])))
        try:
            return frame({"result": self._result(request, body)})
        except MemoryError:
            os._exit(
                CONTAINER_OUT_OF_MEMORY_EXIT if self._in_container else OUT_OF_MEMORY_EXIT
            )  # nothing that was allocated meanwhile can be relied on
        except DocumentSkipped as skipped:
            return frame({"skipped": skipped.reason.value, "message": skipped.detail})
        except DocmillError as error:
            return frame({"error": error.code, "message": str(error)})
        except Exception as error:  # noqa: BLE001  # the parent raises it again as the defect that it is
            return frame({"error": DocmillError.code, "message": f"{type(error).__name__}: {error}"})
        finally:
            signal.alarm(0)

    def _result(self, request: Message, body: bytes) -> Any:
        match request["do"]:
            case "answer":
                return None
            case "load":
                self._document = None
                self._document = self._load(request["document_id"], body)
                return dataclasses.asdict(self._document)
            case "chunk" if self._document is not None:
                return [dataclasses.asdict(one) for one in chunk(self._document, _CHUNKING.validate_python(request["chunking"]))]
            case "embed":
                model = self._model(_SPECIFICATION.validate_python(request["specification"]))
                return [list(map(float, vector)) for vector in model.embed_passages(request["texts"])]
            case unknown:
                raise ValueError(f"cannot do {unknown!r} now")

    def _load(self, document_id: str, content: bytes) -> LoadedDocument:
        self._in_container = is_container(document_id, content)
        if not self._in_container:
            return load(document_id, content)
        with bounded_memory(CONTAINER_MEMORY_BYTES):
            document = load(document_id, content)
        self._in_container = False
        return document

    def _model(self, specification: EmbeddingModelSpec) -> EmbeddingModel:
        if specification not in self._models:
            self._models[specification] = local_model_for(specification, self._threads)
        return self._models[specification]
