"""The producer's loop over one knowledge base when things go wrong; registry, ledger and queue are the twins in memory."""

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs
from watchfiles._rust_notify import RustNotify

from docmill.adapters.memory.gate import MemoryGate
from docmill.documents.selection import Selection
from docmill.domain.knowledge_bases import KnowledgeBase
from docmill.domain.registry import Lane
from docmill.domain.runs import Run, RunState
from docmill.indexing.index_sets import WATCHING
from docmill.indexing.watch_note import is_watched, trouble_of
from docmill.ports.gate import Limits, Permit, Request, RequestOutcome
from docmill_services.producer import folder_events, knowledge_base_loop
from docmill_services.producer.knowledge_base_loop import KnowledgeBaseLoop, Window
from docmill_services.producer.leadership import Leadership
from docmill_services.producer.process import forces_polling
from support.indexing_world import ManualClock, World
from support.trees import bm25, knowledge_base, plant
from support.waiting import wait_until


class Serving:
    """A loop in a thread, and a worker that does what it plans."""

    def __init__(self, folder: Path, *, watch: bool, force_polling: bool = False) -> None:
        self.world = World()
        self.gate_clock = ManualClock()
        self.gate = MemoryGate(clock=self.gate_clock, jitter=lambda: 0.0)
        self.stopping = threading.Event()
        self.looks = 0
        kb = knowledge_base(folder, strategies=(bm25("words"),))
        self.selection = Selection(kb, None)
        states = {"kb": self.world.state}
        window = Window(1000, states)
        self.leadership = Leadership("kb", self.world.state, "this process")
        self.loop = KnowledgeBaseLoop(
            kb,
            self.world.state,
            self.world.tasks,
            self.selection,
            window,
            self.leadership,
            self.stopping,
            watch=watch,
            force_polling=force_polling,
            prepare=self._prepare,
            gates=lambda: {"fake": self.gate},
        )
        self.threads = [threading.Thread(target=target, daemon=True) for target in (self.loop.serve, self._work)]

    def start(self) -> None:
        for thread in self.threads:
            thread.start()

    def stop(self) -> None:
        self.stopping.set()
        for thread in self.threads:
            thread.join(10.0)
            assert not thread.is_alive()

    def ended(self, run: Run) -> Run:
        wait_until(lambda: self.run_as_it_is(run).state.final, "the run to end")
        return self.run_as_it_is(run)

    def loop_turns(self) -> None:
        """Lets the loop look for work a few times."""
        looks = self.looks
        wait_until(lambda: self.looks > looks + 3, "the loop")

    def _prepare(self) -> None:
        self.looks += 1

    def run_as_it_is(self, run: Run) -> Run:
        found = self.world.state.ledger.run(run.id)
        assert found is not None
        return found

    def _work(self) -> None:
        while not self.stopping.wait(0.01):
            self.world.work()


@pytest.fixture
def stopped(tmp_path: Path) -> Iterator[Serving]:
    serving = Serving(tmp_path, watch=False)
    yield serving
    serving.stop()


def test_a_defect_during_a_scan_ends_the_run_with_its_reason_and_the_next_run_is_carried_out(
    stopped: Serving, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(tmp_path, ["a.md"])

    def fail(*_: object) -> bool:
        raise ZeroDivisionError("a defect")

    with monkeypatch.context() as patched:
        patched.setattr(Selection, "takes", fail)
        run, _ = stopped.world.state.ledger.start_run()
        stopped.start()
        ended = stopped.ended(run)
    assert ended.state is RunState.FAILED
    assert "ZeroDivisionError: a defect" in ended.error
    again, _ = stopped.world.state.ledger.start_run()
    assert stopped.ended(again).state is RunState.COMPLETE


def test_a_scan_that_was_broken_off_does_not_count_its_files_twice(stopped: Serving, tmp_path: Path) -> None:
    plant(tmp_path, ["a.md", "b.md", "c.md"])
    for name in ("a.md", "b.md", "c.md"):
        stopped.world.source.put(name, name)
    run, _ = stopped.world.state.ledger.start_run()
    stopped.world.state.ledger.count(run.id, {"seen": 2, "planned": 2, "failed.unreadable": 1})
    stopped.start()
    ended = stopped.ended(run)
    assert ended.state is RunState.COMPLETE
    assert (ended.counters["seen"], ended.counters["planned"], ended.counters["indexed"]) == (3, 3, 3)


@pytest.fixture
def watching(tmp_path: Path) -> Iterator[Serving]:
    plant(tmp_path, ["a.md"])
    serving = Serving(tmp_path, watch=True)
    yield serving
    serving.stop()


def test_changes_are_noticed_before_the_first_scan_begins(watching: Serving) -> None:
    run, _ = watching.world.state.ledger.start_run()
    watching.start()
    assert watching.ended(run).state is RunState.COMPLETE
    assert watching.world.state.registry.noted(WATCHING) is not None
    assert not watching.world.state.ledger.wants_another_pass(run.id)


def test_a_watcher_that_failed_is_started_again_and_asks_for_a_full_pass(
    watching: Serving, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, _ = watching.world.state.ledger.start_run()
    watching.start()
    watching.ended(run)
    failed = threading.Event()
    real = Selection.strategies_for

    def fail_once(selection: Selection, path: bytes) -> tuple[str, ...]:
        if path.endswith(b"b.md") and not failed.is_set():
            failed.set()
            raise ZeroDivisionError("a defect")
        return real(selection, path)

    monkeypatch.setattr(Selection, "strategies_for", fail_once)
    plant(tmp_path, ["b.md"])
    assert failed.wait(10.0)
    wait_until(lambda: (last := watching.world.state.ledger.current_run()) is not None and last.id != run.id, "another run")
    last = watching.world.state.ledger.current_run()
    assert last is not None
    assert watching.ended(last).counters["seen"] == 2


def fail_at_a_closed_gate(serving: Serving, reason: str = "provider.transient: 503: overloaded") -> Run:
    """A run that ends since its provider never answers, or for another ``reason``."""
    run, _ = serving.world.state.ledger.start_run()
    serving.gate.close()
    serving.gate.abort(run.id, reason)
    serving.start()
    ended = serving.ended(run)
    assert ended.state is RunState.FAILED
    return ended


def test_the_run_after_one_that_failed_at_a_closed_gate_starts_when_the_gate_may_be_tried(watching: Serving) -> None:
    run = fail_at_a_closed_gate(watching)
    ledger = watching.world.state.ledger
    watching.loop_turns()
    assert ledger.current_run() == run
    watching.gate_clock.now += 15
    wait_until(lambda: ledger.current_run() != run, "the next run")
    permit = watching.gate.acquire("worker", Request("kb"), Limits())
    assert isinstance(permit, Permit)
    watching.gate.report(permit, RequestOutcome.OK)
    following = ledger.current_run()
    assert following is not None
    assert watching.ended(following).state is RunState.COMPLETE


def test_no_run_follows_by_itself_where_nothing_is_watched(stopped: Serving, tmp_path: Path) -> None:
    plant(tmp_path, ["a.md"])
    run = fail_at_a_closed_gate(stopped)
    stopped.gate_clock.now += 15
    stopped.loop_turns()
    assert stopped.world.state.ledger.current_run() == run


def test_no_run_follows_one_that_failed_at_an_open_gate(watching: Serving) -> None:
    run, _ = watching.world.state.ledger.start_run()
    watching.gate.abort(run.id, "provider.permanent: 401: wrong key")
    watching.start()
    ended = watching.ended(run)
    assert (ended.state, ended.error) == (RunState.FAILED, "provider.permanent: 401: wrong key")
    watching.gate_clock.now += 1000
    watching.loop_turns()
    assert watching.world.state.ledger.current_run() == ended


def test_no_run_follows_one_whose_provider_refused_when_its_closed_gate_was_tried(watching: Serving) -> None:
    run = fail_at_a_closed_gate(watching, "provider.permanent: 401: wrong key")
    watching.gate_clock.now += 15
    watching.loop_turns()
    assert watching.world.state.ledger.current_run() == run


def test_a_run_that_failed_is_said_with_its_reason(watching: Serving) -> None:
    with capture_logs() as logs:
        fail_at_a_closed_gate(watching)
        watching.loop_turns()
    said = [(line["log_level"], line["error"]) for line in logs if line["event"] == "run_failed"]
    assert said == [("error", "provider.transient: 503: overloaded")]


def waiting_run(serving: Serving) -> Run:
    """A run that waits for its provider, while another pass was asked for."""
    ledger = serving.world.state.ledger
    run, _ = ledger.start_run()
    serving.gate.close()
    serving.start()
    wait_until(lambda: serving.run_as_it_is(run).state is RunState.BACKING_OFF, "it to back off")
    ledger.start_run()
    return run


def test_a_pass_that_was_asked_for_during_a_run_follows_it(watching: Serving) -> None:
    run = waiting_run(watching)
    watching.gate.abort(run.id, "provider.permanent: 401: wrong key")
    assert watching.ended(run).state is RunState.FAILED
    wait_until(lambda: watching.world.state.ledger.current_run() != watching.run_as_it_is(run), "the next run")


def test_nothing_follows_a_run_that_was_cancelled(watching: Serving) -> None:
    run = waiting_run(watching)
    watching.world.state.ledger.end_run(run.id, RunState.CANCELLED, "cancelled by request")
    watching.loop_turns()
    assert watching.world.state.ledger.current_run() == watching.run_as_it_is(run)


def limited(folder: Path, *bounds: int | None) -> KnowledgeBase:
    return knowledge_base(
        folder, strategies=tuple(replace(bm25(f"words {place}"), max_indexing_concurrency=bound) for place, bound in enumerate(bounds))
    )


@pytest.mark.parametrize(("bounds", "room"), [((), 500), ((None, None), 500), ((8, None, 3), 3), ((600,), 500)])
def test_a_knowledge_base_has_room_for_what_the_smallest_of_its_bounds_lets_it(
    tmp_path: Path, bounds: tuple[int | None, ...], room: int
) -> None:
    states = {"kb": World().state, "other": World().state}
    states["other"].ledger.enqueue(["busy.md"], Lane.BULK)
    window = Window(1000, states, {"kb": limited(tmp_path, *bounds)})
    assert window.room("kb") == room


def test_what_is_outstanding_counts_towards_the_bound(tmp_path: Path) -> None:
    world = World()
    window = Window(1000, {"kb": world.state}, {"kb": limited(tmp_path, 3)})
    world.enqueue("a.md", "b.md")
    assert window.room("kb") == 1
    world.enqueue("c.md", "d.md")
    assert window.room("kb") == 0


def test_where_the_system_lets_nothing_be_watched_frequent_scans_find_changes(
    watching: Serving, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError("OS file watch limit reached.")

    monkeypatch.setattr(folder_events, "RustNotify", refuse)
    monkeypatch.setattr(knowledge_base_loop, "_POLL_SECONDS", 0.05)
    ledger, registry = watching.world.state.ledger, watching.world.state.registry
    run, _ = ledger.start_run()
    watching.start()
    watching.ended(run)
    wait_until(lambda: trouble_of(registry.noted(WATCHING)), "the note")
    assert not is_watched(registry.noted(WATCHING))
    assert "OS file watch limit reached." in (trouble_of(registry.noted(WATCHING)) or "")
    watching.world.source.put("b.md", "b.md")
    plant(tmp_path, ["b.md"])
    wait_until(lambda: watching.world.entry("b.md"), "a scan to find the change")


def test_frequent_scans_find_what_others_change_on_a_share(watching: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(knowledge_base_loop, "without_events", lambda _: "nfs4")
    monkeypatch.setattr(knowledge_base_loop, "_POLL_SECONDS", 0.05)
    run, _ = watching.world.state.ledger.start_run()
    watching.start()
    watching.ended(run)
    wait_until(lambda: watching.world.state.ledger.current_run() != watching.run_as_it_is(run), "another scan")
    noted = watching.world.state.registry.noted(WATCHING)
    assert is_watched(noted)
    assert "nfs4" in (trouble_of(noted) or "")


@pytest.mark.parametrize(("force_polling", "kind"), [(True, "Poll"), (False, "Recommended")])
def test_files_are_polled_only_where_that_is_wanted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, force_polling: bool, kind: str
) -> None:
    made: list[str] = []

    def notify(*arguments: Any) -> RustNotify:
        watcher = RustNotify(*arguments)
        made.append(repr(watcher))
        return watcher

    monkeypatch.setattr(folder_events, "RustNotify", notify)
    serving = Serving(tmp_path, watch=True, force_polling=force_polling)
    serving.start()
    wait_until(lambda: serving.world.state.registry.noted(WATCHING), "the watcher")
    serving.stop()
    assert made
    assert all(f"RustNotify({kind}" in one for one in made), made


@pytest.mark.parametrize(
    ("value", "forced"), [(None, False), ("", False), ("False", False), ("disabled", False), ("1", True), ("true", True)]
)
def test_the_environment_says_whether_files_are_polled(value: str | None, forced: bool) -> None:
    assert forces_polling({} if value is None else {"WATCHFILES_FORCE_POLLING": value}) is forced
