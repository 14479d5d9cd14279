"""The query service over real HTTP, with memory twins behind it."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import monotonic, sleep

import httpx

from docmill.domain.knowledge_bases import KnowledgeBase
from docmill.domain.registry import Lane
from docmill.domain.runs import Run, RunState
from docmill.domain.verification import Verification
from docmill.ports.ledger import RunLedger
from docmill.ports.registry import Registry
from docmill.ports.stores import ChunkStore
from docmill.retrieval.answering.answerer import Answerer
from docmill_services.query.app import make_app
from docmill_services.query.backend import ProviderGate, Searches
from docmill_services.query.serve import RunningServer, serve
from support.library import WORDS, Library


class SystemClock:
    """The machine's clock."""

    def monotonic(self) -> float:
        return monotonic()

    def sleep(self, seconds: float) -> None:
        sleep(seconds)


@dataclass
class LibraryBackend:
    """A ``Library`` as the query service sees it."""

    library: Library
    watching: bool = True
    has_producer: bool = True
    own_gates: list[ProviderGate] = field(default_factory=list)
    own_searcher: Searches | None = None
    own_registry: Registry | None = None
    own_stores: Mapping[str, ChunkStore] | None = None
    own_verification: Verification = field(default_factory=lambda: Verification(0))
    repairs: list[bool] = field(default_factory=list)
    answerer: Answerer | None = None
    rerankers: Mapping[str, str | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.searcher: Searches = self.own_searcher or self.library.searcher(SystemClock())

    @property
    def settings(self) -> KnowledgeBase:
        return self.library.settings

    @property
    def registry(self) -> Registry:
        return self.own_registry or self.library.state.registry

    @property
    def ledger(self) -> RunLedger:
        return self.library.state.ledger

    @property
    def stores(self) -> Mapping[str, ChunkStore]:
        return self.own_stores or {"words": self.library.lexical, "vectors": self.library.vectors}

    @property
    def strategy_stores(self) -> Mapping[str, ChunkStore]:
        return {spec.name: self.library.lexical if spec == WORDS else self.library.vectors for spec in self.library.strategies}

    def start_run(self) -> Run:
        return self.ledger.start_run()[0]

    def cancel_run(self, run_id: str) -> None:
        self.ledger.end_run(run_id, RunState.CANCELLED)

    def verify(self, *, repair: bool) -> Verification:
        self.repairs.append(repair)
        return self.own_verification

    def plan(self, document_ids: Sequence[str]) -> None:
        self.ledger.enqueue(document_ids, Lane.LIVE)

    def gates(self) -> Sequence[ProviderGate]:
        return self.own_gates

    def read_text(self, document_id: str) -> str | None:
        return self.library.texts.get(document_id)

    def stat_of(self, document_id: str) -> str | None:
        return self.library.stats.get(document_id)


@dataclass
class Service:
    """A running query service, a client of it, and what is behind it."""

    server: RunningServer
    client: httpx.Client
    library: Library
    backend: LibraryBackend
    knowledge_bases: dict[str, LibraryBackend]

    def search(self, body: object, kb: str = "library") -> httpx.Response:
        return self.client.post(f"/v1/knowledge-bases/{kb}/search", json=body)


@contextmanager
def running_service() -> Iterator[Service]:
    """A service over one knowledge base named ``library``."""
    library = Library()
    backend = LibraryBackend(library)
    knowledge_bases = {"library": backend}
    server = serve(make_app(knowledge_bases), "127.0.0.1", 0)
    try:
        with httpx.Client(base_url=server.url, timeout=30.0, trust_env=False) as client:
            yield Service(server, client, library, backend, knowledge_bases)
    finally:
        assert server.stop()
        library.close()
