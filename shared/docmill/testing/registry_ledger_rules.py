"""Rules of the ledger: what is planned, begun, ended and sent again."""

# ruff: noqa: D102 - the name of a test is its description

import pytest

from docmill.domain.registry import Attempt, CommitResult, Lane, TaskMessage
from docmill.testing.state_under_test import LEASE_SECONDS, StateContract, StateUnderTest


class LedgerRules(StateContract):
    """Contract tests; see the module."""

    def test_each_new_document_gets_one_ticket_and_one_message(self, state: StateUnderTest) -> None:
        messages = state.ledger.enqueue(["b.md", "a.md", "b.md"], Lane.BULK)
        assert [(message.knowledge_base, message.document_id) for message in messages] == [("handbook", "b.md"), ("handbook", "a.md")]
        assert messages[0].ticket != messages[1].ticket
        assert state.ledger.outstanding() == (2, 0)
        assert state.ledger.enqueue([], Lane.BULK) == []

    def test_saving_a_waiting_document_many_times_queues_it_once(self, state: StateUnderTest) -> None:
        state.ledger.enqueue(["a.md"], Lane.LIVE)
        assert [state.ledger.enqueue(["a.md"], lane) for lane in (Lane.LIVE, Lane.BULK, Lane.LIVE)] == [[], [], []]
        assert state.ledger.outstanding() == (1, 0)

    @pytest.mark.parametrize("document_id", ["", "a\nb"])
    def test_what_is_no_document_id_is_refused(self, state: StateUnderTest, document_id: str) -> None:
        with pytest.raises(ValueError, match="not a document id"):
            state.ledger.enqueue(["fine.md", document_id], Lane.BULK)
        assert state.ledger.outstanding() == (0, 0)

    def test_many_documents_are_planned_in_one_call(self, state: StateUnderTest) -> None:
        names = [f"{number}.md" for number in range(1200)]
        messages = state.ledger.enqueue(names, Lane.BULK)
        assert [message.document_id for message in messages] == names
        assert len({message.ticket for message in messages}) == 1200
        assert state.ledger.outstanding() == (1200, 0)

    def test_a_live_change_of_a_document_that_waits_in_bulk_overtakes(self, state: StateUnderTest) -> None:
        (bulk,) = state.ledger.enqueue(["a.md"], Lane.BULK)
        (live,) = state.ledger.enqueue(["a.md"], Lane.LIVE)
        assert state.ledger.begin(bulk, LEASE_SECONDS) is None
        attempt = state.ledger.begin(live, LEASE_SECONDS)
        assert attempt is not None
        assert attempt.lane is Lane.LIVE
        assert state.ledger.outstanding() == (0, 1)

    def test_an_attempt_says_what_it_is_for(self, state: StateUnderTest) -> None:
        run, _ = state.ledger.start_run()
        (message,) = state.ledger.enqueue(["a.md"], Lane.BULK, run_id=run.id)
        attempt = state.ledger.begin(message, LEASE_SECONDS)
        assert attempt is not None
        assert attempt == Attempt("handbook", "a.md", message.ticket, attempt.generation, Lane.BULK, run.id, 1, known=False)

    def test_an_attempt_says_whether_any_index_set_knows_the_document(self, state: StateUnderTest) -> None:
        state.commit_new("a.md")
        assert state.begin("a.md").known
        assert not state.begin("b.md").known

    def test_a_wrong_ticket_begins_nothing(self, state: StateUnderTest) -> None:
        (message,) = state.ledger.enqueue(["a.md"], Lane.BULK)
        assert state.ledger.begin(TaskMessage("handbook", "a.md", message.ticket + 1), LEASE_SECONDS) is None
        assert state.ledger.begin(TaskMessage("handbook", "b.md", message.ticket), LEASE_SECONDS) is None
        assert state.ledger.outstanding() == (1, 0)

    def test_a_message_that_comes_twice_begins_once_and_dirties(self, state: StateUnderTest) -> None:
        (message,) = state.ledger.enqueue(["a.md"], Lane.BULK)
        attempt = state.ledger.begin(message, LEASE_SECONDS)
        assert attempt is not None
        assert state.ledger.begin(message, LEASE_SECONDS) is None
        assert state.ledger.finish(attempt).next_message is not None

    def test_a_message_that_comes_after_the_end_begins_nothing(self, state: StateUnderTest) -> None:
        (message,) = state.ledger.enqueue(["a.md"], Lane.BULK)
        attempt = state.ledger.begin(message, LEASE_SECONDS)
        assert attempt is not None
        state.ledger.finish(attempt)
        assert state.ledger.begin(message, LEASE_SECONDS) is None

    def test_a_change_of_a_leased_document_waits_for_the_end_of_its_attempt(self, state: StateUnderTest) -> None:
        attempt = state.begin("a.md")
        assert state.ledger.enqueue(["a.md"], Lane.LIVE) == []
        result = state.ledger.finish(attempt)
        assert result.committed
        assert result.next_message is not None
        again = state.ledger.begin(result.next_message, LEASE_SECONDS)
        assert again is not None
        assert (again.lane, again.tries) == (Lane.LIVE, 1)
        assert state.ledger.finish(again) == CommitResult(True)

    def test_begin_clears_what_was_dirty_before_it(self, state: StateUnderTest) -> None:
        state.begin("a.md")
        state.ledger.enqueue(["a.md"], Lane.LIVE)
        state.shift_clock(LEASE_SECONDS)
        (message,) = state.ledger.resend_expired(9)
        attempt = state.ledger.begin(message, LEASE_SECONDS)
        assert attempt is not None
        assert state.ledger.finish(attempt).next_message is None

    def test_finish_ends_the_ticket_and_releases_the_lease(self, state: StateUnderTest) -> None:
        attempt = state.begin("a.md")
        assert state.ledger.finish(attempt) == CommitResult(True)
        assert state.ledger.outstanding() == (0, 0)
        assert state.leases.renew([attempt], LEASE_SECONDS) == [False]
        assert len(state.ledger.enqueue(["a.md"], Lane.BULK)) == 1

    def test_finish_without_the_lease_changes_nothing(self, state: StateUnderTest) -> None:
        first = state.begin("a.md")
        state.shift_clock(LEASE_SECONDS)
        assert state.ledger.finish(first, failed="provider: no answer") == CommitResult(False)
        assert not state.has_entry("a.md")
        (message,) = state.ledger.resend_expired(9)
        second = state.ledger.begin(message, LEASE_SECONDS)
        assert second is not None
        state.ledger.enqueue(["a.md"], Lane.LIVE)
        assert state.ledger.finish(first) == CommitResult(False)
        assert state.ledger.finish(second).next_message is not None

    def test_an_entry_whose_lease_ran_out_is_sent_again_once_with_its_ticket(self, state: StateUnderTest) -> None:
        attempt = state.begin("a.md")
        state.shift_clock(LEASE_SECONDS - 1)
        assert state.ledger.resend_expired(9) == []
        state.shift_clock(1)
        assert state.ledger.outstanding() == (0, 1)
        assert state.ledger.resend_expired(9) == [TaskMessage("handbook", "a.md", attempt.ticket)]
        assert state.ledger.resend_expired(9) == []
        assert state.ledger.outstanding() == (1, 0)

    def test_an_attempt_knows_how_often_its_ticket_has_begun(self, state: StateUnderTest) -> None:
        tries = [state.begin("a.md").tries]
        for _ in range(2):
            state.shift_clock(LEASE_SECONDS)
            (message,) = state.ledger.resend_expired(9)
            attempt = state.ledger.begin(message, LEASE_SECONDS)
            assert attempt is not None
            tries.append(attempt.tries)
        assert tries == [1, 2, 3]

    def test_expired_entries_are_sent_again_oldest_first_up_to_the_limit(self, state: StateUnderTest) -> None:
        for name in "bca":
            state.begin(name)
            state.shift_clock(1)
        state.shift_clock(LEASE_SECONDS)
        assert [message.document_id for message in state.ledger.resend_expired(2)] == ["b", "c"]
        assert [message.document_id for message in state.ledger.resend_expired(2)] == ["a"]

    def test_a_message_that_returns_before_the_resend_begins_again(self, state: StateUnderTest) -> None:
        (message,) = state.ledger.enqueue(["a.md"], Lane.BULK)
        state.ledger.begin(message, LEASE_SECONDS)
        state.shift_clock(LEASE_SECONDS)
        attempt = state.ledger.begin(message, LEASE_SECONDS)
        assert attempt is not None
        assert attempt.tries == 2
        assert state.ledger.resend_expired(9) == []

    def test_a_change_of_a_document_whose_lease_ran_out_is_covered_by_its_resend(self, state: StateUnderTest) -> None:
        attempt = state.begin("a.md")
        state.shift_clock(LEASE_SECONDS)
        assert state.ledger.enqueue(["a.md"], Lane.LIVE) == []
        assert state.ledger.resend_expired(9) == [TaskMessage("handbook", "a.md", attempt.ticket)]

    def test_a_live_change_overtakes_a_bulk_document_that_was_sent_again(self, state: StateUnderTest) -> None:
        state.begin("a.md")
        state.shift_clock(LEASE_SECONDS)
        (resent,) = state.ledger.resend_expired(9)
        (live,) = state.ledger.enqueue(["a.md"], Lane.LIVE)
        assert state.ledger.begin(resent, LEASE_SECONDS) is None
        assert state.ledger.begin(live, LEASE_SECONDS) is not None

    def test_waiting_entries_are_listed_oldest_first_as_often_as_asked(self, state: StateUnderTest) -> None:
        messages = state.ledger.enqueue(["b", "c", "a"], Lane.BULK)
        state.ledger.begin(messages[1], LEASE_SECONDS)
        assert state.ledger.oldest_waiting(9) == [messages[0], messages[2]]
        assert state.ledger.oldest_waiting(1) == [messages[0]]

    def test_outstanding_counts_waiting_and_begun_entries(self, state: StateUnderTest) -> None:
        messages = state.ledger.enqueue(["a", "b", "c"], Lane.BULK)
        state.ledger.begin(messages[0], LEASE_SECONDS)
        assert state.ledger.outstanding() == (2, 1)

    def test_a_document_is_pending_from_its_plan_to_its_end(self, state: StateUnderTest) -> None:
        assert state.ledger.pending([]) == []
        messages = state.ledger.enqueue(["a", "b"], Lane.BULK)
        attempt = state.ledger.begin(messages[0], LEASE_SECONDS)
        assert attempt is not None
        assert state.ledger.pending(["b", "c", "a"]) == [True, False, True]
        state.shift_clock(LEASE_SECONDS)
        assert state.ledger.pending(["a"]) == [True]
        (message,) = state.ledger.resend_expired(9)
        again = state.ledger.begin(message, LEASE_SECONDS)
        assert again is not None
        assert state.commit(again).committed
        assert state.ledger.pending(["a", "b"]) == [False, True]
