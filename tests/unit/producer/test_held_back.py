"""What waits while a provider is left alone is sent when it may be called: not before, not twice, and not as something that was lost."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog
from structlog.testing import capture_logs

from docmill.domain.registry import Lane, QueueDepth
from docmill.ports.gate import Limits, Permit, Request, RequestOutcome
from docmill_services.producer.backing_off import PROBING_DOCUMENTS
from docmill_services.producer.pump import Pump
from support.gated_world import GatedWorld

PATIENCE = 5.0


@pytest.fixture
def world(tmp_path: Path) -> Iterator[GatedWorld]:
    world = GatedWorld(tmp_path)
    yield world
    world.stopping.set()


def wait_in_the_ledger(world: GatedWorld, count: int) -> None:
    """Documents that a worker gave back."""
    world.state.ledger.enqueue([f"{number:03}.md" for number in range(count)], Lane.BULK)


def probe(world: GatedWorld) -> Permit:
    permit = world.gate.acquire("worker", Request("kb"), Limits())
    assert isinstance(permit, Permit)
    return permit


def sent(world: GatedWorld) -> list[str]:
    names = [message.document_id for _, message in world.tasks.messages]
    world.tasks.messages.clear()
    return names


def test_nothing_is_sent_while_a_gate_is_closed_however_long(world: GatedWorld) -> None:
    world.gate.close(300)
    wait_in_the_ledger(world, 20)
    for _ in range(10):
        assert world.pump.turn() == 0
        world.clock.now += 2 * PATIENCE


def test_a_few_are_sent_again_and_again_to_try_a_gate_whose_time_is_over(world: GatedWorld) -> None:
    world.gate.close()
    wait_in_the_ledger(world, 20)
    world.pump.turn()
    world.clock.now += 15
    for _ in range(3):
        assert world.pump.turn() == PROBING_DOCUMENTS
        assert sent(world) == ["000.md", "001.md", "002.md", "003.md"]
        world.clock.now += 1


def test_documents_in_work_count_among_the_few(world: GatedWorld) -> None:
    world.gate.close()
    wait_in_the_ledger(world, 20)
    first, *_ = world.state.ledger.oldest_waiting(1)
    assert world.state.ledger.begin(first, 60) is not None
    world.clock.now += 15
    assert world.pump.turn() == PROBING_DOCUMENTS - 1


def test_a_message_that_is_still_in_the_queue_is_sent_no_second_time_before_the_patience_ends(world: GatedWorld) -> None:
    world.gate.close()
    wait_in_the_ledger(world, 20)
    world.clock.now += 15
    assert world.pump.turn() == PROBING_DOCUMENTS
    world.clock.now += PATIENCE - 1
    assert world.pump.turn() == 0
    world.clock.now += 1
    assert world.pump.turn() == PROBING_DOCUMENTS


def test_messages_of_others_in_the_queue_do_not_keep_a_gate_from_being_tried(world: GatedWorld) -> None:
    world.gate.close()
    wait_in_the_ledger(world, 2)
    world.clock.now += 15
    world.tasks.depth = lambda: QueueDepth(0, 100, 5)  # type: ignore[method-assign]
    assert world.pump.turn() == 2


def test_all_that_waited_is_sent_once_when_the_gate_has_opened_and_nothing_counts_as_lost(world: GatedWorld) -> None:
    world.gate.close()
    wait_in_the_ledger(world, 1200)
    world.clock.now += 15
    world.pump.turn()
    sent(world)
    permit = probe(world)
    world.pump.turn()
    sent(world)
    world.gate.report(permit, RequestOutcome.OK)
    world.tasks.send(world.state.ledger.enqueue(["new.md"], Lane.BULK), Lane.BULK)
    structlog.reset_defaults()
    with capture_logs() as logs:
        assert world.pump.turn() == 1200
        assert sorted(sent(world)) == sorted([*(f"{number:03}.md" for number in range(1200)), "new.md"])
        assert [line["log_level"] for line in logs] == ["info"]
        assert world.pump.turn() == 0


def test_one_that_was_given_back_as_the_gate_opened_is_sent_after_the_patience_without_a_warning(world: GatedWorld) -> None:
    wait_in_the_ledger(world, 1)
    structlog.reset_defaults()
    with capture_logs() as logs:
        world.pump.turn()
        world.clock.now += PATIENCE
        assert world.pump.turn() == 1
    assert [(line["log_level"], line["event"]) for line in logs] == [("info", "documents_sent_again")]


def test_what_another_knowledge_base_lost_is_sent_again_meanwhile(world: GatedWorld, tmp_path: Path) -> None:
    other = GatedWorld(tmp_path / "other")
    states = {"kb": world.state, "other": other.state}
    pump = Pump(
        states,
        world.tasks,
        lambda: states,
        PATIENCE,
        world.clock.monotonic,
        gates_of=lambda name: {"fake": world.gate} if name == "kb" else {},
    )
    world.gate.close(300)
    wait_in_the_ledger(world, 20)
    other.state.ledger.enqueue(["lost.md"], Lane.BULK)
    pump.turn()
    world.clock.now += PATIENCE
    assert pump.turn() == 1
    assert sent(world) == ["lost.md"]


def test_a_knowledge_base_that_another_producer_leads_is_left_to_it(world: GatedWorld) -> None:
    pump = Pump({"kb": world.state}, world.tasks, dict, PATIENCE, world.clock.monotonic, gates_of=lambda _: {"fake": world.gate})
    world.gate.close()
    wait_in_the_ledger(world, 20)
    for _ in range(4):
        world.clock.now += 15
        assert pump.turn() == 0
