"""Targets: an index set with everything that is needed to write to it."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from docmill.domain.index_names import index_name
from docmill.domain.knowledge_bases import KnowledgeBase, StrategyKind, StrategySpec
from docmill.indexing.summarising import Summariser
from docmill.ports.models import EmbeddingModel
from docmill.ports.stores import ChunkStore, LexicalStore, VectorStore


@dataclass(frozen=True, slots=True)
class Target:
    """One index set of a knowledge base: its pipeline, its stores and its models.

    Attributes:
        knowledge_base: as it was configured when the set was made.
        models: by strategy name, for strategies that embed.
        summarisers: by strategy name, for strategies that embed summaries.
    """

    index_set: str
    knowledge_base: KnowledgeBase
    vectors: VectorStore
    lexical: LexicalStore
    models: Mapping[str, EmbeddingModel]
    summarisers: Mapping[str, Summariser] = field(default_factory=dict)

    def index(self, strategy: str) -> str:
        """The physical index of a strategy."""
        return index_name(self.knowledge_base.name, self.index_set, strategy)

    def store(self, strategy: StrategySpec) -> ChunkStore:
        """The store that holds a strategy's chunks."""
        return self.lexical if strategy.kind is StrategyKind.BM25 else self.vectors

    def create_indexes(self) -> None:
        """Makes the physical indexes unless they exist.

        Raises:
            WrongDimension: an index is there with other dimensions.
        """
        for strategy in self.knowledge_base.strategies:
            name = self.index(strategy.name)
            if strategy.kind is StrategyKind.BM25:
                self.lexical.create(name, strategy.name, k1=strategy.k1, b=strategy.b)
            else:
                self.vectors.create(name, strategy.name, self.models[strategy.name].dimensions, strategy.similarity)

    def drop_indexes(self) -> None:
        """Removes the physical indexes."""
        for strategy in self.knowledge_base.strategies:
            self.store(strategy).drop(self.index(strategy.name))
