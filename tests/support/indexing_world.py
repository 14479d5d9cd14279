"""A whole indexing system in memory: one knowledge base, its stores, one worker without threads."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from docmill.adapters.memory.isolation import MemoryIsolation
from docmill.adapters.memory.models import HashEmbeddingModel
from docmill.adapters.memory.state import MemoryState
from docmill.adapters.memory.stores import MemoryLexicalStore, MemoryVectorStore
from docmill.domain.chunks import Chunk
from docmill.domain.documents import DocumentKind, LoadedDocument
from docmill.domain.knowledge_bases import Chunking, EmbeddingModelSpec, KnowledgeBase, StrategyKind, StrategySpec
from docmill.domain.registry import Entry, Lane, QueueDepth, TaskMessage
from docmill.indexing.batchers import Batchers
from docmill.indexing.committing import Prepared, commit_together
from docmill.indexing.leasekeeping import LeaseKeeper
from docmill.indexing.reconciling import Reconciler
from docmill.indexing.sources import Content
from docmill.indexing.targets import Target
from docmill.ports.state import KnowledgeBaseState

INDEX_SET = "set1"
KB = KnowledgeBase(
    name="kb",
    base_folder=Path("/docs"),
    roots=("/docs",),
    strategies=(
        StrategySpec("dense", StrategyKind.CHUNKED_EMBEDDINGS, 0.0, embedding=EmbeddingModelSpec("test", "hash", 8)),
        StrategySpec("words", StrategyKind.BM25, 0.0),
    ),
)


class MemoryQueue:
    """A broker that holds messages until they are taken."""

    def __init__(self) -> None:
        self.messages: list[tuple[Lane, TaskMessage]] = []

    def send(self, messages: Sequence[TaskMessage], lane: Lane) -> None:
        self.messages.extend((lane, message) for message in messages)

    def take(self) -> TaskMessage:
        return self.messages.pop(0)[1]

    def depth(self) -> QueueDepth:
        live = sum(lane is Lane.LIVE for lane, _ in self.messages)
        return QueueDepth(live, len(self.messages) - live, 0)

    def purge(self) -> None:
        self.messages.clear()


class DictSource:
    """Documents in a dict; a chunk is a line."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.versions: dict[str, int] = {}

    def put(self, document_id: str, text: str) -> None:
        self.files[document_id] = text.encode()
        self.versions[document_id] = self.versions.get(document_id, 0) + 1

    def delete(self, document_id: str) -> None:
        self.files.pop(document_id, None)

    def strategies_for(self, document_id: str) -> tuple[str, ...]:
        return ("dense", "words")

    def read(self, document_id: str) -> Content | None:
        content = self.files.get(document_id)
        return None if content is None else Content(content, self.stat_of(document_id), len(content))

    def stat_of(self, document_id: str) -> str:
        return f"v{self.versions[document_id]}" if document_id in self.files else ""

    def load(self, document_id: str, content: bytes) -> LoadedDocument:
        return LoadedDocument(content.decode(), DocumentKind.TEXT, "text/plain", document_id)

    def require_allowed(self, document_id: str, document: LoadedDocument) -> None:
        pass


def line_chunks(document: LoadedDocument, settings: Chunking) -> list[Chunk]:
    lines = [line for line in document.text.split("\n") if line.strip()]
    return [Chunk(place, line, (), place + 1, place + 1, line) for place, line in enumerate(lines)]


class ManualClock:
    """A clock that only tests move."""

    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


class World:
    """The system; its parts may be replaced by wrappers that fail."""

    def __init__(self, *, refresh_needed: bool = False) -> None:
        self.clock = ManualClock()
        self.memory = MemoryState("kb", self.clock)
        self.state = KnowledgeBaseState(self.memory.registry, self.memory.leases, self.memory.ledger)
        self.vectors = MemoryVectorStore()
        self.lexical = MemoryLexicalStore(refresh_needed=refresh_needed)
        self.model = HashEmbeddingModel(dimensions=8)
        self.tasks = MemoryQueue()
        self.source = DictSource()
        self.target = Target(INDEX_SET, KB, self.vectors, self.lexical, {"dense": self.model})
        self.target.create_indexes()
        self.keeper = LeaseKeeper(lambda _: self.state.leases, ttl_seconds=30, interval_seconds=5)
        self.handed_over: list[Prepared] = []
        #: For a model that counts as a provider's; None asks it document by document.
        self.batchers: Batchers | None = None
        self.crashes: dict[bytes, str] = {}
        self.isolation = MemoryIsolation(lambda name, content: self.source.load(name, content), line_chunks, self.crashes.get)
        self.state.registry.raise_epoch(1)
        self.state.registry.serve(INDEX_SET)

    def reconciler(self, submit: Callable[[Prepared], None] | None = None) -> Reconciler:
        return Reconciler(
            state=self.state,
            source=self.source,
            targets=lambda: [self.target],
            chunker=line_chunks,
            isolation=self.isolation,
            submit=submit or (lambda prepared: self.handed_over.append(prepared)),  # the list is replaced by each commit
            keeper=self.keeper,
            tasks=self.tasks,
            clock=self.clock,
            lease_seconds=30,
            deadline_seconds=600,
            batchers=self.batchers,
        )

    def reconciler_with_deadline(self, seconds: float) -> Reconciler:
        return replace(self.reconciler(), deadline_seconds=seconds)

    def enqueue(self, *document_ids: str, lane: Lane = Lane.BULK) -> None:
        self.tasks.send(self.state.ledger.enqueue(document_ids, lane), lane)

    def work(self) -> None:
        """Carries out every message, and commits."""
        while self.tasks.messages:
            self.reconciler().reconcile(self.tasks.take())
            self.commit()

    def commit(self) -> dict[int, str]:
        prepared, self.handed_over = self.handed_over, []
        outcomes = commit_together(prepared, self.state, self.tasks) if prepared else {}
        for item in prepared:
            self.keeper.let_go(item.commit.attempt)
        return outcomes

    def entry(self, document_id: str) -> Entry | None:
        return self.state.registry.entries(INDEX_SET, [document_id])[1].get(document_id)

    def live_texts(self, document_id: str) -> dict[str, list[str]]:
        """What is live, by strategy, as it stands in the stores."""
        entry = self.entry(document_id)
        if entry is None or entry.live is None:
            return {}
        return {
            strategy.name: [
                record.text
                for record in self.target.store(strategy).chunks_of(self.target.index(strategy.name), document_id, entry.live.generation)
            ]
            for strategy in KB.strategies
        }
