"""Domain values as response bodies."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from docmill.domain.answering import Answer, Passage
from docmill.domain.errors import DocmillError
from docmill.domain.knowledge_bases import Results
from docmill.domain.runs import Run
from docmill.domain.searching import Freshness, Hit, SearchOutcome, SearchRequest
from docmill.domain.verification import Verification
from docmill.indexing.held_removals import HELD, HeldRemovals
from docmill.indexing.index_sets import WATCHING
from docmill.indexing.watch_note import trouble_of
from docmill.retrieval.search import shown_text
from docmill_services.query.backend import Backend, ProviderGate
from docmill_services.query.problems import without_folders
from docmill_services.query.responses import (
    AnswerReply,
    CitationReply,
    CitationsReply,
    DegradedOfSeveralReply,
    DegradedReply,
    DocumentCounts,
    FindingReply,
    FreshnessReply,
    GateReply,
    HeldRemovalsReply,
    KnowledgeBaseReply,
    PassageReply,
    PassagesReply,
    RerankerReply,
    ResultOfSeveralReply,
    ResultReply,
    RunReply,
    SearchReply,
    SearchSeveralReply,
    TraceReply,
    VerificationReply,
)
from docmill_services.query.status import document_counts, index_sets_of, state_of, store_states


def time_of(seconds: float | None) -> str | None:
    """Seconds since 1970 as RFC 3339 in UTC, to the millisecond."""
    if seconds is None:
        return None
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def search_reply(outcome: SearchOutcome, request: SearchRequest, results: Results) -> SearchReply:
    """The answer to a search; ``results`` are the knowledge base's settings."""
    return SearchReply(
        results=[
            ResultReply.model_validate(_result(rank, hit, outcome, request, results)) for rank, hit in enumerate(outcome.hits, start=1)
        ],
        degraded=[DegradedReply(strategy=one.strategy, code=one.code, reason=without_folders(one.reason)) for one in outcome.degraded],
        reranked=outcome.reranked,
        freshness=freshness_reply(outcome.freshness),
        took_ms=round(outcome.took_ms, 3),
    )


def search_several_reply(
    hits: Sequence[tuple[SearchOutcome, Results, Hit]],
    outcomes: Sequence[SearchOutcome],
    failed: Sequence[tuple[str, DocmillError]],
    request: SearchRequest,
    took_ms: float,
) -> SearchSeveralReply:
    """The answer to a search over several knowledge bases.

    Args:
        hits: in order, each with the outcome that it is from and that knowledge base's settings.
        outcomes: of the knowledge bases that answered.
        failed: the knowledge bases that did not.
        request: what was asked.
        took_ms: altogether.
    """
    degraded = [
        DegradedOfSeveralReply(
            knowledge_base=outcome.knowledge_base, strategy=one.strategy, code=one.code, reason=without_folders(one.reason)
        )
        for outcome in outcomes
        for one in outcome.degraded
    ]
    degraded += [DegradedOfSeveralReply(knowledge_base=name, code=error.code, reason=without_folders(str(error))) for name, error in failed]
    return SearchSeveralReply(
        results=[
            ResultOfSeveralReply.model_validate({"knowledge_base": outcome.knowledge_base, **_result(rank, hit, outcome, request, results)})
            for rank, (outcome, results, hit) in enumerate(hits, start=1)
        ],
        degraded=degraded,
        reranked=any(outcome.reranked for outcome in outcomes),
        freshness={outcome.knowledge_base: freshness_reply(outcome.freshness) for outcome in outcomes},
        took_ms=round(took_ms, 3),
    )


def passages_reply(passages: Sequence[Passage]) -> PassagesReply:
    """What the model is shown."""
    return PassagesReply(passages=[PassageReply.model_validate({**_citation(one), "text": one.text}) for one in passages])


def citations_reply(answer: Answer) -> CitationsReply:
    """What an answer cites."""
    return CitationsReply.model_validate(_citations(answer))


def answer_reply(answer: Answer, took_ms: float) -> AnswerReply:
    """An answer, after so many milliseconds."""
    return AnswerReply.model_validate(
        {
            **_citations(answer),
            "text": answer.text,
            "is_grounded": answer.is_grounded,
            "declined": answer.declined,
            "degraded": [
                DegradedReply(strategy=one.strategy, code=one.code, reason=without_folders(one.reason)) for one in answer.degraded
            ],
            "reranked": answer.reranked,
            "freshness": freshness_reply(answer.freshness),
            "took_ms": round(took_ms, 3),
        }
    )


def _citations(answer: Answer) -> dict[str, object]:
    return {
        "citations": [CitationReply.model_validate(_citation(one)) for one in answer.cited],
        "citations_offered": answer.offered,
        "citations_used": len(answer.cited),
        "citations_invalid": answer.dropped_markers,
    }


def _citation(passage: Passage) -> dict[str, object]:
    record = passage.hit.record
    fields: dict[str, object] = {
        "number": passage.number,
        "label": passage.label,
        "document_id": record.document_id,
        "chunk_id": record.chunk_id,
        "start_line": record.start_line,
        "end_line": record.end_line,
    }
    if record.page is not None:
        fields["page"] = record.page
    return fields


def freshness_reply(freshness: Freshness) -> FreshnessReply:
    """How fresh an answer is."""
    return FreshnessReply(
        index_set=freshness.index_set,
        commit=freshness.commit,
        last_complete_run=time_of(freshness.last_complete_run),
        pending=freshness.pending,
        dropped=freshness.dropped,
        unverified=freshness.unverified,
    )


def run_reply(run: Run) -> RunReply:
    """One run."""
    optional: dict[str, str | None] = {}
    if run.retry_at is not None:
        optional["retry_at"] = time_of(run.retry_at)
    if run.error:
        optional["error"] = without_folders(run.error)
    return RunReply(
        id=run.id,
        state=run.state.value,
        counters=dict(run.counters),
        started_at=time_of(run.started_at) or "",
        finished_at=time_of(run.finished_at),
        pending=run.pending,
        **optional,
    )


def knowledge_base_reply(backend: Backend) -> KnowledgeBaseReply:
    """A knowledge base and how it stands; raises ``StoreDown`` when its registry does not answer."""
    counts = document_counts(backend)
    run = backend.ledger.current_run()
    last = backend.ledger.last_complete_run()
    return KnowledgeBaseReply(
        name=backend.settings.name,
        description=backend.settings.description,
        state=state_of(counts, run),
        documents=DocumentCounts(**counts.documents),
        chunks=dict(counts.chunks),
        run=None if run is None else run_reply(run),
        last_complete_run=time_of(last.finished_at) if last else None,
        gate=[_gate_reply(gate) for gate in backend.gates()],
        reranking=[_reranker_reply(model, refusal) for model, refusal in backend.rerankers.items()],
        stores=store_states(backend),
        watching=backend.watching,
        producer=backend.has_producer,
        index_sets=index_sets_of(backend),
        **_found_of_files(backend),
    )


def verification_reply(verification: Verification) -> VerificationReply:
    """What a comparison came to."""
    return VerificationReply(
        ok=verification.ok,
        documents=verification.documents,
        findings=[
            FindingReply(kind=one.kind.value, document_id=one.document_id, store=one.store, detail=without_folders(one.detail))
            for one in verification.findings
        ],
        pending=verification.pending,
    )


def _found_of_files(backend: Backend) -> dict[str, Any]:
    """What is not as it should be with the files, where something is."""
    found: dict[str, Any] = {}
    trouble = trouble_of(backend.registry.noted(WATCHING))
    if trouble is not None:
        found["watching_trouble"] = without_folders(trouble)
    held = HeldRemovals.from_json(backend.registry.noted(HELD))
    if held is not None:
        reply = HeldRemovalsReply(documents=held.documents, reason=without_folders(held.reason), since=time_of(held.since))
        found["removals_held"] = reply
    return found


def _gate_reply(gate: ProviderGate) -> GateReply:
    if gate.opens_at is None:
        return GateReply(provider=gate.provider, state=gate.state.value)
    return GateReply(provider=gate.provider, state=gate.state.value, opens_at=time_of(gate.opens_at))


def _reranker_reply(model: str, refusal: str | None) -> RerankerReply:
    if refusal is None:
        return RerankerReply(model=model, ok=True)
    return RerankerReply(model=model, ok=False, detail=without_folders(refusal))


def _result(rank: int, hit: Hit, outcome: SearchOutcome, request: SearchRequest, results: Results) -> dict[str, object]:
    record = hit.record
    fields: dict[str, object] = {
        "rank": rank,
        "document_id": record.document_id,
        "chunk_id": record.chunk_id,
        "path": record.document_id,
        "title": record.title,
        "headings": list(record.headings),
        "text": shown_text(record, outcome),
        "start_line": record.start_line,
        "end_line": record.end_line,
        "metadata": dict(record.metadata),
        "stale": record.document_id in outcome.stale,
    }
    if record.page is not None:
        fields["page"] = record.page
    if results.include_score if request.include_score is None else request.include_score:
        fields["score"] = hit.relevance
    if request.explain:
        fields["strategies"] = {
            name: TraceReply(rank=trace.rank, score=trace.score, contribution=trace.contribution) for name, trace in hit.strategies.items()
        }
        fields["fused_score"] = hit.score
        if hit.rerank_score is not None:
            fields["rerank_score"] = hit.rerank_score
    return fields
