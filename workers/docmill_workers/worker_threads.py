"""The worker: Celery consumers, committer, leases and upkeep as threads of one process, which may be the one that owns the stores."""

import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Final

from celery import Celery

from docmill.bootstrap import Engine
from docmill.domain.errors import ServiceDown, StoreDown
from docmill.domain.knowledge_bases import EmbeddingModelSpec, StrategySpec
from docmill.domain.registry import Lane, TaskMessage
from docmill.indexing.batchers import Batchers, is_remote
from docmill.indexing.batching import MOST_SENDERS
from docmill.indexing.committing import Committer
from docmill.indexing.finishing import Finishing
from docmill.indexing.giving_back import give_back
from docmill.indexing.leasekeeping import LeaseKeeper
from docmill.indexing.reconciling import Reconciler
from docmill.indexing.turns import Turns
from docmill.ports.ledger import RunLedger
from docmill.ports.queue import TaskQueue
from docmill_workers.consuming import Consumer, start_consumer, stop_consumers
from docmill_workers.liveness import Liveness
from docmill_workers.tasks import register_tasks
from docmill_workers.upkeep import Upkeep

#: Documents of one process that may be in work while they wait for a provider.
MOST_DOCUMENTS: Final = 384
#: Threads of the bulk lane where a document waits for a provider without one: those that wait for each other's texts have one still.
MOST_THREADS: Final = 32
#: Live changes of one process in work at once: one where all is computed here, some where a provider is waited for.
_LIVE_DOCUMENTS: Final = 1
_LIVE_DOCUMENTS_THAT_WAIT: Final = 4


class WorkerThreads:
    """Everything that a worker runs, started together and stopped together."""

    def __init__(
        self,
        tasks: TaskQueue,
        liveness: Liveness,
        keeper: LeaseKeeper,
        committer: Committer,
        upkeep: tuple[Upkeep, ...],
        consumers: tuple[Consumer, ...],
        ledger_of: Callable[[str], RunLedger],
        stop_calls: Callable[[], None],
        batchers: Batchers,
        finishing: Finishing,
    ) -> None:
        """Use ``start_worker_threads``."""
        self._tasks = tasks
        self._ledger_of = ledger_of
        self._liveness = liveness
        self._keeper = keeper
        self._committer = committer
        self._upkeep = upkeep
        self._consumers = consumers
        self._stop_calls = stop_calls
        self._batchers = batchers
        self._finishing = finishing

    def check(self) -> None:
        """Raises ``ServiceDown`` when a thread has ended that nothing can be indexed without."""
        threads = {"committer": self._committer.alive, "leases": self._keeper.alive, "finisher": self._finishing.alive}
        threads |= {f"consumer of the {consumer.lane.value} lane": not consumer.ended for consumer in self._consumers}
        ended = [name for name, alive in threads.items() if not alive]
        if ended and not self._keeper.stopped:
            raise ServiceDown(f"a thread of the worker has ended ({', '.join(ended)}); the log says why; start docmill again")

    def check_progress(self) -> None:
        """``check``, and raises ``ServiceDown`` too when nothing was taken for a while from a queue that is not empty."""
        self.check()
        try:
            depth = self._tasks.depth()
        except StoreDown:
            return  # Redis is out for every worker: to start this one again helps nobody
        starving = self._liveness.starving_seconds(depth.live + depth.bulk)
        if starving:
            raise ServiceDown(f"{depth.live + depth.bulk} messages wait, and this worker has taken none for {starving:.0f} s")

    def stop(self, timeout_seconds: float) -> None:
        """Takes no more messages, lets what is nearly done be committed, gives back the rest, and ends."""
        deadline = time.monotonic() + timeout_seconds
        stop_consumers()
        self._keeper.stop()  # from now on what ends early is given back, below, and has not failed
        self._stop_calls()
        self._batchers.stop()
        self._finishing.stop(max(0.1, deadline - time.monotonic()))
        self._committer.stop(max(0.1, deadline - time.monotonic()))
        for upkeep in self._upkeep:
            upkeep.stop(max(0.1, deadline - time.monotonic()))
        for consumer in self._consumers:
            consumer.thread.join(max(0.1, deadline - time.monotonic()))
        give_back(self._keeper.held(), self._ledger_of, self._tasks)
        self._batchers.join(max(0.1, deadline - time.monotonic()))


def start_worker_threads(engine: Engine) -> WorkerThreads:
    """Starts consuming for every knowledge base of ``engine``."""
    settings = engine.settings
    keeper = LeaseKeeper(
        lambda name: engine.knowledge_base(name).state.leases,
        ttl_seconds=settings.lease_seconds,
        interval_seconds=settings.lease_renewal_seconds,
    )
    committer = Committer(
        lambda name: engine.knowledge_base(name).state,
        engine.tasks,
        keeper,
        linger_seconds=engine.group_commit_seconds,
        live_linger_seconds=min(engine.group_commit_seconds, settings.live_commit_seconds),
        max_documents=settings.group_commit_documents,
    )
    batchers = Batchers()
    reconcilers = _reconcilers(engine, keeper, committer, batchers)
    upkeep = tuple(
        Upkeep(
            opened.state,
            opened.index_sets.targets,
            engine.tasks,
            open_state=partial(engine.open_state, opened),
            settle=opened.index_sets.settle,
            drop_others=opened.index_sets.drop_others,
            holder=engine.holder,
            grace_seconds=settings.grace_seconds,
        )
        for opened in engine.knowledge_bases.values()
    )
    finishing = Finishing(most_waiting=documents_in_work(_embedding_models(_strategies(engine)), engine.worker_threads))
    keeper.start()
    committer.start()
    finishing.start()
    for one in upkeep:
        one.start()
    liveness = Liveness()

    def reconcile(message: TaskMessage, turns: Turns, finishing: Finishing | None) -> None:
        """Drops a message of a knowledge base that is configured no longer, and any while the process stops: the ledger keeps the entry."""
        reconciler = reconcilers.get(message.knowledge_base)
        if reconciler is None:
            return
        with liveness.working(), turns.taken():
            if not keeper.stopped:
                reconciler.reconcile(message, turns, finishing)

    consumers = _consumers(engine, reconcile, finishing)
    return WorkerThreads(
        engine.tasks,
        liveness,
        keeper,
        committer,
        upkeep,
        consumers,
        lambda name: engine.knowledge_base(name).state.ledger,
        engine.stop_calls,
        batchers,
        finishing,
    )


def _reconcilers(engine: Engine, keeper: LeaseKeeper, committer: Committer, batchers: Batchers) -> dict[str, Reconciler]:
    return {
        name: Reconciler(
            state=opened.state,
            source=opened.source,
            targets=opened.index_sets.targets,
            chunker=engine.chunker,
            isolation=engine.isolation,
            submit=committer.submit,
            keeper=keeper,
            tasks=engine.tasks,
            clock=engine.clock,
            lease_seconds=engine.settings.lease_seconds,
            deadline_seconds=engine.settings.document_deadline_seconds,
            batchers=batchers,
        )
        for name, opened in engine.knowledge_bases.items()
    }


def _consumers(
    engine: Engine, reconcile: Callable[[TaskMessage, Turns, Finishing | None], None], finishing: Finishing
) -> tuple[Consumer, ...]:
    threads = bulk_threads(_strategies(engine), engine.worker_threads)
    live = _LIVE_DOCUMENTS if threads == engine.worker_threads else _LIVE_DOCUMENTS_THAT_WAIT
    turns = Turns(engine.worker_threads)
    # A watched change has a turn of its own, and waits in a thread of its own: never behind what bulk work computes or waits for.
    live_turns = Turns(_LIVE_DOCUMENTS)
    bulk_application = _application(engine, lambda message: reconcile(message, turns, finishing))
    return (
        start_consumer(_application(engine, lambda message: reconcile(message, live_turns, None)), Lane.LIVE, threads=live, prefetch=4),
        start_consumer(bulk_application, Lane.BULK, threads=threads, prefetch=max(16, threads)),
    )


def _strategies(engine: Engine) -> list[StrategySpec]:
    return [strategy for opened in engine.knowledge_bases.values() for strategy in opened.specification.strategies]


def _embedding_models(strategies: Iterable[StrategySpec]) -> set[EmbeddingModelSpec]:
    return {strategy.embedding for strategy in strategies if strategy.embedding is not None}


def bulk_threads(strategies: Sequence[StrategySpec], threads: int) -> int:
    """In how many threads a process works on documents of the bulk lane, of which ``threads`` compute.

    Summaries are waited for in a thread, vectors without one.
    """
    documents = documents_in_work(_embedding_models(strategies), threads)
    has_summaries = any(strategy.chat_model is not None for strategy in strategies)
    return documents if has_summaries else max(threads, min(documents, MOST_THREADS))


def documents_in_work(models: Iterable[EmbeddingModelSpec], threads: int) -> int:
    """How many documents of the bulk lane a process works on at once, of which ``threads`` compute.

    As many as compute where all models run here. Where providers are waited for, as many as fill the requests that may be on their way,
    and half as many again, so that the next ones are full when one returns; a document may have no more than one chunk.
    """
    texts = sum((spec.max_concurrency or MOST_SENDERS) * spec.batch_size for spec in models if is_remote(spec))
    return max(threads, min(MOST_DOCUMENTS, texts + texts // 2))


def _application(engine: Engine, reconcile: Callable[[TaskMessage], None]) -> Celery:
    app = engine.consumer_application()
    register_tasks(app, reconcile)
    return app
