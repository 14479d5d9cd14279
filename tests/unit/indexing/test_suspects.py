"""What becomes of a document over which a worker died: it is worked on alone, and quarantined when it ends its process three times."""

from dataclasses import replace

import pytest

from docmill.domain.documents import fingerprint_of
from docmill.domain.errors import RootUnavailable
from docmill.domain.registry import DocumentState, Lane, Suspicion, TaskMessage
from docmill.indexing.sources import Content
from support.indexing_world import World

SIGKILL = "it was ended by SIGKILL"
DEADLY = "the end"


@pytest.fixture
def world() -> World:
    world = World()
    world.crashes[DEADLY.encode()] = SIGKILL
    return world


def lose_worker(world: World, *document_ids: str, lane: Lane = Lane.BULK) -> None:
    """A worker begins the documents and dies; the producer's pump sends them again."""
    world.enqueue(*document_ids, lane=lane)
    while world.tasks.messages:
        assert world.state.ledger.begin(world.tasks.take(), 30) is not None
    world.clock.now += 31
    world.tasks.send(world.state.ledger.resend_expired(99), Lane.BULK)


def state_of(world: World, document_id: str) -> DocumentState:
    entry = world.entry(document_id)
    assert entry is not None
    return entry.state


def test_only_what_was_in_work_when_a_worker_died_runs_alone_and_once(world: World) -> None:
    for document_id in ("a.md", "b.md", "c.md"):
        world.source.put(document_id, f"text of {document_id}")
    lose_worker(world, "a.md", "b.md")
    world.enqueue("c.md")
    world.work()
    assert world.isolation.fresh == [False, False]
    assert [state_of(world, document_id) for document_id in ("a.md", "b.md", "c.md")] == [DocumentState.LIVE] * 3
    world.source.put("a.md", "another text")
    world.enqueue("a.md")
    world.work()
    assert len(world.isolation.fresh) == 2
    assert world.live_texts("a.md") == {"dense": ["another text"], "words": ["another text"]}


def test_a_document_that_ends_its_process_three_times_is_quarantined(world: World) -> None:
    world.source.put("a.md", DEADLY)
    world.source.put("b.md", "harmless")
    lose_worker(world, "a.md", "b.md")
    world.work()
    entry = world.entry("a.md")
    assert entry is not None
    assert (entry.state, entry.live, entry.stat) == (DocumentState.QUARANTINED, None, "v1")
    assert entry.reason == (
        "quarantined: 3 times in a row the process in which it was worked on alone has ended; the last time it was ended by SIGKILL. "
        "It is left alone until the file changes, or until: docmill retry"
    )
    assert state_of(world, "b.md") is DocumentState.LIVE
    assert sum(world.state.ledger.outstanding()) == 0
    assert world.keeper.held() == []


def test_after_a_crash_a_document_gets_a_process_that_worked_on_nothing_before(world: World) -> None:
    world.source.put("a.md", DEADLY)
    lose_worker(world, "a.md")
    world.work()
    assert world.isolation.fresh == [False, True, True]


def test_it_is_tried_again_in_the_lane_that_it_had(world: World) -> None:
    world.source.put("a.md", DEADLY)
    lose_worker(world, "a.md", lane=Lane.LIVE)
    world.reconciler().reconcile(world.tasks.take())
    ((lane, message),) = world.tasks.messages
    assert (lane, message.document_id) == (Lane.LIVE, "a.md")


def test_quarantined_content_that_is_met_again_is_not_tried(world: World) -> None:
    world.source.put("a.md", DEADLY)
    lose_worker(world, "a.md")
    world.work()
    tried = len(world.isolation.fresh)
    world.source.put("a.md", DEADLY)  # touched
    world.enqueue("a.md")
    world.work()
    entry = world.entry("a.md")
    assert entry is not None
    assert (entry.state, entry.stat, len(world.isolation.fresh)) == (DocumentState.QUARANTINED, "v2", tried)


def test_what_was_live_stays_live_and_a_file_that_is_as_it_was_heals(world: World) -> None:
    world.source.put("a.md", "before")
    world.enqueue("a.md")
    world.work()
    world.source.put("a.md", DEADLY)
    lose_worker(world, "a.md")
    world.work()
    assert state_of(world, "a.md") is DocumentState.QUARANTINED
    assert world.live_texts("a.md")["words"] == ["before"]
    world.source.put("a.md", "before")
    world.enqueue("a.md")
    world.work()
    assert state_of(world, "a.md") is DocumentState.LIVE
    assert world.state.ledger.suspicions(["a.md"]) == {}


def test_another_content_heals_after_it_ran_alone(world: World) -> None:
    world.source.put("a.md", DEADLY)
    lose_worker(world, "a.md")
    world.work()
    tried = len(world.isolation.fresh)
    world.source.put("a.md", "healed")
    world.enqueue("a.md")
    world.work()
    assert (state_of(world, "a.md"), len(world.isolation.fresh)) == (DocumentState.LIVE, tried + 1)


def test_a_removed_file_ends_the_quarantine(world: World) -> None:
    world.source.put("a.md", DEADLY)
    lose_worker(world, "a.md")
    world.work()
    world.source.delete("a.md")
    world.enqueue("a.md")
    world.work()
    assert state_of(world, "a.md") is DocumentState.GONE
    assert world.state.ledger.suspicions(["a.md"]) == {}


def test_a_retry_lets_it_crash_three_times_more(world: World) -> None:
    world.source.put("a.md", DEADLY)
    lose_worker(world, "a.md")
    world.work()
    assert world.state.ledger.retry(["a.md"]) == ["a.md"]
    world.enqueue("a.md")
    world.work()
    assert (state_of(world, "a.md"), len(world.isolation.fresh)) == (DocumentState.QUARANTINED, 6)


def test_a_failure_before_the_content_is_touched_keeps_what_is_known(world: World) -> None:
    world.source.put("a.md", DEADLY)
    lose_worker(world, "a.md")
    world.reconciler().reconcile(world.tasks.take())
    read = world.source.read

    def unavailable(document_id: str) -> Content | None:
        raise RootUnavailable("/docs is not there")

    world.source.read = unavailable  # type: ignore[method-assign]  # a mount that is away
    world.work()
    assert state_of(world, "a.md") is DocumentState.FAILED
    assert world.state.ledger.suspicions(["a.md"]) == {"a.md": Suspicion(1, fingerprint_of(DEADLY.encode()))}
    world.source.read = read  # type: ignore[method-assign]
    world.enqueue("a.md")
    world.work()
    assert (state_of(world, "a.md"), world.isolation.fresh) == (DocumentState.QUARANTINED, [False, True, True])


def test_a_suspect_that_is_given_up_when_its_worker_stops_has_not_crashed(world: World) -> None:
    world.source.put("a.md", "text")
    lose_worker(world, "a.md")
    world.keeper.stop()
    world.reconciler().reconcile(world.tasks.take())
    assert world.state.ledger.suspicions(["a.md"]) == {"a.md": Suspicion()}
    assert world.entry("a.md") is None
    assert [attempt.document_id for attempt in world.keeper.held()] == ["a.md"]


def test_a_document_that_is_not_done_in_its_time_has_crashed(world: World) -> None:
    world.source.put("a.md", "text")
    lose_worker(world, "a.md")
    world.reconciler_with_deadline(0.0).reconcile(world.tasks.take())
    assert world.state.ledger.suspicions(["a.md"])["a.md"].crashes == 1


def test_the_time_that_a_document_waited_to_be_alone_is_not_its_own(world: World) -> None:
    world.source.put("a.md", "text")
    lose_worker(world, "a.md")
    world.isolation.before = lambda: world.clock.sleep(10_000.0)
    reconciler = replace(world.reconciler(), lease_seconds=20_000.0)
    reconciler.reconcile(world.tasks.take())
    world.commit()
    assert state_of(world, "a.md") is DocumentState.LIVE


def test_a_message_of_a_quarantined_document_that_comes_twice_ends_once(world: World) -> None:
    world.source.put("a.md", DEADLY)
    lose_worker(world, "a.md")
    message: TaskMessage = world.tasks.messages[0][1]
    world.work()
    world.reconciler().reconcile(message)
    assert sum(world.state.ledger.outstanding()) == 0
