"""Search: the request, the steps' values and the response."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from docmill.domain.chunks import ChunkFilter, ChunkRecord


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A search over one knowledge base; None means what the knowledge base is configured to."""

    query: str
    limit: int | None = None
    strategies: tuple[str, ...] | None = None
    filter: ChunkFilter = field(default_factory=ChunkFilter)
    rerank: bool | None = None
    include_score: bool | None = None
    return_full_content: bool | None = None
    explain: bool = False


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk that a strategy found; ``rank`` from 1 within the strategy, ``score`` on the strategy's scale."""

    strategy: str
    rank: int
    score: float
    record: ChunkRecord


@dataclass(frozen=True, slots=True)
class StrategyTrace:
    """Where one strategy placed a hit: for ``explain``."""

    rank: int
    score: float
    contribution: float


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk after fusion; ``strategies`` says where each strategy placed it, ``rerank_score`` (0 to 1) what a model makes of it."""

    record: ChunkRecord
    score: float
    strategies: Mapping[str, StrategyTrace]
    rerank_score: float | None = None

    @property
    def relevance(self) -> float:
        """The score that it is ordered by among those of its kind: the model's where there is one, else that of the fusion."""
        return self.score if self.rerank_score is None else self.rerank_score


@dataclass(frozen=True, slots=True)
class Degraded:
    """A strategy that could not answer, or reranking that could not be done, and why."""

    strategy: str
    code: str
    reason: str


@dataclass(frozen=True, slots=True)
class Freshness:
    """How fresh an answer is.

    Attributes:
        last_complete_run: seconds since 1970, or None.
        pending: documents that wait or are in work.
        dropped: documents left out since they changed twice under the query.
        unverified: the registry could not be read.
    """

    index_set: str | None
    commit: int
    last_complete_run: float | None
    pending: int
    dropped: int = 0
    unverified: bool = False


@dataclass(frozen=True, slots=True)
class SearchOutcome:
    """What a search came to.

    Attributes:
        stale: ids of documents whose file has changed since.
        reranked: whether a model has scored hits.
    """

    knowledge_base: str
    hits: tuple[Hit, ...]
    degraded: tuple[Degraded, ...]
    freshness: Freshness
    took_ms: float
    stale: frozenset[str] = frozenset()
    full_texts: Mapping[str, str] = field(default_factory=dict)
    reranked: bool = False
