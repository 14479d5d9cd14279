"""The worker: Celery consumers, committer, leases and upkeep as threads of one process, which may be the one that owns the stores."""

import time
from collections.abc import Callable, Mapping
from functools import partial

from celery import Celery

from docmill.bootstrap import Engine
from docmill.domain.errors import ServiceDown, StoreDown
from docmill.domain.registry import Lane, TaskMessage
from docmill.indexing.committing import Committer
from docmill.indexing.giving_back import give_back
from docmill.indexing.leasekeeping import LeaseKeeper
from docmill.indexing.reconciling import Reconciler
from docmill.ports.queue import TaskQueue
from docmill.ports.registry import RunLedger
from docmill_workers.consuming import Consumer, start_consumer, stop_consumers
from docmill_workers.liveness import Liveness
from docmill_workers.tasks import register_tasks
from docmill_workers.upkeep import Upkeep


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
    ) -> None:
        """Use ``start_worker_threads``."""
        self._tasks = tasks
        self._ledger_of = ledger_of
        self._liveness = liveness
        self._keeper = keeper
        self._committer = committer
        self._upkeep = upkeep
        self._consumers = consumers

    def check(self) -> None:
        """Raises ``ServiceDown`` when a thread has ended that nothing can be indexed without."""
        threads = {"committer": self._committer.alive, "leases": self._keeper.alive}
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
        self._keeper.stop()
        self._committer.stop(max(0.1, deadline - time.monotonic()))
        for upkeep in self._upkeep:
            upkeep.stop(max(0.1, deadline - time.monotonic()))
        for consumer in self._consumers:
            consumer.thread.join(max(0.1, deadline - time.monotonic()))
        give_back(self._keeper.held(), self._ledger_of, self._tasks)


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
    reconcilers = _reconcilers(engine, keeper, committer)
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
    keeper.start()
    committer.start()
    for one in upkeep:
        one.start()
    liveness = Liveness()
    consumers = _consumers(engine, lambda message: _reconcile(reconcilers, keeper, liveness, message))
    return WorkerThreads(
        engine.tasks, liveness, keeper, committer, upkeep, consumers, lambda name: engine.knowledge_base(name).state.ledger
    )


def _reconcilers(engine: Engine, keeper: LeaseKeeper, committer: Committer) -> dict[str, Reconciler]:
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
        )
        for name, opened in engine.knowledge_bases.items()
    }


def _reconcile(reconcilers: Mapping[str, Reconciler], keeper: LeaseKeeper, liveness: Liveness, message: TaskMessage) -> None:
    """Drops a message of a knowledge base that is configured no longer, and any while the process stops: the ledger keeps the entry."""
    reconciler = reconcilers.get(message.knowledge_base)
    if reconciler is not None and not keeper.stopped:
        with liveness.working():
            reconciler.reconcile(message)


def _consumers(engine: Engine, reconcile: Callable[[TaskMessage], None]) -> tuple[Consumer, ...]:
    threads = engine.worker_threads
    return (
        start_consumer(_application(engine, reconcile), Lane.LIVE, threads=1, prefetch=4),
        start_consumer(_application(engine, reconcile), Lane.BULK, threads=threads, prefetch=max(16, threads)),
    )


def _application(engine: Engine, reconcile: Callable[[TaskMessage], None]) -> Celery:
    app = engine.consumer_application()
    register_tasks(app, reconcile)
    return app
