"""What a run does while a provider is left alone; its gate, a worker and the registry are in memory, on a clock of the test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from docmill.domain.registry import DocumentState, Lane
from docmill.domain.runs import RunState
from docmill.ports.gate import RUN_ENDED, GateState, GateStatus, Limits, Permit, Request, RequestOutcome
from docmill_services.producer.backing_off import PROBING_DOCUMENTS, Leave, Standing, standing_of
from support.gated_world import GatedWorld
from support.waiting import wait_until

OPEN = GateStatus(GateState.OPEN, None, 0)
PROBING = GateStatus(GateState.PROBING, None, 1)


def closed(opens_at: float) -> GateStatus:
    return GateStatus(GateState.CLOSED, opens_at, 1, may_be_tried=opens_at <= 100.0)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[GatedWorld]:
    world = GatedWorld(tmp_path)
    yield world
    world.stopping.set()


@pytest.mark.parametrize(
    ("statuses", "standing"),
    [
        ([], Standing(Leave.ALL)),
        ([OPEN, OPEN], Standing(Leave.ALL)),
        ([OPEN, closed(101.0)], Standing(Leave.NOTHING, 101.0)),
        ([closed(100.0)], Standing(Leave.FEW, 100.0)),
        ([closed(99.0), closed(150.0)], Standing(Leave.NOTHING, 150.0)),
        ([PROBING], Standing(Leave.FEW)),
        ([PROBING, closed(150.0)], Standing(Leave.NOTHING, 150.0)),
        ([PROBING, closed(99.0)], Standing(Leave.FEW, 99.0)),
    ],
)
def test_how_gates_stand_together(statuses: list[GateStatus], standing: Standing) -> None:
    assert standing_of(statuses) == standing


def test_a_run_whose_provider_asks_to_be_left_alone_backs_off_and_ends_well(world: GatedWorld) -> None:
    world.plant(20)
    world.answers = lambda _: RequestOutcome.RATE_LIMITED
    one = world.start_pass()
    backing_off = one.backs_off()
    assert backing_off.retry_at == world.gate.status().opens_at == world.clock.now + 15
    assert len(world.asked) == 1
    world.answers = lambda _: RequestOutcome.OK
    world.clock.now += 15

    def complete() -> bool:
        world.pump.turn()
        return one.run.state.final

    world.settle(complete, "the run to end")
    ended = one.ended()
    assert (ended.state, ended.retry_at, ended.counters["indexed"]) == (RunState.COMPLETE, None, 20)
    assert {name: count for name, count in ended.counters.items() if name.startswith("failed") and count} == {}


def test_nothing_new_is_planned_while_the_gate_is_closed_and_removals_go_on(world: GatedWorld) -> None:
    world.source.put("gone.md", "text")
    world.enqueue("gone.md")
    world.work()
    world.source.delete("gone.md")
    world.plant(3)
    world.gate.close()
    one = world.start_pass()
    one.backs_off()

    def removed() -> bool:
        entry = world.entry("gone.md")
        return entry is not None and entry.state is DocumentState.GONE

    world.settle(removed, "the removal")
    assert world.state.ledger.outstanding() == (0, 0)
    assert (world.asked, one.run.state) == ([], RunState.BACKING_OFF)
    world.clock.now += 15
    ended = one.ended()
    assert ended.state is RunState.COMPLETE
    assert (ended.counters["seen"], ended.counters["indexed"], ended.counters["removed"]) == (3, 3, 1)


def test_removals_do_not_wait_for_a_window_full_of_documents_that_wait_for_the_provider(world: GatedWorld) -> None:
    gone = [f"gone {number}.md" for number in range(3)]
    for name in gone:
        world.source.put(name, "text")
    world.enqueue(*gone)
    world.work()
    for name in gone:
        world.source.delete(name)
    world.plant(1)
    world.state.ledger.enqueue([f"waits {number}" for number in range(1000)], Lane.BULK)
    world.gate.close()
    one = world.start_pass()
    world.settle(lambda: one.run.counters.get("removed") == 3, "the removals")
    assert one.run.state is RunState.BACKING_OFF


def test_a_gate_whose_time_is_over_is_tried_with_a_few_documents(world: GatedWorld) -> None:
    world.plant(20)
    world.gate.close()
    one = world.start_pass()
    one.backs_off()
    world.clock.now += 15
    wait_until(lambda: len(world.tasks.messages) == PROBING_DOCUMENTS, "the few")
    assert world.state.ledger.outstanding() == (PROBING_DOCUMENTS, 0)
    world.answers = lambda _: RequestOutcome.RATE_LIMITED
    world.settle(lambda: one.run.retry_at == world.clock.now + 30, "the next window")
    assert len(world.asked) == 1
    world.answers = lambda _: RequestOutcome.OK
    world.clock.now += 30

    def complete() -> bool:
        world.pump.turn()
        return one.run.state.final

    world.settle(complete, "the run to end")
    assert (one.ended().state, one.run.counters["indexed"]) == (RunState.COMPLETE, 20)


def test_documents_that_need_no_request_do_not_keep_the_gate_from_being_tried(world: GatedWorld) -> None:
    world.plant(20)
    for number in range(10):
        world.source.files.pop(f"{number:03}.md")  # the worker finds them gone, and asks for nothing
    world.gate.close()
    one = world.start_pass()
    world.settle(lambda: one.run.state is RunState.BACKING_OFF, "it to back off")
    world.clock.now += 15
    ended = one.ended()
    assert (ended.state, ended.counters["indexed"]) == (RunState.COMPLETE, 10)


def test_a_run_that_starts_while_another_request_probes_backs_off(world: GatedWorld) -> None:
    world.plant(3)
    world.gate.close()
    world.clock.now += 15
    probe = world.gate.acquire("another", Request("other"), Limits())
    assert isinstance(probe, Permit)
    one = world.start_pass()
    world.settle(lambda: one.run.state is RunState.BACKING_OFF, "it to back off")
    assert one.run.retry_at == world.clock.now
    world.gate.report(probe, RequestOutcome.OK)
    world.settle(lambda: one.run.state is not RunState.BACKING_OFF, "it to go on")


def test_the_time_in_which_a_run_backs_off_is_not_the_runs(world: GatedWorld) -> None:
    world.plant(3)
    world.gate.close(300)
    one = world.start_pass(timeout_seconds=60)
    one.backs_off()
    world.clock.now += 299
    wait_until(lambda: one.run.state is RunState.BACKING_OFF, "it to back off")
    world.clock.now += 1
    assert one.ended().state is RunState.COMPLETE


def test_a_run_that_works_for_too_long_ends_with_the_requests_that_it_waits_for(world: GatedWorld) -> None:
    world.plant(3)
    one = world.start_pass(timeout_seconds=60)
    wait_until(lambda: len(world.tasks.messages) == 3, "the documents")
    world.clock.now += 61
    wait_until(lambda: one.returned is RunState.TIMED_OUT, "the end")
    assert world.gate.aborted(one.id) == RUN_ENDED


def test_a_provider_that_refuses_ends_the_run_in_its_words(world: GatedWorld) -> None:
    world.plant(20)
    one = world.start_pass()
    wait_until(lambda: len(world.tasks.messages) == 20, "the documents")
    permit = world.gate.acquire("worker", Request("kb", one.id), Limits())
    assert isinstance(permit, Permit)
    world.gate.report(permit, RequestOutcome.REFUSED, reason="provider.permanent: 401: wrong key")
    wait_until(lambda: one.returned is not None, "the end")
    assert (one.run.state, one.run.error, one.run.pending) == (RunState.FAILED, "provider.permanent: 401: wrong key", 0)
    assert world.gate.status().state is GateState.OPEN


def test_a_provider_that_never_answers_ends_the_run_when_its_gate_says_so(world: GatedWorld) -> None:
    world.plant(20)
    one = world.start_pass()
    wait_until(lambda: len(world.tasks.messages) == 20, "the documents")
    world.gate.close()
    world.gate.abort(one.id, "provider.transient: 503: overloaded")
    wait_until(lambda: one.returned is not None, "the end")
    assert (one.run.state, one.run.error, one.run.pending) == (RunState.FAILED, "provider.transient: 503: overloaded", 0)


def test_a_provider_that_refuses_the_request_that_probes_ends_the_run_in_its_words(world: GatedWorld) -> None:
    world.plant(3)
    world.gate.close()
    one = world.start_pass()
    one.backs_off()
    world.clock.now += 15
    probe = world.gate.acquire("worker", Request("kb", one.id), Limits())
    assert isinstance(probe, Permit)
    world.gate.report(probe, RequestOutcome.REFUSED, reason="provider.permanent: 401: wrong key")
    wait_until(lambda: one.returned is not None, "the end")
    assert (one.run.state, one.run.error) == (RunState.FAILED, "provider.permanent: 401: wrong key")


def test_another_run_that_was_aborted_says_nothing_of_this_one(world: GatedWorld) -> None:
    world.plant(3)
    world.gate.abort("another", "401: wrong key")
    assert world.start_pass().ended().state is RunState.COMPLETE


def test_a_run_of_which_nothing_got_through_lets_its_provider_alone(world: GatedWorld) -> None:
    world.plant(3)
    world.answers = lambda _: RequestOutcome.FAILED
    ended = world.start_pass().ended()
    assert (ended.state, ended.error) == (RunState.FAILED, "provider.transient: in its words")
    assert world.gate.status().state is GateState.CLOSED


def test_a_run_of_which_something_got_through_does_not(world: GatedWorld) -> None:
    world.plant(3)
    world.answers = lambda document_id: RequestOutcome.OK if document_id == "001.md" else RequestOutcome.FAILED
    ended = world.start_pass().ended()
    assert (ended.state, ended.counters["failed.provider.transient"]) == (RunState.COMPLETE_WITH_ERRORS, 2)
    assert world.gate.status().state is GateState.OPEN


def test_a_run_is_cancelled_while_it_backs_off(world: GatedWorld) -> None:
    world.plant(3)
    world.gate.close()
    one = world.start_pass()
    one.backs_off()
    world.state.ledger.end_run(one.id, RunState.CANCELLED, "cancelled by request")
    ended = one.ended()
    assert (ended.state, ended.retry_at) == (RunState.CANCELLED, None)
