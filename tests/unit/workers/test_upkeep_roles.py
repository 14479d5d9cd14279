"""Upkeep by several workers, of which one has the role, and when it compares."""

import threading
from collections import Counter
from collections.abc import Callable, Sequence

from docmill.adapters.memory.state import MemoryState
from docmill.adapters.memory.task_queue import MemoryTaskQueue
from docmill.domain.errors import StoreDown
from docmill.indexing.index_sets import COMPARISON_WANTED
from docmill.indexing.targets import Target
from docmill.ports.state import KnowledgeBaseState
from docmill_workers.upkeep import Upkeep
from support.waiting import wait_until

ROLE = "sweeper"


def a_state() -> KnowledgeBaseState:
    memory = MemoryState("kb")
    memory.registry.raise_epoch(1)
    return KnowledgeBaseState(memory.registry, memory.leases, memory.ledger)


def upkeep(
    state: KnowledgeBaseState, targets: Callable[[], Sequence[Target]], drop_others: Callable[[], None], settle: Callable[[], bool]
) -> Upkeep:
    return Upkeep(
        state,
        targets,
        MemoryTaskQueue(),
        open_state=lambda: None,
        settle=settle,
        drop_others=drop_others,
        holder="this worker",
        grace_seconds=0.0,
        round_seconds=0.01,
    )


def taken_away(state: KnowledgeBaseState) -> int:
    """The token of the role, which another worker has taken."""
    tokens: list[int] = []

    def take() -> bool:
        state.leases.expire_all()
        token = state.leases.acquire_role(ROLE, "another", 60.0)
        if token is not None:
            tokens.append(token)
        return token is not None

    wait_until(take, "the role")
    return tokens[0]


def test_the_next_holder_removes_the_index_sets_that_the_one_before_left() -> None:
    state, dropped, rounds = a_state(), threading.Semaphore(0), threading.Semaphore(0)

    def settle() -> bool:
        rounds.release()
        return False

    work = upkeep(state, list, dropped.release, settle)
    work.start()
    try:
        assert dropped.acquire(timeout=15)
        assert rounds.acquire(timeout=15)
        state.leases.release_role(ROLE, taken_away(state))
        assert dropped.acquire(timeout=15)
    finally:
        work.stop(15)


def test_a_worker_that_cannot_write_the_index_sets_leaves_the_role_to_others() -> None:
    state, rounds = a_state(), threading.Semaphore(0)

    def targets() -> Sequence[Target]:
        rounds.release()
        raise StoreDown("this process is of another version")

    work = upkeep(state, targets, lambda: None, lambda: False)
    work.start()
    try:
        assert rounds.acquire(timeout=15)
        assert rounds.acquire(timeout=15)
        assert state.leases.acquire_role(ROLE, "another", 60.0) is not None
    finally:
        work.stop(15)


def test_stores_are_compared_when_that_is_asked_for() -> None:
    state, calls = a_state(), Counter[str]()
    run, _ = state.ledger.start_run()
    state.ledger.scan_ended(run.id)
    assert state.ledger.complete(run.id)

    def targets() -> Sequence[Target]:
        calls["targets"] += 1
        return []

    work = upkeep(state, targets, lambda: None, lambda: False)
    work.start()
    try:
        wait_until(lambda: calls["targets"] > 5, "the first comparison")
        state.registry.note(COMPARISON_WANTED, "yes")
        wait_until(lambda: state.registry.noted(COMPARISON_WANTED) is None, "another one")
    finally:
        work.stop(15)
