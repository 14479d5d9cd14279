"""Handling: what is done to a document's content, in this process or in one where the document is alone."""

from collections.abc import Callable
from dataclasses import dataclass

from docmill.domain.documents import LoadedDocument
from docmill.domain.knowledge_bases import StrategySpec
from docmill.indexing.containers import ContainerLoading
from docmill.indexing.preparing import Chunker
from docmill.indexing.sources import Source
from docmill.indexing.targets import Target
from docmill.ports.isolation import Alone
from docmill.ports.models import EmbeddingModel


@dataclass(frozen=True, slots=True)
class Handling:
    """The steps of which a content decides what they do.

    Attributes:
        load: from a document's id and its bytes.
        model_of: the embedding model of a strategy in an index set.
    """

    load: Callable[[str, bytes], LoadedDocument]
    chunk: Chunker
    model_of: Callable[[Target, StrategySpec], EmbeddingModel]


def handling_here(source: Source, chunker: Chunker, containers: ContainerLoading, check: Callable[[], None]) -> Handling:
    """In this process, among others; but what is taken apart is loaded in another one, while ``check`` is called."""

    def load(document_id: str, content: bytes) -> LoadedDocument:
        return containers.load(document_id, content, check, source.load)

    return Handling(load, chunker, lambda target, strategy: target.models[strategy.name])


def handling_alone(alone: Alone) -> Handling:
    """In the process of ``alone``; its steps raise ``Crashed`` when that ends."""

    def model_of(target: Target, strategy: StrategySpec) -> EmbeddingModel:
        model = target.models[strategy.name]
        return model if strategy.embedding is None else alone.embedding_model(strategy.embedding, model)

    return Handling(alone.load, alone.chunk, model_of)
