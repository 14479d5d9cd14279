"""A knowledge base over the memory twins, filled through the commit protocol: what searches and the query service are tried on."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

from docmill.adapters.memory.models import HashEmbeddingModel
from docmill.adapters.memory.state import MemoryState
from docmill.adapters.memory.stores import MemoryLexicalStore, MemoryVectorStore
from docmill.domain.chunks import ChunkRecord, text_hash_of
from docmill.domain.documents import fingerprint_of
from docmill.domain.index_names import index_name
from docmill.domain.knowledge_bases import EmbeddingModelSpec, KnowledgeBase, Results, Similarity, StrategyKind, StrategySpec
from docmill.domain.registry import Attempt, Commit, DocumentState, Intent, Lane
from docmill.ports.clock import Clock
from docmill.retrieval.query_vectors import QueryVectors
from docmill.retrieval.rerank import Stage
from docmill.retrieval.retrievers import Retriever, make_retrievers
from docmill.retrieval.search import Searcher

WORDS = StrategySpec("bm25", StrategyKind.BM25, threshold=0.0, limit=5)
VECTORS = StrategySpec(
    "chunked-embeddings", StrategyKind.CHUNKED_EMBEDDINGS, threshold=-1.0, limit=5, embedding=EmbeddingModelSpec("memory", "hash")
)


class StillClock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def record_of(
    document_id: str, index: int = 0, text: str = "text", *, generation: int = 1, count: int = 1, start_line: int = 1
) -> ChunkRecord:
    """A chunk as a store keeps it."""
    return ChunkRecord(
        document_id=document_id,
        generation=generation,
        fingerprint=fingerprint_of(text.encode()),
        index=index,
        count=count,
        text=text,
        indexed_text=text,
        text_hash=text_hash_of(text),
        headings=(),
        start_line=start_line,
        end_line=start_line,
        title=document_id,
        mime="text/plain",
    )


@dataclass
class Library:
    """One knowledge base; ``put`` and ``remove`` are what a worker does with one document."""

    name: str = "library"
    index_set: str = "set1"
    strategies: tuple[StrategySpec, ...] = (WORDS, VECTORS)
    results: Results = field(default_factory=Results)
    base_folder: Path = Path("/nowhere")

    def __post_init__(self) -> None:
        self.settings = KnowledgeBase(self.name, self.base_folder, (str(self.base_folder),), self.strategies, results=self.results)
        self.state = MemoryState(self.name)
        self.lexical, self.vectors = MemoryLexicalStore(), MemoryVectorStore()
        self.model = HashEmbeddingModel()
        self.query_vectors = QueryVectors()
        self.executor = ThreadPoolExecutor(4)
        self.texts: dict[str, str] = {}
        self.stats: dict[str, str] = {}
        self.state.registry.raise_epoch(1)
        for spec in self.strategies:
            if spec.kind is StrategyKind.BM25:
                self.lexical.create(self.index_of(spec), spec.name, k1=spec.k1, b=spec.b)
            else:
                self.vectors.create(self.index_of(spec), spec.name, self.model.dimensions, Similarity.COSINE)
        self.state.registry.serve(self.index_set)

    def index_of(self, spec: StrategySpec) -> str:
        return index_name(self.name, self.index_set, spec.name)

    def retrievers(self) -> list[Retriever]:
        return make_retrievers(
            self.settings,
            vectors=self.vectors,
            lexical=self.lexical,
            models={spec.name: self.model for spec in self.strategies if spec.embedding is not None},
            query_vectors=self.query_vectors,
            vectors_in_process=True,
            lexical_in_process=True,
        )

    def searcher(self, clock: Clock, retrievers: Sequence[Retriever] | None = None, reranking: Sequence[Stage] = ()) -> Searcher:
        return Searcher(
            self.settings,
            self.retrievers() if retrievers is None else retrievers,
            self.state.registry,
            executor=self.executor,
            clock=clock,
            read_text=self.texts.get,
            stat_of=self.stats.get,
            reranking=reranking,
        )

    def begin(self, document_id: str, run_id: str = "") -> Attempt:
        """A ticket and its lease."""
        (message,) = self.state.ledger.enqueue([document_id], Lane.BULK, run_id=run_id)
        attempt = self.state.ledger.begin(message, 30.0)
        assert attempt is not None
        return attempt

    def write(self, attempt: Attempt, text: str) -> Commit:
        """Writes one chunk per paragraph to every store; what comes back makes them live."""
        pieces = [piece for piece in text.split("\n\n") if piece]
        fingerprint = fingerprint_of(text.encode())
        records = []
        line = 1
        for index, piece in enumerate(pieces):
            records.append(record_of(attempt.document_id, index, piece, generation=attempt.generation, count=len(pieces), start_line=line))
            line += piece.count("\n") + 2
        chunks = {self.index_set: {spec.name: len(pieces) for spec in self.strategies}}
        assert self.state.registry.intents([Intent(attempt, fingerprint, chunks)]) == [True]
        for spec in self.strategies:
            if spec.kind is StrategyKind.BM25:
                self.lexical.write(self.index_of(spec), records)
            else:
                vectors = self.model.embed_passages([record.indexed_text for record in records])
                self.vectors.write(
                    self.index_of(spec), [_with_vector(record, vector) for record, vector in zip(records, vectors, strict=True)]
                )
        state = DocumentState.LIVE if pieces else DocumentState.EMPTY
        return Commit(attempt, state, fingerprint, chunks, stat=self.stats.get(attempt.document_id, ""), size_bytes=len(text.encode()))

    def commit(self, commit: Commit) -> int:
        """Makes it live; returns its generation."""
        assert self.state.registry.commit([commit])[0].committed
        return commit.attempt.generation

    def put(self, document_id: str, text: str, run_id: str = "") -> int:
        """A document's new text, live when this returns; returns its generation."""
        self.texts[document_id] = text
        self.stats[document_id] = fingerprint_of(text.encode())
        return self.commit(self.write(self.begin(document_id, run_id), text))

    def remove(self, document_id: str) -> None:
        """The document is gone."""
        self.texts.pop(document_id, None)
        self.stats.pop(document_id, None)
        self.commit(Commit(self.begin(document_id), DocumentState.GONE, "", {self.index_set: {}}))

    def skip(self, document_id: str, reason: str) -> None:
        """The document is not indexed."""
        self.commit(Commit(self.begin(document_id), DocumentState.SKIPPED, "", {self.index_set: {}}, reason=reason))

    def close(self) -> None:
        self.executor.shutdown()


def _with_vector(record: ChunkRecord, vector: Sequence[float]) -> ChunkRecord:
    return replace(record, vector=vector)
