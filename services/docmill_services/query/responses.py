"""Bodies of responses. A field that may be missing is one with a default; all others are always there."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

KnowledgeBaseStateName = Literal["empty", "indexing", "ready", "backing_off", "failed"]
DocumentStateName = Literal["live", "pending", "skipped", "empty", "failed", "quarantined"]
RunStateName = Literal["scanning", "indexing", "complete", "complete_with_errors", "backing_off", "failed", "timed_out", "cancelled"]


class Reply(BaseModel):
    """A response body."""

    model_config = ConfigDict(frozen=True)

    def json_bytes(self) -> bytes:
        """As it is sent; fields that were not set are left out."""
        return self.model_dump_json(exclude_unset=True).encode()


class FieldProblem(Reply):
    """What is wrong with one field of a request."""

    field: str
    message: str


class ProblemReply(Reply):
    """RFC 9457 problem document."""

    type: str
    title: str
    status: int
    code: str = Field(description="Stable; the same as on the command line.")
    detail: str
    request_id: str
    errors: list[FieldProblem] | None = None


class TraceReply(Reply):
    """Where one strategy placed a result."""

    rank: int
    score: float
    contribution: float


class ResultReply(Reply):
    """One result."""

    rank: int
    document_id: str
    chunk_id: str
    path: str
    title: str
    headings: list[str]
    text: str
    start_line: int
    end_line: int
    metadata: dict[str, str | int | float | bool | list[str]]
    stale: bool = Field(description="The file has changed since it was indexed.")
    score: float | None = Field(None, description="The reranking model's where there is one, else that of the fusion.")
    strategies: dict[str, TraceReply] | None = None
    fused_score: float | None = Field(None, description="With `explain`: the score of the fusion.")
    rerank_score: float | None = Field(None, description="With `explain`: what the reranking model made of it, 0 to 1.")
    page: int | None = None


class ResultOfSeveralReply(ResultReply):
    """One result of a search over several knowledge bases."""

    knowledge_base: str


class DegradedReply(Reply):
    """A strategy that could not answer; or `reranking`, when that could not be done."""

    strategy: str
    code: str
    reason: str


class DegradedOfSeveralReply(Reply):
    """A knowledge base, or one strategy of it, that could not answer."""

    knowledge_base: str
    code: str
    reason: str
    strategy: str | None = None


class FreshnessReply(Reply):
    """How fresh an answer is."""

    index_set: str | None
    commit: int
    last_complete_run: str | None = Field(description="RFC 3339, UTC.")
    pending: int = Field(description="Documents that wait or are in work.")
    dropped: int = Field(description="Documents left out since they changed under the search.")
    unverified: bool = Field(description="The registry could not be read.")


class SearchReply(Reply):
    """The answer to a search."""

    results: list[ResultReply]
    degraded: list[DegradedReply]
    reranked: bool
    freshness: FreshnessReply
    took_ms: float


class SearchSeveralReply(Reply):
    """The answer to a search over several knowledge bases; ``freshness`` by knowledge base."""

    results: list[ResultOfSeveralReply]
    degraded: list[DegradedOfSeveralReply]
    reranked: bool
    freshness: dict[str, FreshnessReply]
    took_ms: float


class CitationReply(Reply):
    """A passage that an answer cites."""

    number: int = Field(description="As the text has it in square brackets.")
    label: str = Field(description="For people: `[1] Handbook › Refunds (handbook.md:12-30)`.")
    document_id: str
    chunk_id: str
    start_line: int
    end_line: int
    page: int | None = None


class PassageReply(CitationReply):
    """A passage that the model is shown."""

    text: str


class PassagesReply(Reply):
    """The first event of an answer that is written."""

    passages: list[PassageReply]


class DeltaReply(Reply):
    """The next part of an answer that is written."""

    text: str


class CitationsReply(Reply):
    """What an answer cites."""

    citations: list[CitationReply]
    citations_offered: int = Field(description="How many passages the model was shown.")
    citations_used: int = Field(description="How many of them the answer cites.")
    citations_invalid: int = Field(description="Markers of passages that there are not; they were left out.")


class AnswerReply(CitationsReply):
    """An answer."""

    text: str
    is_grounded: bool = Field(description="It cites at least one passage.")
    declined: bool = Field(description="The documents do not answer the question, and the text says so.")
    degraded: list[DegradedReply]
    reranked: bool
    freshness: FreshnessReply
    took_ms: float


class RunReply(Reply):
    """One run."""

    id: str
    state: RunStateName
    counters: dict[str, int]
    started_at: str = Field(description="RFC 3339, UTC.")
    finished_at: str | None
    pending: int
    retry_at: str | None = None
    error: str | None = None


class DocumentCounts(Reply):
    """How many documents are in each state."""

    live: int
    pending: int
    skipped: int
    empty: int
    failed: int
    quarantined: int


class GateReply(Reply):
    """How a provider's gate stands."""

    provider: str
    state: Literal["open", "closed", "probing"]
    opens_at: str | None = None


class StoreReply(Reply):
    """Whether a store answers."""

    ok: bool
    detail: str | None = None


class RerankerReply(Reply):
    """A model that scores hits; one that refused, which it would do with each query, is not asked any more."""

    model: str = Field(description="As the configuration refers to it.")
    ok: bool
    detail: str | None = None


class IndexSetReply(Reply):
    """One of the physical forms of a knowledge base: the one that queries read, or the one that will take its place."""

    id: str
    role: Literal["served", "building"]
    documents: dict[str, int] = Field(description="By stored state; those that wait are in none.")


class HeldRemovalsReply(Reply):
    """Documents that are missing, and kept since so much is missing at once, until a later scan or a person confirms it."""

    documents: int
    reason: str
    since: str | None = Field(description="RFC 3339, UTC.")


class KnowledgeBaseReply(Reply):
    """A knowledge base and how it stands."""

    name: str
    description: str
    state: KnowledgeBaseStateName
    documents: DocumentCounts
    chunks: dict[str, int]
    run: RunReply | None
    last_complete_run: str | None = Field(description="RFC 3339, UTC.")
    gate: list[GateReply]
    reranking: list[RerankerReply] = Field(description="The models that hits are reranked with, in order, as this process knows them.")
    stores: dict[str, StoreReply]
    watching: bool
    watching_trouble: str | None = Field(None, description="Why some changes are found by scans alone.")
    removals_held: HeldRemovalsReply | None = None
    producer: bool = Field(description="A process plans its work; without one, a run that was asked for waits.")
    index_sets: list[IndexSetReply]


class KnowledgeBasesReply(Reply):
    """All knowledge bases."""

    knowledge_bases: list[KnowledgeBaseReply]


class DocumentReply(Reply):
    """A document in a list."""

    document_id: str
    path: str
    state: DocumentStateName
    size_bytes: int
    chunks: int = Field(description="Over all strategies.")
    reason: str | None = None
    title: str | None = None
    indexed_at: str | None = Field(default=None, description="When what is indexed of it was committed.")


class DocumentsReply(Reply):
    """A page of documents; ``next`` is the cursor of the page after it."""

    documents: list[DocumentReply]
    next: str | None


class ChunkReply(Reply):
    """One chunk."""

    chunk_id: str
    index: int
    text: str
    headings: list[str]
    start_line: int
    end_line: int
    page: int | None = None
    symbols: list[str] | None = Field(default=None, description="What is defined in it, of source code that is cut by its syntax.")


class StrategyChunksReply(Reply):
    """What one strategy holds of a document; ``items`` when chunks were asked for."""

    chunks: int
    generation: int
    items: list[ChunkReply] | None = None


class DocumentDetailReply(DocumentReply):
    """A document with its text and what each strategy holds of it."""

    strategies: dict[str, StrategyChunksReply]
    stale: bool
    text: str | None = None
    text_truncated: bool | None = None
    mime: str | None = None
    metadata: dict[str, str | int | float | bool | list[str]] | None = None


class KeyReply(Reply):
    """An API key, without the key itself."""

    id: str
    name: str
    right: Literal["read", "write", "admin"]
    knowledge_bases: list[str] | None = Field(description="`null` for all.")
    created_at: str = Field(description="RFC 3339, UTC.")
    expires_at: str | None
    requests_per_minute: int | None


class KeyMadeReply(KeyReply):
    """A new API key."""

    key: str = Field(description="The key itself; it is shown this once.")


class KeysReply(Reply):
    """All keys."""

    keys: list[KeyReply]


class RetryReply(Reply):
    """What is tried again."""

    documents: int = Field(description="How many documents.")
    run: RunReply | None = Field(description="The run that plans them; `null` when they were named, or when there are none.")


class ApprovalReply(Reply):
    """What was approved."""

    documents: int = Field(description="How many documents waited to be removed.")
    run: RunReply | None = Field(description="The run that removes them; `null` when none waited.")


class FindingReply(Reply):
    """One thing that differs between files, registry and stores."""

    kind: Literal["missing", "stale", "orphan", "count", "store"]
    document_id: str | None
    store: str = Field(description="Where it shows: `registry`, `vectors` or `lexical`.")
    detail: str = Field(description="One sentence; after a repair also what was done.")


class VerificationReply(Reply):
    """What a comparison of files, registry and stores came to."""

    ok: bool = Field(description="There are no findings.")
    documents: int = Field(description="How many the files are.")
    findings: list[FindingReply]
    pending: int = Field(description="Documents that differ and are still being worked on; not judged.")


class LivenessReply(Reply):
    """The process answers."""

    status: Literal["ok"]


class ReadinessReply(Reply):
    """Whether searches can be answered, and what each knowledge base lacks."""

    ready: bool
    knowledge_bases: dict[str, str]
