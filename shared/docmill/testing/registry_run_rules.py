"""Rules of runs: one at a time, counted exactly, complete when nothing of them is left."""

# ruff: noqa: D102 - the name of a test is its description

import pytest

from docmill.domain.registry import DocumentState, Lane
from docmill.domain.runs import Run, RunState
from docmill.testing.state_under_test import LEASE_SECONDS, StateContract, StateUnderTest


class RunRules(StateContract):
    """Contract tests; see the module."""

    def test_a_run_begins_scanning_with_nothing_counted(self, state: StateUnderTest) -> None:
        run, new = state.ledger.start_run()
        assert new
        assert (run.state, run.counters, run.pending, run.finished_at, run.retry_at, run.error) == (
            RunState.SCANNING,
            {},
            0,
            None,
            None,
            "",
        )
        assert run.started_at > 0
        assert state.ledger.run(run.id) == state.ledger.current_run() == run
        assert state.ledger.run("unknown") is None
        assert state.ledger.last_complete_run() is None

    def test_the_position_says_what_is_pending_and_when_the_last_complete_run_ended(self, state: StateUnderTest) -> None:
        run, _ = state.ledger.start_run()
        before = state.registry.position()
        assert (before.pending, before.last_complete_run) == (0, None)
        waiting, begun = state.ledger.enqueue(["a.md", "b.md"], Lane.BULK, run_id=run.id)
        attempt = state.ledger.begin(begun, LEASE_SECONDS)
        assert attempt is not None
        assert state.registry.position().pending == sum(state.ledger.outstanding()) == 2
        assert state.registry.position() == before, "what is pending does not make it another position"
        state.ledger.finish(attempt, failed="parse: no")
        attempt = state.ledger.begin(waiting, LEASE_SECONDS)
        assert attempt is not None
        state.ledger.finish(attempt, failed="parse: no")
        state.ledger.scan_ended(run.id)
        assert state.ledger.complete(run.id)
        complete = state.ledger.last_complete_run()
        assert complete is not None
        state.ledger.start_run()
        after = state.registry.position()
        assert (after.pending, after.last_complete_run) == (0, complete.finished_at)

    def test_a_request_during_a_run_asks_for_one_more_pass(self, state: StateUnderTest) -> None:
        run, _ = state.ledger.start_run()
        assert not state.ledger.wants_another_pass(run.id)
        assert state.ledger.start_run() == (run, False)
        assert state.ledger.wants_another_pass(run.id)
        assert not state.ledger.wants_another_pass(run.id)
        assert not state.ledger.wants_another_pass("unknown")

    def test_a_run_is_complete_when_its_scan_has_ended_and_no_ticket_is_left(self, state: StateUnderTest) -> None:
        run, _ = state.ledger.start_run()
        attempt = state.begin("a.md", run_id=run.id)
        assert not state.ledger.complete(run.id)
        state.ledger.scan_ended(run.id)
        assert not state.ledger.complete(run.id)
        state.commit(attempt)
        assert state.ledger.complete(run.id)
        ended = state.ledger.run(run.id)
        assert ended is not None
        assert ended.state is RunState.COMPLETE
        assert ended.finished_at is not None
        assert ended.finished_at >= ended.started_at
        assert state.ledger.complete(run.id)
        assert state.ledger.last_complete_run() == ended

    def test_a_run_without_a_ticket_is_not_complete_while_it_scans(self, state: StateUnderTest) -> None:
        run, _ = state.ledger.start_run()
        assert not state.ledger.complete(run.id)
        state.ledger.scan_ended(run.id)
        assert self._run(state, run.id).state is RunState.INDEXING
        assert state.ledger.complete(run.id)

    def test_a_run_with_failures_is_complete_with_errors(self, state: StateUnderTest) -> None:
        run, _ = state.ledger.start_run()
        state.ledger.finish(state.begin("a.md", run_id=run.id), failed="provider: no answer")
        state.ledger.scan_ended(run.id)
        assert state.ledger.complete(run.id)
        assert self._run(state, run.id).state is RunState.COMPLETE_WITH_ERRORS
        last = state.ledger.last_complete_run()
        assert last is not None
        assert last.id == run.id

    def test_a_run_that_is_not_known_any_more_has_ended(self, state: StateUnderTest) -> None:
        assert state.ledger.complete("unknown")
        assert state.ledger.end_run("unknown", RunState.FAILED) == []
        state.ledger.scan_ended("unknown")
        state.ledger.count("unknown", {"seen": 1})
        assert state.ledger.run("unknown") is None

    def test_pending_counts_the_tickets_of_the_run_exactly(self, state: StateUnderTest) -> None:
        run, _ = state.ledger.start_run()

        def pending() -> int:
            return self._run(state, run.id).pending

        messages = state.ledger.enqueue(["a", "b", "c", "d"], Lane.BULK, run_id=run.id)
        state.ledger.enqueue(["a", "x"], Lane.BULK, run_id="")
        assert pending() == 4
        state.ledger.enqueue(["b"], Lane.LIVE)
        assert pending() == 3
        first = state.ledger.begin(messages[0], LEASE_SECONDS)
        third = state.ledger.begin(messages[2], LEASE_SECONDS)
        assert first is not None
        assert third is not None
        assert pending() == 3
        state.commit(first)
        state.ledger.enqueue(["c"], Lane.LIVE)
        assert pending() == 2
        state.ledger.finish(third)
        assert pending() == 1
        state.shift_clock(LEASE_SECONDS)
        state.ledger.resend_expired(9)
        assert pending() == 1

    def test_a_document_that_was_planned_before_stays_out_of_the_runs_count(self, state: StateUnderTest) -> None:
        state.ledger.enqueue(["a"], Lane.LIVE)
        run, _ = state.ledger.start_run()
        state.ledger.enqueue(["a"], Lane.BULK, run_id=run.id)
        assert self._run(state, run.id).pending == 0

    def test_a_lease_that_ran_out_keeps_the_run_open(self, state: StateUnderTest) -> None:
        run, _ = state.ledger.start_run()
        state.begin("a.md", run_id=run.id)
        state.ledger.scan_ended(run.id)
        state.shift_clock(LEASE_SECONDS)
        assert not state.ledger.complete(run.id)
        state.ledger.resend_expired(9)
        assert not state.ledger.complete(run.id)

    def test_commits_raise_the_runs_counters_by_their_state(self, state: StateUnderTest) -> None:
        run, _ = state.ledger.start_run()
        state.commit(state.begin("a", run_id=run.id), counters={"chunks": 2, "embedded": 1, "reused": 1, "tokens": 0})
        state.commit(state.begin("b", run_id=run.id), counters={"chunks": 3})
        state.commit(state.begin("c", run_id=run.id), state=DocumentState.EMPTY)
        state.commit(state.begin("d", run_id=run.id), state=DocumentState.SKIPPED, reason="too_large: 30 MB")
        state.commit(state.begin("a", run_id=run.id), state=DocumentState.GONE)
        state.commit(state.begin("unknown", run_id=run.id), state=DocumentState.GONE)
        state.commit(state.begin("elsewhere"))
        counters = {name: count for name, count in self._run(state, run.id).counters.items() if count}
        assert counters == {"indexed": 2, "chunks": 5, "embedded": 1, "reused": 1, "empty": 1, "skipped.too_large": 1, "removed": 1}

    def test_a_superseded_commit_counts_nothing(self, state: StateUnderTest) -> None:
        run, _ = state.ledger.start_run()
        attempt = state.begin("a", run_id=run.id)
        state.shift_clock(LEASE_SECONDS)
        state.commit(attempt, counters={"chunks": 2})
        state.ledger.finish(attempt, failed="provider: x", counters={"tokens": 2})
        assert self._run(state, run.id).counters == {}

    def test_counters_are_added_up(self, state: StateUnderTest) -> None:
        run, _ = state.ledger.start_run()
        state.ledger.count(run.id, {"seen": 5, "unchanged": 4})
        state.ledger.count(run.id, {"seen": 2})
        state.ledger.count(run.id, {})
        state.ledger.finish(state.begin("a", run_id=run.id), counters={"unchanged": 1})
        state.ledger.finish(state.begin("b", run_id=run.id), failed="provider: no answer", counters={"tokens": 9})
        assert self._run(state, run.id).counters == {"seen": 7, "unchanged": 5, "failed.provider": 1, "tokens": 9}

    def test_an_ended_run_keeps_the_ticket_of_a_document_that_was_changed_while_in_work(self, state: StateUnderTest) -> None:
        run, _ = state.ledger.start_run()
        state.begin("changed.md", run_id=run.id)
        state.begin("not.md", run_id=run.id)
        state.ledger.enqueue(["changed.md"], Lane.LIVE)
        state.shift_clock(LEASE_SECONDS)
        again = {message.document_id: message for message in state.ledger.resend_expired(9)}
        assert state.ledger.end_run(run.id, RunState.CANCELLED) == ["not.md"]
        assert self._run(state, run.id).pending == 0
        assert state.ledger.begin(again["changed.md"], LEASE_SECONDS) is not None
        assert state.ledger.begin(again["not.md"], LEASE_SECONDS) is None

    def test_a_change_after_the_lease_ran_out_is_not_lost_with_the_run(self, state: StateUnderTest) -> None:
        run, _ = state.ledger.start_run()
        state.begin("a.md", run_id=run.id)
        state.shift_clock(LEASE_SECONDS)
        assert state.ledger.enqueue(["a.md"], Lane.LIVE) == []
        (message,) = state.ledger.resend_expired(9)
        assert state.ledger.end_run(run.id, RunState.CANCELLED) == []
        assert state.ledger.begin(message, LEASE_SECONDS) is not None

    @pytest.mark.parametrize("final", [RunState.FAILED, RunState.TIMED_OUT, RunState.CANCELLED])
    def test_an_ended_run_drops_its_waiting_tickets_and_keeps_what_has_begun(self, state: StateUnderTest, final: RunState) -> None:
        run, _ = state.ledger.start_run()
        messages = state.ledger.enqueue(["b", "a", "c"], Lane.BULK, run_id=run.id)
        state.ledger.enqueue(["other"], Lane.LIVE)
        begun = state.ledger.begin(messages[2], LEASE_SECONDS)
        assert begun is not None
        assert state.ledger.end_run(run.id, final, "why | so\nnow") == ["b", "a"]
        assert state.ledger.begin(messages[0], LEASE_SECONDS) is None
        assert state.ledger.outstanding() == (1, 1)
        ended = self._run(state, run.id)
        assert (ended.state, ended.error, ended.pending) == (final, "why | so\nnow", 1)
        assert ended.finished_at is not None
        assert state.commit(begun).committed
        assert self._run(state, run.id).pending == 0
        assert self._run(state, run.id).counters == {"indexed": 1}

    def test_a_run_backs_off_until_a_moment_and_goes_on_as_what_it_was(self, state: StateUnderTest) -> None:
        run, _ = state.ledger.start_run()
        for before in (RunState.SCANNING, RunState.INDEXING):
            for moment in (1_900_000_000.25, 1_900_000_300.0):
                state.ledger.back_off(run.id, moment)
                backing_off = self._run(state, run.id)
                assert (backing_off.state, backing_off.retry_at) == (RunState.BACKING_OFF, moment)
                assert state.ledger.current_run() == backing_off
                assert state.ledger.start_run() == (backing_off, False)
            state.ledger.back_off(run.id, None)
            state.ledger.back_off(run.id, None)
            assert (self._run(state, run.id).state, self._run(state, run.id).retry_at) == (before, None)
            state.ledger.scan_ended(run.id)

    def test_a_run_that_backs_off_ends_its_scan_and_its_documents(self, state: StateUnderTest) -> None:
        run, _ = state.ledger.start_run()
        attempt = state.begin("a.md", run_id=run.id)
        state.ledger.back_off(run.id, 1_900_000_000.0)
        state.ledger.scan_ended(run.id)
        assert self._run(state, run.id).state is RunState.BACKING_OFF
        assert not state.ledger.complete(run.id)
        assert state.commit(attempt).committed
        assert state.ledger.complete(run.id)
        assert (self._run(state, run.id).state, self._run(state, run.id).retry_at) == (RunState.COMPLETE, None)

    def test_a_run_that_backs_off_is_not_complete_before_its_scan_has_ended(self, state: StateUnderTest) -> None:
        run, _ = state.ledger.start_run()
        state.ledger.back_off(run.id, 1_900_000_000.0)
        assert not state.ledger.complete(run.id)
        assert self._run(state, run.id).state is RunState.BACKING_OFF

    def test_a_run_that_has_ended_backs_off_no_more(self, state: StateUnderTest) -> None:
        run, _ = state.ledger.start_run()
        state.ledger.back_off(run.id, 1_900_000_000.0)
        state.ledger.end_run(run.id, RunState.FAILED, "why")
        assert (self._run(state, run.id).state, self._run(state, run.id).retry_at) == (RunState.FAILED, None)
        state.ledger.back_off(run.id, 1_900_000_000.0)
        state.ledger.back_off("unknown", 1_900_000_000.0)
        assert (self._run(state, run.id).state, self._run(state, run.id).retry_at) == (RunState.FAILED, None)
        assert state.ledger.run("unknown") is None
        assert state.ledger.start_run()[1]

    def test_what_is_given_back_of_a_run_that_has_ended_ends_with_it(self, state: StateUnderTest) -> None:
        run, _ = state.ledger.start_run()
        attempts = [state.begin(name, run_id=run.id) for name in ("left.md", "changed.md")]
        state.ledger.enqueue(["changed.md"], Lane.LIVE)
        state.ledger.end_run(run.id, RunState.CANCELLED)
        assert [message.document_id for message in state.ledger.give_back(attempts)] == ["changed.md"]
        assert state.ledger.outstanding() == (1, 0)
        assert self._run(state, run.id).pending == 0
        assert state.ledger.pending(["left.md", "changed.md"]) == [False, True]

    def test_an_ended_run_stays_as_it_ended(self, state: StateUnderTest) -> None:
        run, _ = state.ledger.start_run()
        state.ledger.end_run(run.id, RunState.CANCELLED)
        assert state.ledger.complete(run.id)
        assert state.ledger.end_run(run.id, RunState.FAILED, "late") == []
        state.ledger.scan_ended(run.id)
        assert (self._run(state, run.id).state, self._run(state, run.id).error) == (RunState.CANCELLED, "")
        assert state.ledger.last_complete_run() is None

    def test_nothing_is_planned_for_a_run_that_has_ended(self, state: StateUnderTest) -> None:
        run, _ = state.ledger.start_run()
        state.ledger.end_run(run.id, RunState.CANCELLED)
        assert state.ledger.enqueue(["a"], Lane.BULK, run_id=run.id) == []
        assert state.ledger.outstanding() == (0, 0)
        assert len(state.ledger.enqueue(["a"], Lane.LIVE)) == 1

    @pytest.mark.parametrize("wrong", [RunState.COMPLETE, RunState.SCANNING])
    def test_a_run_is_ended_only_with_a_state_that_says_why(self, state: StateUnderTest, wrong: RunState) -> None:
        run, _ = state.ledger.start_run()
        with pytest.raises(ValueError, match="cannot be ended"):
            state.ledger.end_run(run.id, wrong)

    def test_the_next_run_starts_when_the_last_has_ended(self, state: StateUnderTest) -> None:
        first, _ = state.ledger.start_run()
        state.ledger.end_run(first.id, RunState.FAILED, "x")
        second, new = state.ledger.start_run()
        assert new
        assert second.id != first.id
        assert state.ledger.current_run() == second
        assert not state.ledger.wants_another_pass(second.id)

    def test_the_last_hundred_runs_and_the_last_complete_one_are_kept(self, state: StateUnderTest) -> None:
        def one_run(complete: bool) -> str:
            run, _ = state.ledger.start_run()
            state.ledger.scan_ended(run.id)
            if complete:
                state.ledger.complete(run.id)
            else:
                state.ledger.end_run(run.id, RunState.FAILED)
            return run.id

        first_complete = one_run(complete=True)
        failed = [one_run(complete=False) for _ in range(101)]
        assert state.ledger.run(failed[0]) is None
        assert state.ledger.run(failed[1]) is not None
        last = state.ledger.last_complete_run()
        assert last is not None
        assert last.id == first_complete
        one_run(complete=True)
        assert state.ledger.run(first_complete) is None

    @staticmethod
    def _run(state: StateUnderTest, run_id: str) -> Run:
        run = state.ledger.run(run_id)
        assert run is not None
        return run
