"""The committer's thread: when a turn ends, what a turn takes, and how it stops."""

import threading
from collections.abc import Iterator, Sequence

import pytest

from docmill.domain.registry import Commit, CommitResult, Lane
from docmill.indexing.committing import Committer
from docmill.ports.state import KnowledgeBaseState
from support.indexing_world import World
from support.waiting import wait_until

NEVER = 3600.0


class Turns:
    """A registry that notes how many documents each commit has, and may be held up or broken."""

    def __init__(self, world: World) -> None:
        self.sizes: list[int] = []
        self.defect = False
        self.open = threading.Event()
        self.open.set()
        self.entered = threading.Event()
        self._registry = world.memory.registry

    def __getattr__(self, name: str) -> object:
        return getattr(self._registry, name)

    def commit(self, commits: Sequence[Commit]) -> list[CommitResult]:
        self.entered.set()
        assert self.open.wait(15)
        if self.defect:
            raise KeyError("unexpected")
        self.sizes.append(len(commits))
        return self._registry.commit(commits)


class Committing:
    """A world with a committer that runs."""

    def __init__(self) -> None:
        self.world = World()
        self.turns = Turns(self.world)
        self.world.state = KnowledgeBaseState(self.turns, self.world.memory.leases, self.world.memory.ledger)  # type: ignore[arg-type]
        self._committers: list[Committer] = []

    def start(self, **settings: float) -> Committer:
        chosen = {"linger_seconds": NEVER, "live_linger_seconds": NEVER, **settings}
        committer = Committer(lambda _: self.world.state, self.world.tasks, self.world.keeper, **chosen)  # type: ignore[arg-type]
        committer.start()
        self._committers.append(committer)
        return committer

    def submit(self, committer: Committer, *document_ids: str, lane: Lane = Lane.BULK, text: str = "one") -> None:
        for document_id in document_ids:
            self.world.source.put(document_id, text)
            self.world.enqueue(document_id, lane=lane)
            self.world.reconciler(committer.submit).reconcile(self.world.tasks.take())

    def wait_for(self, *sizes: int) -> None:
        wait_until(lambda: self.turns.sizes == list(sizes), f"turns of {sizes}, there are {self.turns.sizes}")

    def close(self) -> None:
        self.turns.open.set()
        for committer in self._committers:
            assert committer.stop(15)


@pytest.fixture
def committing() -> Iterator[Committing]:
    made = Committing()
    yield made
    made.close()


def test_a_turn_with_all_the_documents_it_may_have_waits_no_longer(committing: Committing) -> None:
    committing.submit(committing.start(max_documents=2), "a", "b", "c")
    committing.wait_for(2)


def test_a_turn_with_all_the_chunks_it_may_have_waits_no_longer(committing: Committing) -> None:
    committing.submit(committing.start(max_chunks=4), "a", text="one\ntwo")  # two chunks in each of two strategies
    committing.wait_for(1)


def test_a_live_change_ends_the_waiting_of_bulk_documents(committing: Committing) -> None:
    committer = committing.start(live_linger_seconds=0.0)
    committing.submit(committer, "a", "b")
    committing.submit(committer, "c", lane=Lane.LIVE)
    committing.wait_for(3)


def test_without_lingering_what_waits_meanwhile_is_taken_together(committing: Committing) -> None:
    committer = committing.start(linger_seconds=0.0)
    committing.turns.open.clear()
    committing.submit(committer, "a")
    assert committing.turns.entered.wait(15)
    committing.submit(committer, "b", "c")
    committing.turns.open.set()
    committing.wait_for(1, 2)


def test_leases_are_let_go_after_the_turn(committing: Committing) -> None:
    committing.submit(committing.start(max_documents=2), "a", "b")
    wait_until(lambda: not committing.world.keeper.held(), "the leases to be let go")
    assert committing.world.state.ledger.outstanding() == (0, 0)


def test_stopping_commits_what_waits(committing: Committing) -> None:
    committer = committing.start()
    committing.submit(committer, "a", "b")
    assert committer.stop(15)
    assert committing.turns.sizes == [2]


def test_stopping_says_when_it_takes_too_long(committing: Committing) -> None:
    committer = committing.start(linger_seconds=0.0)
    committing.turns.open.clear()
    committing.submit(committer, "a")
    assert committing.turns.entered.wait(15)
    assert not committer.stop(0.01)


def test_stopping_gives_up_when_there_is_no_room_to_say_so(committing: Committing) -> None:
    committer = committing.start(linger_seconds=0.0, waiting=1)
    committing.turns.open.clear()
    committing.submit(committer, "a")
    assert committing.turns.entered.wait(15)
    committing.submit(committer, "b")
    assert not committer.stop(0.01)


def test_a_defect_in_one_turn_does_not_end_the_thread(committing: Committing) -> None:
    committer = committing.start(max_documents=1)
    committing.turns.defect = True
    committing.submit(committer, "a")
    wait_until(lambda: not committing.world.keeper.held(), "the turn to fail")
    committing.turns.defect = False
    committing.submit(committer, "b")
    committing.wait_for(1)
