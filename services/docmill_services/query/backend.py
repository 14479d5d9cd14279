"""What the query service needs of a knowledge base; the composition root hands it over."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from docmill.domain.knowledge_bases import KnowledgeBase
from docmill.domain.runs import Run
from docmill.domain.searching import SearchOutcome, SearchRequest
from docmill.domain.verification import Verification
from docmill.ports.gate import GateState
from docmill.ports.ledger import RunLedger
from docmill.ports.registry import Registry
from docmill.ports.stores import ChunkStore
from docmill.retrieval.answering.answerer import Answerer


@dataclass(frozen=True, slots=True)
class ProviderGate:
    """How a provider's gate stands; ``opens_at`` in seconds since 1970 while it is closed."""

    provider: str
    state: GateState
    opens_at: float | None = None


class Searches(Protocol):
    """Answers searches; ``docmill.retrieval.search.Searcher`` is one."""

    def search(self, request: SearchRequest) -> SearchOutcome:
        """The best hits; raises ``QueryInvalid``, ``NotAvailable``, ``AllStrategiesFailed`` or ``StoreDown``."""
        ...

    @property
    def can_do_without_registry(self) -> bool:
        """Whether searches are answered, unverified, while the registry is silent."""
        ...


class Backend(Protocol):
    """One knowledge base as the query service sees it. Everything may be called from several threads at once."""

    @property
    def settings(self) -> KnowledgeBase:
        """Its configuration."""
        ...

    @property
    def searcher(self) -> Searches:
        """What answers searches over it."""
        ...

    @property
    def answerer(self) -> Answerer | None:
        """What answers questions over it; None where no chat model is configured."""
        ...

    @property
    def registry(self) -> Registry:
        """Its registry."""
        ...

    @property
    def ledger(self) -> RunLedger:
        """Its run ledger."""
        ...

    @property
    def stores(self) -> Mapping[str, ChunkStore]:
        """Its stores, by the name that people know them by; asked whether they answer."""
        ...

    @property
    def strategy_stores(self) -> Mapping[str, ChunkStore]:
        """The store of each strategy of the index set that is served, by the strategy's name; ``settings`` may have others already."""
        ...

    @property
    def watching(self) -> bool:
        """Whether changes of files are noticed as they happen."""
        ...

    @property
    def has_producer(self) -> bool:
        """Whether a process leads that scans and plans; raises ``StoreDown``."""
        ...

    def start_run(self) -> Run:
        """Starts a run, or returns the one that is going on, marked for one more pass; does not wait for it."""
        ...

    def cancel_run(self, run_id: str) -> None:
        """Ends a run as ``cancelled``; nothing happens when it has ended."""
        ...

    def plan(self, document_ids: Sequence[str]) -> None:
        """Lets workers look at documents soon."""
        ...

    def verify(self, *, repair: bool) -> Verification:
        """Compares its sources with registry and stores; raises ``StoreDown`` or ``RootUnavailable``."""
        ...

    def gates(self) -> Sequence[ProviderGate]:
        """The gates of the providers that it is indexed with; raises ``StoreDown``."""
        ...

    @property
    def rerankers(self) -> Mapping[str, str | None]:
        """The models that hits are reranked with, by reference, each with why it is switched off, or None."""
        ...

    def read_text(self, document_id: str) -> str | None:
        """A document's whole text as it is now; None when it cannot be had. Called only for documents that the registry knows."""
        ...

    def stat_of(self, document_id: str) -> str | None:
        """A document's packed stat signature now; None when the file is gone."""
        ...
