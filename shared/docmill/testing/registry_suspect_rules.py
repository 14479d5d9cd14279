"""Rules of suspects: which documents run alone after a worker died, and which are quarantined."""

# ruff: noqa: D102 - the name of a test is its description

from collections.abc import Callable

import pytest

from docmill.domain.registry import CRASHES_TO_QUARANTINE, Attempt, CommitResult, DocumentState, Lane, Suspicion, TaskMessage
from docmill.testing.state_under_test import LEASE_SECONDS, OTHER, SERVED, StateContract, StateUnderTest

REASON = "quarantined: it ended its process three times; by signal 9|\nand so on"


def begin(state: StateUnderTest, message: TaskMessage) -> Attempt:
    """Begins what must be there to begin."""
    attempt = state.ledger.begin(message, LEASE_SECONDS)
    assert attempt is not None
    return attempt


def lose_worker(state: StateUnderTest) -> TaskMessage:
    """The one worker dies; returns the message of the one document that it had in work."""
    state.shift_clock(LEASE_SECONDS)
    (message,) = state.ledger.resend_expired(9)
    return message


def suspect(state: StateUnderTest, document_id: str, lane: Lane = Lane.BULK, run_id: str = "") -> Attempt:
    """An attempt on a document over which a worker died."""
    state.begin(document_id, lane, run_id)
    return begin(state, lose_worker(state))


def crash(state: StateUnderTest, attempt: Attempt, fingerprint: str = "f9", stat: str = "9.9") -> CommitResult:
    """The process in which it ran alone ends."""
    return state.ledger.crashed(attempt, fingerprint, stat=stat, reason=REASON)


def quarantine(state: StateUnderTest, document_id: str, fingerprint: str = "f9") -> None:
    """Lets a document crash until it is quarantined."""
    attempt = suspect(state, document_id)
    for _ in range(CRASHES_TO_QUARANTINE - 1):
        again = crash(state, attempt, fingerprint).next_message
        assert again is not None
        attempt = begin(state, again)
    assert crash(state, attempt, fingerprint) == CommitResult(True)
    assert state.entry(document_id).state is DocumentState.QUARANTINED


class SuspectRules(StateContract):
    """Contract tests; see the module."""

    def test_a_document_in_work_when_its_worker_died_runs_next_as_a_suspect(self, state: StateUnderTest) -> None:
        assert state.begin("a.md").suspicion is None
        assert state.ledger.suspicions(["a.md", "b.md"]) == {}
        assert begin(state, lose_worker(state)).suspicion == Suspicion()
        assert state.ledger.suspicions(["b.md", "a.md"]) == {"a.md": Suspicion()}

    def test_a_message_that_returns_before_the_resend_begins_a_suspect_too(self, state: StateUnderTest) -> None:
        (message,) = state.ledger.enqueue(["a.md"], Lane.BULK)
        begin(state, message)
        state.shift_clock(LEASE_SECONDS)
        assert begin(state, message).suspicion == Suspicion()

    def test_a_document_that_only_waited_when_a_worker_died_is_no_suspect(self, state: StateUnderTest) -> None:
        state.begin("a.md")
        (waits,) = state.ledger.enqueue(["b.md"], Lane.BULK)
        lose_worker(state)
        assert begin(state, waits).suspicion is None

    def test_leases_that_are_void_for_a_known_reason_make_no_suspects(self, state: StateUnderTest) -> None:
        state.begin("a.md")
        state.leases.expire_all()
        (message,) = state.ledger.resend_expired(9, suspects=False)
        assert begin(state, message).suspicion is None

    def test_documents_in_work_when_every_process_died_are_suspects_at_the_next_start(self, state: StateUnderTest) -> None:
        state.begin("a.md")
        state.registry.raise_epoch(1)
        state.leases.expire_all()
        (message,) = state.ledger.resend_expired(9)
        assert begin(state, message).suspicion == Suspicion()

    @pytest.mark.parametrize(
        "end",
        [
            lambda state, attempt: state.ledger.finish(attempt),
            lambda state, attempt: state.ledger.finish(attempt, unchanged={SERVED: "f1"}, stat="1.1"),
            lambda state, attempt: state.commit(attempt),
            lambda state, attempt: state.commit(attempt, "", state=DocumentState.GONE, sets=(), stat=""),
        ],
        ids=["finished", "unchanged", "committed", "gone"],
    )
    def test_a_suspect_that_ends_well_is_innocent(
        self, state: StateUnderTest, end: Callable[[StateUnderTest, Attempt], CommitResult]
    ) -> None:
        attempt = suspect(state, "a.md")
        crashed = crash(state, attempt).next_message
        assert crashed is not None
        assert end(state, begin(state, crashed)).committed
        assert state.ledger.suspicions(["a.md"]) == {}
        assert state.begin("a.md").suspicion is None

    def test_a_suspect_that_fails_for_another_reason_stays_one(self, state: StateUnderTest) -> None:
        again = crash(state, suspect(state, "a.md")).next_message
        assert again is not None
        state.ledger.finish(begin(state, again), failed="provider: no answer", stat="1.1")
        assert state.begin("a.md").suspicion == Suspicion(1, "f9")

    def test_a_suspect_that_lost_its_lease_changes_nothing(self, state: StateUnderTest) -> None:
        attempt = suspect(state, "a.md")
        lose_worker(state)
        assert crash(state, attempt) == CommitResult(False)
        assert state.ledger.suspicions(["a.md"]) == {"a.md": Suspicion()}
        assert not state.commit(attempt).committed
        assert state.ledger.suspicions(["a.md"]) == {"a.md": Suspicion()}

    def test_a_crash_when_alone_lets_the_document_wait_again_with_its_ticket(self, state: StateUnderTest) -> None:
        run, _ = state.ledger.start_run()
        attempt = suspect(state, "a.md", run_id=run.id)
        result = crash(state, attempt)
        assert result == CommitResult(True, TaskMessage("handbook", "a.md", attempt.ticket))
        assert state.ledger.outstanding() == (1, 0)
        assert state.leases.renew([attempt], LEASE_SECONDS) == [False]
        assert not state.has_entry("a.md")
        assert result.next_message is not None
        again = begin(state, result.next_message)
        assert (again.suspicion, again.tries, again.run_id) == (Suspicion(1, "f9"), 3, run.id)

    def test_the_third_crash_of_a_content_quarantines_the_document(self, state: StateUnderTest) -> None:
        run, _ = state.ledger.start_run()
        attempt = suspect(state, "a.md", run_id=run.id)
        for _ in range(CRASHES_TO_QUARANTINE - 1):
            again = crash(state, attempt).next_message
            assert again is not None
            attempt = begin(state, again)
        assert crash(state, attempt) == CommitResult(True)
        entry = state.entry("a.md")
        assert (entry.state, entry.reason, entry.stat, entry.live) == (DocumentState.QUARANTINED, REASON, "9.9", None)
        assert state.registry.stats(SERVED, ["a.md"]) == ["9.9"]
        assert state.registry.counts(SERVED) == ({DocumentState.QUARANTINED: 1}, {})
        assert [name for name, _ in state.registry.page(SERVED, after="", limit=9, state=DocumentState.QUARANTINED)] == ["a.md"]
        assert state.ledger.outstanding() == (0, 0)
        ended = state.ledger.run(run.id)
        assert ended is not None
        assert (ended.pending, ended.counters) == (0, {"failed.quarantined": 1})

    def test_what_was_live_before_stays_live_in_every_index_set(self, state: StateUnderTest) -> None:
        first = state.commit_new("a.md", sets=(SERVED, OTHER))
        quarantine(state, "a.md")
        for index_set in (SERVED, OTHER):
            entry = state.entry("a.md", index_set)
            assert entry.live is not None
            assert (entry.state, entry.live.generation) == (DocumentState.QUARANTINED, first.generation)
        assert state.registry.counts(OTHER) == ({DocumentState.QUARANTINED: 1}, {"words": 2})

    def test_a_document_that_was_changed_while_it_crashed_for_the_last_time_is_planned_again(self, state: StateUnderTest) -> None:
        attempt = suspect(state, "a.md")
        for _ in range(CRASHES_TO_QUARANTINE - 1):
            again = crash(state, attempt).next_message
            assert again is not None
            attempt = begin(state, again)
        state.ledger.enqueue(["a.md"], Lane.LIVE)
        planned = crash(state, attempt).next_message
        assert planned is not None
        assert planned.ticket != attempt.ticket
        assert begin(state, planned).suspicion == Suspicion(CRASHES_TO_QUARANTINE, "f9", REASON)

    def test_another_content_is_counted_anew(self, state: StateUnderTest) -> None:
        attempt = suspect(state, "a.md")
        for fingerprint in ("f1", "f1", "f2", "f2"):
            again = crash(state, attempt, fingerprint).next_message
            assert again is not None
            attempt = begin(state, again)
        assert attempt.suspicion == Suspicion(2, "f2")
        assert not state.has_entry("a.md")

    def test_a_live_change_of_a_suspect_stays_a_suspect_under_its_new_ticket(self, state: StateUnderTest) -> None:
        crash(state, suspect(state, "a.md"))
        (live,) = state.ledger.enqueue(["a.md"], Lane.LIVE)
        assert begin(state, live).suspicion == Suspicion(1, "f9")

    def test_a_quarantined_document_begins_with_what_is_known_against_it(self, state: StateUnderTest) -> None:
        quarantine(state, "a.md")
        suspicion = state.begin("a.md").suspicion
        assert suspicion == Suspicion(CRASHES_TO_QUARANTINE, "f9", REASON)
        assert suspicion.quarantines("f9")
        assert not suspicion.quarantines("f8")
        assert not Suspicion(2, "f9").quarantines("f9")

    def test_an_attempt_may_end_with_the_quarantine_that_was_there(self, state: StateUnderTest) -> None:
        quarantine(state, "a.md")
        state.ledger.finish(state.begin("a.md"), failed=REASON, stat="8.8")
        entry = state.entry("a.md")
        assert (entry.state, entry.reason, entry.stat) == (DocumentState.QUARANTINED, REASON, "8.8")
        assert state.begin("a.md").suspicion == Suspicion(CRASHES_TO_QUARANTINE, "f9", REASON)

    def test_a_commit_ends_a_quarantine(self, state: StateUnderTest) -> None:
        quarantine(state, "a.md")
        assert state.commit(state.begin("a.md"), "f2").committed
        assert state.entry("a.md").state is DocumentState.LIVE
        assert state.registry.counts(SERVED) == ({DocumentState.LIVE: 1}, {"words": 2})

    @pytest.mark.parametrize(("words", "expected"), [(2, DocumentState.LIVE), (0, DocumentState.EMPTY)])
    def test_a_file_that_is_again_what_is_live_ends_a_quarantine(self, state: StateUnderTest, words: int, expected: DocumentState) -> None:
        state.commit_new("a.md", "f1", words=words)
        quarantine(state, "a.md")
        state.ledger.finish(state.begin("a.md"), unchanged={SERVED: "f1"}, stat="7.7")
        entry = state.entry("a.md")
        assert (entry.state, entry.reason, entry.stat) == (expected, "", "7.7")
        assert state.ledger.suspicions(["a.md"]) == {}

    def test_a_retry_lets_the_next_scan_plan_a_quarantined_document_and_forgets_its_crashes(self, state: StateUnderTest) -> None:
        state.commit_new("a.md", sets=(SERVED, OTHER))
        quarantine(state, "a.md")
        assert state.ledger.retry(["a.md"]) == ["a.md"]
        for index_set in (SERVED, OTHER):
            entry = state.entry("a.md", index_set)
            assert (entry.state, entry.reason) == (DocumentState.FAILED, REASON)
            assert state.registry.stats(index_set, ["a.md"]) == [None]
        assert state.registry.counts(SERVED) == ({DocumentState.FAILED: 1}, {"words": 2})
        assert state.ledger.outstanding() == (0, 0)
        assert state.begin("a.md").suspicion == Suspicion()

    def test_a_retry_names_what_failed_and_leaves_the_rest_alone(self, state: StateUnderTest) -> None:
        state.ledger.finish(state.begin("a|failed.md"), failed="provider: no answer", stat="1.1")
        state.commit_new("b.md")
        crash(state, suspect(state, "c.md"))
        assert state.ledger.retry(["b.md", "a|failed.md", "unknown.md", "c.md"]) == ["a|failed.md"]
        assert state.ledger.retry([]) == []
        assert state.entry("a|failed.md").state is DocumentState.FAILED
        assert state.begin("a|failed.md").suspicion is None
        assert state.ledger.suspicions(["c.md"]) == {"c.md": Suspicion(1, "f9")}

    def test_what_a_stopping_worker_gives_back_waits_again_and_is_no_suspect(self, state: StateUnderTest) -> None:
        run, _ = state.ledger.start_run()
        attempts = [state.begin("a.md", run_id=run.id), state.begin("b.md", Lane.LIVE)]
        messages = state.ledger.give_back(attempts)
        assert messages == [TaskMessage("handbook", attempt.document_id, attempt.ticket) for attempt in attempts]
        assert state.ledger.outstanding() == (2, 0)
        assert state.leases.renew(attempts, LEASE_SECONDS) == [False, False]
        state.shift_clock(LEASE_SECONDS)
        assert state.ledger.resend_expired(9) == []
        again = begin(state, messages[0])
        assert (again.suspicion, again.run_id, again.lane) == (None, run.id, Lane.BULK)
        assert not state.commit(attempts[0]).committed

    def test_what_has_ended_or_is_anothers_cannot_be_given_back(self, state: StateUnderTest) -> None:
        ended, lost = state.begin("a.md"), state.begin("b.md")
        state.commit(ended)
        taken = begin(state, lose_worker(state))
        assert state.ledger.give_back([ended, lost]) == []
        assert state.ledger.give_back([]) == []
        assert state.leases.renew([taken], LEASE_SECONDS) == [True]

    def test_a_suspect_that_is_given_back_is_still_one(self, state: StateUnderTest) -> None:
        again = crash(state, suspect(state, "a.md")).next_message
        assert again is not None
        (message,) = state.ledger.give_back([begin(state, again)])
        assert begin(state, message).suspicion == Suspicion(1, "f9")

    def test_a_change_of_a_document_that_is_given_back_is_covered_by_its_next_attempt(self, state: StateUnderTest) -> None:
        attempt = state.begin("a.md")
        state.ledger.enqueue(["a.md"], Lane.LIVE)
        (message,) = state.ledger.give_back([attempt])
        assert state.ledger.finish(begin(state, message)) == CommitResult(True)
        assert state.ledger.outstanding() == (0, 0)
