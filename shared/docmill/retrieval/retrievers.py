"""Retrievers: one strategy's search over its store, behind one face for both kinds of store."""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Protocol

from docmill.domain.chunks import ChunkFilter, ScoredChunk
from docmill.domain.knowledge_bases import KnowledgeBase, StrategyKind, StrategySpec
from docmill.ports.models import Caller, EmbeddingModel
from docmill.ports.stores import LexicalStore, VectorStore
from docmill.retrieval.query_vectors import QueryVectors


class Retriever(Protocol):
    """Finds chunks for one strategy. May be called from several threads at once."""

    @property
    def spec(self) -> StrategySpec:
        """The strategy."""
        ...

    def answers_at_once(self, query: str) -> bool:
        """Whether ``retrieve`` waits for nothing outside this process, so that it needs no thread of its own."""
        ...

    def retrieve(
        self, index: str, query: str, limit: int, chunk_filter: ChunkFilter, without_generations: AbstractSet[int]
    ) -> list[ScoredChunk]:
        """At most ``limit`` chunks that reach the strategy's threshold, best first; raises as the store and the model do."""
        ...


@dataclass(frozen=True, slots=True)
class LexicalRetriever:
    """BM25 over a lexical store; ``in_process`` says that the store is no server."""

    spec: StrategySpec
    store: LexicalStore
    in_process: bool

    def answers_at_once(self, query: str) -> bool:
        """Whether the store is in this process."""
        return self.in_process

    def retrieve(
        self, index: str, query: str, limit: int, chunk_filter: ChunkFilter, without_generations: AbstractSet[int]
    ) -> list[ScoredChunk]:
        """At most ``limit`` chunks by BM25; raises ``StoreDown`` or ``StoreRejected``."""
        return self.store.search(
            index,
            query,
            limit,
            k1=self.spec.k1,
            b=self.spec.b,
            threshold=self.spec.threshold,
            chunk_filter=chunk_filter,
            without_generations=without_generations,
        )


@dataclass(frozen=True, slots=True)
class VectorRetriever:
    """Nearest vectors over a vector store; ``in_process`` says that the store is no server, ``caller`` for whom queries are embedded."""

    spec: StrategySpec
    store: VectorStore
    model: EmbeddingModel
    caller: Caller
    vectors: QueryVectors
    in_process: bool

    def answers_at_once(self, query: str) -> bool:
        """Whether the store is in this process and the query's vector is known."""
        return self.in_process and self.vectors.holds(self.model, query)

    def retrieve(
        self, index: str, query: str, limit: int, chunk_filter: ChunkFilter, without_generations: AbstractSet[int]
    ) -> list[ScoredChunk]:
        """At most ``limit`` chunks by similarity; raises ``StoreDown``, ``StoreRejected`` or a ``ProviderError``."""
        return self.store.search(
            index,
            self.vectors.vector_of(self.model, query, self.caller),
            limit,
            threshold=self.spec.threshold,
            chunk_filter=chunk_filter,
            without_generations=without_generations,
        )


def make_retrievers(
    knowledge_base: KnowledgeBase,
    *,
    vectors: VectorStore,
    lexical: LexicalStore,
    models: Mapping[str, EmbeddingModel],
    query_vectors: QueryVectors,
    vectors_in_process: bool,
    lexical_in_process: bool,
) -> list[Retriever]:
    """One retriever for each strategy of ``knowledge_base``.

    Args:
        knowledge_base: whose strategies.
        vectors: where embeddings are.
        lexical: where words are.
        models: the embedding model of each strategy with vectors, by the strategy's name.
        query_vectors: may be shared by all knowledge bases.
        vectors_in_process: ``vectors`` is no server.
        lexical_in_process: ``lexical`` is no server.
    """

    def make(spec: StrategySpec) -> Retriever:
        if spec.kind is StrategyKind.BM25:
            return LexicalRetriever(spec, lexical, lexical_in_process)
        caller = Caller(knowledge_base.name, is_query=True)
        return VectorRetriever(spec, vectors, models[spec.name], caller, query_vectors, vectors_in_process)

    return [make(spec) for spec in knowledge_base.strategies]
