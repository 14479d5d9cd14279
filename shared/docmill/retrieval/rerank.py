"""Reranks hits: what a model makes of them, one stage after the other, and what happens when it cannot."""

import copy
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Final, Protocol

import structlog

from docmill.domain.errors import ConfigurationError, DocmillError, ProviderPermanent, StrategyLate
from docmill.domain.knowledge_bases import Reranking, ScoreFloor
from docmill.domain.searching import Degraded, Hit
from docmill.ports.clock import Clock
from docmill.ports.models import RerankModel
from docmill.retrieval.together import Call, call_together

_log = structlog.get_logger(__name__)
#: In ``degraded``, in the place of a strategy's name.
RERANKING: Final = "reranking"


@dataclass(frozen=True, slots=True)
class Reranked:
    """What a stage makes of hits.

    Attributes:
        hits: all of those that stay, best first.
        by_model: a model has scored some of them.
        dropped: how many were left out since they scored too low.
    """

    hits: Sequence[Hit]
    by_model: bool = False
    dropped: int = 0


class Stage(Protocol):
    """One stage of reranking. May be called from several threads at once."""

    @property
    def name(self) -> str:
        """What people call it."""
        ...

    def rerank(self, query: str, hits: Sequence[Hit]) -> Reranked:
        """The hits in their new order; raises a ``DocmillError`` when it cannot tell."""
        ...


@dataclass(frozen=True, slots=True)
class FloorStage:
    """Leaves out what scores far below the best hit; costs nothing, so that a model after it reads less."""

    floor: ScoreFloor

    @property
    def name(self) -> str:
        """See ``Stage``."""
        return "score_floor"

    def rerank(self, query: str, hits: Sequence[Hit]) -> Reranked:
        """The hits that reach the floor's share of the best score; all of them where that is not above 0."""
        best = max((hit.score for hit in hits), default=0.0)
        if best <= 0.0:
            return Reranked(hits)
        kept = [hit for hit in hits if hit.score >= best * self.floor.share]
        return Reranked(kept, dropped=len(hits) - len(kept))


class ModelStage:
    """Lets a model score the best hits.

    A permanent error switches it off for as long as the process lives with this configuration: the model would refuse each query anew.
    """

    def __init__(self, settings: Reranking, make: Callable[[], RerankModel]) -> None:
        """``make`` connects to nothing; it is called with the first query, and raises as configuration errors do."""
        self._settings = settings
        self._make = make
        self._model: RerankModel | None = None
        self._refusal: DocmillError | None = None
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """See ``Stage``; the reference to the model."""
        return self._settings.model

    @property
    def refusal(self) -> str | None:
        """Why it is switched off; None while it is on."""
        return None if self._refusal is None else str(self._refusal)

    def rerank(self, query: str, hits: Sequence[Hit]) -> Reranked:
        """Those that the model scores come first, best first; then those of the first ``top_k`` that it left out; then the others.

        What it scores below the threshold is left out. Equal scores, and all that has none, keep their order.

        Raises:
            ProviderError: the model failed; after a permanent error it is not asked any more.
            ConfigurationError: there is no such model, or its credential is missing; likewise.
        """
        if self._refusal is not None:
            raise copy.copy(self._refusal)  # several threads raise it
        read = hits[: self._settings.top_k]
        if not read:
            return Reranked(hits)
        try:
            scores = self._model_now().score(query, [hit.record.indexed_text for hit in read], criteria=self._settings.criteria)
        except (ProviderPermanent, ConfigurationError) as error:
            self._switch_off(error)
            raise
        scored = [replace(hit, rerank_score=score) for hit, score in zip(read, scores, strict=True) if score is not None]
        kept = sorted((hit for hit in scored if hit.relevance >= self._settings.threshold), key=lambda hit: -hit.relevance)
        left_out = [hit for hit, score in zip(read, scores, strict=True) if score is None]
        return Reranked([*kept, *left_out, *hits[len(read) :]], by_model=bool(scored), dropped=len(scored) - len(kept))

    def _model_now(self) -> RerankModel:
        with self._lock:
            if self._model is None:
                self._model = self._make()
            return self._model

    def _switch_off(self, error: DocmillError) -> None:
        with self._lock:
            if self._refusal is not None:
                return
            self._refusal = error
        _log.warning("reranker_switched_off", model=self.name, error=str(error), until="docmill is started again")


def rerank(
    stages: Sequence[Stage], query: str, hits: Sequence[Hit], executor: Executor, clock: Clock, deadline: float
) -> tuple[Reranked, list[Degraded]]:
    """All stages, one after the other; one that fails, or is late, leaves the hits as they are and is named in the second part.

    Args:
        stages: in order.
        query: the text.
        hits: best first.
        executor: runs the stages.
        clock: whose time ``deadline`` is.
        deadline: a stage that has not answered by then has failed; its call is left to end by itself.
    """
    outcome = Reranked(hits)
    degraded: list[Degraded] = []
    for stage in stages:
        work = _Work(stage, query, outcome.hits)
        results, failures = call_together([Call(RERANKING, work, isinstance(stage, FloorStage))], executor, clock, deadline)
        for error in failures.values():
            late = isinstance(error, StrategyLate)
            reason = f"{stage.name}: it did not answer within the query's time limit" if late else f"{stage.name}: {error}"
            degraded.append(Degraded(RERANKING, error.code, reason))
        for done in results.values():
            outcome = Reranked(done.hits, outcome.by_model or done.by_model, outcome.dropped + done.dropped)
    return outcome, degraded


@dataclass(frozen=True, slots=True)
class _Work:
    """One stage, ready to run in another thread."""

    stage: Stage
    query: str
    hits: Sequence[Hit]

    def __call__(self) -> Reranked:
        return self.stage.rerank(self.query, self.hits)


def stages_of(reranking: Sequence[ScoreFloor | Reranking], model_of: Callable[[str], RerankModel]) -> list[Stage]:
    """The stages that a knowledge base is configured with.

    Args:
        reranking: in order.
        model_of: the model that a reference stands for; raises ``ConfigurationError`` or ``NotAvailable``.
    """
    stages: list[Stage] = []
    for one in reranking:
        if isinstance(one, ScoreFloor):
            stages.append(FloorStage(one))
        else:
            stages.append(_model_stage(one, model_of))
    return stages


def _model_stage(settings: Reranking, model_of: Callable[[str], RerankModel]) -> ModelStage:
    return ModelStage(settings, lambda: model_of(settings.model))
