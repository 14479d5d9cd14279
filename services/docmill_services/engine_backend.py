"""The query service's view of a knowledge base through an engine, in whichever process it answers."""

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import Final

from docmill.bootstrap import Engine, OpenKnowledgeBase
from docmill.domain.errors import DocmillError, RunUnknown
from docmill.domain.knowledge_bases import KnowledgeBase
from docmill.domain.registry import Lane
from docmill.domain.runs import Run, RunState
from docmill.domain.verification import Verification
from docmill.indexing.index_sets import WATCHING
from docmill.indexing.run_ending import end_run
from docmill.indexing.targets import Target
from docmill.indexing.verifying import Patience
from docmill.indexing.watch_note import is_watched
from docmill.ports.ledger import RunLedger
from docmill.ports.models import Caller
from docmill.ports.registry import PRODUCER_ROLE, Registry
from docmill.ports.stores import ChunkStore
from docmill.retrieval.answering.answerer import Answerer
from docmill.retrieval.query_vectors import QueryVectors
from docmill.retrieval.rerank import ModelStage, stages_of
from docmill.retrieval.retrievers import make_retrievers
from docmill.retrieval.search import Searcher
from docmill_services.query.app import make_app
from docmill_services.query.backend import ProviderGate
from docmill_services.query.serve import RunningServer, serve
from docmill_services.verification import verify_knowledge_base

_STRATEGY_THREADS: Final = 8


class EngineBackend:
    """The ``Backend`` of one knowledge base."""

    def __init__(
        self, engine: Engine, opened: OpenKnowledgeBase, executor: Executor, reranking_executor: Executor, vectors: QueryVectors
    ) -> None:
        """``executor`` runs strategies that wait, ``reranking_executor`` what reranks; ``vectors`` keeps those of recent queries."""
        self._engine = engine
        self._opened = opened
        self._executor = executor
        self._reranking_executor = reranking_executor
        self._vectors = vectors
        self._searchers: dict[str, Searcher] = {}
        caller = Caller(opened.specification.name, is_query=True)
        self._reranking = stages_of(
            opened.specification.results.reranking, lambda reference: engine.rerank_model_of(reference).on_behalf_of(caller)
        )

    @property
    def settings(self) -> KnowledgeBase:
        """See ``Backend.settings``."""
        return self._opened.specification

    @property
    def searcher(self) -> Searcher:
        """The searcher over the set that is served; each set is searched as it was configured when it was made."""
        target = self._opened.index_sets.served()
        if target.index_set not in self._searchers:
            self._searchers[target.index_set] = self._searcher(target)
        return self._searchers[target.index_set]

    @property
    def answerer(self) -> Answerer | None:
        """See ``Backend.answerer``."""
        settings = self.settings.answering
        if settings is None:
            return None
        caller = Caller(self.settings.name, is_query=True)
        kinds = {strategy.name: strategy.kind for strategy in self._opened.index_sets.served().knowledge_base.strategies}
        return Answerer(self.searcher.search, lambda: self._engine.answer_model_of(settings.model).on_behalf_of(caller), settings, kinds)

    @property
    def registry(self) -> Registry:
        """See ``Backend.registry``."""
        return self._opened.state.registry

    @property
    def ledger(self) -> RunLedger:
        """See ``Backend.ledger``."""
        return self._opened.state.ledger

    @property
    def stores(self) -> Mapping[str, ChunkStore]:
        """See ``Backend.stores``."""
        return {"vectors": self._engine.vectors, "lexical": self._engine.lexical}

    @property
    def strategy_stores(self) -> Mapping[str, ChunkStore]:
        """See ``Backend.strategy_stores``."""
        target = self._opened.index_sets.served()
        return {strategy.name: target.store(strategy) for strategy in target.knowledge_base.strategies}

    @property
    def watching(self) -> bool:
        """See ``Backend.watching``."""
        try:
            return is_watched(self.registry.noted(WATCHING))
        except DocmillError:
            return False  # what cannot be asked is not known to watch; the registry's own state says why

    @property
    def has_producer(self) -> bool:
        """See ``Backend.has_producer``."""
        return self._opened.state.leases.is_role_held(PRODUCER_ROLE)

    def start_run(self) -> Run:
        """See ``Backend.start_run``."""
        return self.ledger.start_run()[0]

    def cancel_run(self, run_id: str) -> None:
        """See ``Backend.cancel_run``."""
        run = self.ledger.run(run_id)
        if run is None:
            raise RunUnknown(f"there is no run {run_id!r}")
        if not run.state.final:
            gates = self._engine.gates_of(self.settings.name)
            end_run(self.ledger, gates.values(), run_id, RunState.CANCELLED, "cancelled by request")

    def plan(self, document_ids: Sequence[str]) -> None:
        """See ``Backend.plan``."""
        messages = self.ledger.enqueue(document_ids, Lane.LIVE)
        if messages:
            self._engine.tasks.send(messages, Lane.LIVE)

    def verify(self, *, repair: bool) -> Verification:
        """See ``Backend.verify``: beside workers, here or in other processes."""
        return verify_knowledge_base(self._engine, self._opened, repair=repair, patience=Patience())

    def gates(self) -> Sequence[ProviderGate]:
        """See ``Backend.gates``."""
        statuses = {provider: gate.status() for provider, gate in self._engine.gates_of(self.settings.name).items()}
        return [ProviderGate(provider, status.state, status.opens_at) for provider, status in statuses.items()]

    @property
    def rerankers(self) -> Mapping[str, str | None]:
        """See ``Backend.rerankers``."""
        return {stage.name: stage.refusal for stage in self._reranking if isinstance(stage, ModelStage)}

    def read_text(self, document_id: str) -> str | None:
        """See ``Backend.read_text``."""
        try:
            if self.ledger.suspicions([document_id]):
                return None  # a worker died over it, and this process serves everybody
            return self._opened.source.text_of(document_id)
        except DocmillError:
            return None  # it cannot be had: the caller shows what is indexed

    def stat_of(self, document_id: str) -> str | None:
        """See ``Backend.stat_of``."""
        return self._opened.source.stat_of(document_id) or None

    def _searcher(self, target: Target) -> Searcher:
        return Searcher(
            target.knowledge_base,
            make_retrievers(
                target.knowledge_base,
                vectors=target.vectors,
                lexical=target.lexical,
                models=target.models,
                query_vectors=self._vectors,
                vectors_in_process=self._engine.settings.qdrant_url is None,
                lexical_in_process=self._engine.settings.elasticsearch_url is None,
            ),
            self.registry,
            executor=self._executor,
            clock=self._engine.clock,
            read_text=self.read_text,
            stat_of=self.stat_of,
            timeout_seconds=self._engine.settings.query_timeout_seconds,
            index_set=target.index_set,
            reranking=self._reranking,
            reranking_executor=self._reranking_executor,
        )


def serve_engine(engine: Engine, host: str, port: int) -> RunningServer:
    """Starts to answer HTTP for every knowledge base of ``engine``; raises as ``serve``."""
    executor = ThreadPoolExecutor(_STRATEGY_THREADS, thread_name_prefix="docmill-strategy")
    reranking_executor = ThreadPoolExecutor(_STRATEGY_THREADS, thread_name_prefix="docmill-rerank")
    vectors = QueryVectors()
    backends = {
        name: EngineBackend(engine, opened, executor, reranking_executor, vectors) for name, opened in engine.knowledge_bases.items()
    }
    app = make_app(backends, engine.settings.api_key, keys=engine.keys, counter=engine.request_counter)
    return serve(app, host, port)
