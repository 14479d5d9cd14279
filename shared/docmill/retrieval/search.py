"""Searches one knowledge base: retrieve, verify, fuse, deduplicate, rerank, limit."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from typing import Final

from docmill.domain.chunks import ChunkRecord
from docmill.domain.errors import AllStrategiesFailed, DocmillError, QueryInvalid
from docmill.domain.knowledge_bases import KnowledgeBase, Results
from docmill.domain.searching import Candidate, Degraded, Freshness, Hit, SearchOutcome, SearchRequest
from docmill.ports.clock import Clock
from docmill.ports.registry import Registry
from docmill.retrieval.fuse import check_weights, deduplicate, fuse, one_per_document
from docmill.retrieval.legible import legible
from docmill.retrieval.rerank import Stage, rerank
from docmill.retrieval.retrievers import Retriever
from docmill.retrieval.snapshot import Snapshot, SnapshotReader
from docmill.retrieval.validate import check_request
from docmill.retrieval.verify import has_changed

DEFAULT_TIMEOUT_SECONDS: Final = 10.0
#: All full texts of one response together; documents beyond it show their chunk.
MAX_FULL_TEXT_CHARACTERS: Final = 4_000_000


class Searcher:
    """Answers searches over one knowledge base; safe for several threads.

    Args:
        knowledge_base: whose settings hold where a request leaves something open.
        retrievers: one for each of its strategies.
        registry: of the knowledge base.
        executor: threads for strategies that wait for a server or a model.
        clock: measures the time limit.
        read_text: a document's whole text as it is now, by document id; None when it cannot be had.
        stat_of: a document's packed stat signature now, by document id; None when the file is gone.
        timeout_seconds: of one search.
        index_set: the one that the retrievers were made for; a search keeps to it, whatever is served meanwhile.
        reranking: the stages of reranking, in order.
        reranking_executor: threads for them; a model that hangs keeps some, which strategies would miss. None takes those of ``executor``.

    Raises:
        ConfigurationError: weighted fusion without a weight for each strategy.
    """

    def __init__(
        self,
        knowledge_base: KnowledgeBase,
        retrievers: Sequence[Retriever],
        registry: Registry,
        *,
        executor: Executor,
        clock: Clock,
        read_text: Callable[[str], str | None],
        stat_of: Callable[[str], str | None],
        timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,
        index_set: str | None = None,
        reranking: Sequence[Stage] = (),
        reranking_executor: Executor | None = None,
    ) -> None:
        self._reranking = tuple(reranking)
        self._reranking_executor = executor if reranking_executor is None else reranking_executor
        self._knowledge_base = knowledge_base
        self._retrievers = {retriever.spec.name: retriever for retriever in retrievers}
        self._clock = clock
        self._read_text = read_text
        self._stat_of = stat_of
        self._timeout_seconds = timeout_seconds
        self._reader = SnapshotReader(knowledge_base.name, registry, executor, clock, index_set=index_set)
        check_weights(knowledge_base.results.fusion, sorted(self._retrievers))

    def search(self, request: SearchRequest) -> SearchOutcome:
        """The best hits for ``request``, all of one moment.

        Raises:
            QueryInvalid: the request breaks a bound, names an unknown strategy, or asks for reranking where none is configured.
            AllStrategiesFailed: no strategy could answer; the message has each one's reason.
            StoreDown: the registry does not answer and never did.
        """
        started = self._clock.monotonic()
        check_request(request, self._retrievers.keys())
        if request.rerank and not self._reranking:
            raise QueryInvalid("rerank: this knowledge base has no results.reranking; leave it out, or set it to false")
        deadline = started + self._timeout_seconds
        names = request.strategies if request.strategies is not None else tuple(self._retrievers)
        snapshot = self._reader.read([self._retrievers[name] for name in names], request.query, request.filter, deadline)
        if snapshot.failures and len(snapshot.failures) == len(names) and not snapshot.candidates:
            raise AllStrategiesFailed(_reasons(snapshot.failures), soonest(snapshot.failures.values()))
        candidates = legible(snapshot.candidates, request.query, self._knowledge_base.strategies)
        fused = fuse_candidates(candidates, self._knowledge_base.results, request)
        stages = () if request.rerank is False else self._reranking
        reranked, not_reranked = rerank(stages, request.query, fused, self._reranking_executor, self._clock, deadline)
        hits = reranked.hits[: self._knowledge_base.results.limit if request.limit is None else request.limit]
        full_texts = self._full_texts(hits) if _wants_full_content(self._knowledge_base.results, request) else {}
        return SearchOutcome(
            knowledge_base=self._knowledge_base.name,
            hits=tuple(hits),
            degraded=(*(Degraded(name, error.code, str(error)) for name, error in sorted(snapshot.failures.items())), *not_reranked),
            freshness=Freshness(
                index_set=snapshot.position.index_set,
                commit=snapshot.position.commit,
                last_complete_run=snapshot.position.last_complete_run,
                pending=snapshot.position.pending,
                dropped=snapshot.dropped,
                unverified=snapshot.unverified,
            ),
            took_ms=(self._clock.monotonic() - started) * 1000.0,
            stale=self._stale(snapshot, hits),
            full_texts=full_texts,
            reranked=reranked.by_model,
        )

    @property
    def can_do_without_registry(self) -> bool:
        """Whether searches are answered, unverified, while the registry is silent: it was read at least once."""
        return self._reader.knows_position

    def _stale(self, snapshot: Snapshot, hits: Sequence[Hit]) -> frozenset[str]:
        generations = {hit.record.document_id: hit.record.generation for hit in hits}
        return frozenset(
            document_id
            for document_id, generation in generations.items()
            if (entry := snapshot.entries.get(document_id)) is not None and has_changed(entry, generation, self._stat_of(document_id))
        )

    def _full_texts(self, hits: Sequence[Hit]) -> Mapping[str, str]:
        texts: dict[str, str] = {}
        room = MAX_FULL_TEXT_CHARACTERS
        for document_id in dict.fromkeys(hit.record.document_id for hit in hits):
            text = self._read_text(document_id)
            if text is not None and len(text) <= room:
                texts[document_id] = text
                room -= len(text)
        return texts


def fuse_candidates(candidates: Sequence[Candidate], results: Results, request: SearchRequest) -> list[Hit]:
    """Fuses and removes repetitions; whole documents come once each."""
    hits = fuse(candidates, results.fusion)
    if results.deduplicate:
        return one_per_document(hits) if _wants_full_content(results, request) else deduplicate(hits)
    return hits


def shown_text(record: ChunkRecord, outcome: SearchOutcome) -> str:
    """What a hit shows: its document's whole text where that was asked for and could be had, else the chunk's."""
    return outcome.full_texts.get(record.document_id, record.text)


def _wants_full_content(results: Results, request: SearchRequest) -> bool:
    return results.return_full_content if request.return_full_content is None else request.return_full_content


def soonest(failures: Iterable[DocmillError]) -> float | None:
    """In how many seconds the first of what failed may work again; None where nobody says so."""
    return min((error.retry_after_seconds for error in failures if error.retry_after_seconds is not None), default=None)


def _reasons(failures: Mapping[str, DocmillError]) -> str:
    return "no strategy could answer: " + "; ".join(f"{name}: {error}" for name, error in sorted(failures.items()))
