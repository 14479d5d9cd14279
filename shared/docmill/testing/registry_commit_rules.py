"""Rules of intent and commit: what becomes live, when, and what follows from it."""

# ruff: noqa: D102 - the name of a test is its description

import pytest

from docmill.domain.registry import Commit, DocumentState, Entry, Intent, Lane, Version
from docmill.testing.state_under_test import LEASE_SECONDS, OTHER, SERVED, StateContract, StateUnderTest


class CommitRules(StateContract):
    """Contract tests; see the module."""

    def test_a_committed_generation_is_the_live_one(self, state: StateUnderTest) -> None:
        attempt = state.begin("a.md")
        state.commit(attempt, "f1", words=3, stat="7.8.9.a")
        live = Version(attempt.generation, 1, "f1", {"words": 3})
        assert state.entry("a.md") == Entry(DocumentState.LIVE, live, None, "7.8.9.a", "", 7)

    def test_a_version_knows_when_it_became_live(self, state: StateUnderTest) -> None:
        state.commit_new("a.md", "f1", words=3)
        state.shift_clock(90)
        state.commit_new("a.md", "f2", words=3)
        entry = state.entry("a.md")
        times = [version.committed_at for version in (entry.previous, entry.live) if version is not None]
        before, now = (time for time in times if time is not None)
        assert 89 <= now - before <= 120

    def test_a_second_commit_keeps_the_first_version_as_previous(self, state: StateUnderTest) -> None:
        first = state.commit_new("a.md", "f1", words=3)
        second = state.commit_new("a.md", "f2", words=4)
        entry = state.entry("a.md")
        assert entry.live == Version(second.generation, 2, "f2", {"words": 4})
        assert entry.previous == Version(first.generation, 1, "f1", {"words": 3})

    def test_each_commit_raises_the_commit_number_by_one(self, state: StateUnderTest) -> None:
        for name in ("a.md", "b.md", "a.md"):
            state.commit_new(name)
        lives = [state.entry(name).live for name in ("a.md", "b.md")]
        assert [live.commit for live in lives if live is not None] == [3, 2]
        assert state.registry.position().commit == 3

    def test_many_commits_in_one_call_stand_or_fall_each_on_its_own(self, state: StateUnderTest) -> None:
        attempts = [state.begin(name) for name in ("a.md", "b.md", "c.md")]
        state.ledger.finish(attempts[1])
        commits = [Commit(attempt, DocumentState.LIVE, "f1", {SERVED: {"words": 1}}) for attempt in attempts]
        assert [result.committed for result in state.registry.commit(commits)] == [True, False, True]
        assert not state.has_entry("b.md")
        assert state.registry.position().commit == 2

    def test_an_empty_list_of_commits_or_intents_does_nothing(self, state: StateUnderTest) -> None:
        assert state.registry.commit([]) == []
        assert state.registry.intents([]) == []

    def test_a_commit_after_the_lease_ran_out_is_superseded(self, state: StateUnderTest) -> None:
        attempt = state.begin("a.md")
        state.shift_clock(LEASE_SECONDS)
        result = state.commit(attempt)
        assert (result.committed, result.next_message) == (False, None)
        assert not state.has_entry("a.md")
        assert state.registry.position().commit == 0

    def test_a_commit_after_another_attempt_took_the_lease_is_superseded(self, state: StateUnderTest) -> None:
        first = state.begin("a.md")
        state.shift_clock(LEASE_SECONDS)
        (message,) = state.ledger.resend_expired(10)
        second = state.ledger.begin(message, LEASE_SECONDS)
        assert second is not None
        assert not state.commit(first, "old").committed
        assert state.commit(second, "new").committed
        assert not state.commit(first, "old").committed
        live = state.entry("a.md").live
        assert live is not None
        assert live.fingerprint == "new"

    def test_a_commit_given_twice_counts_once(self, state: StateUnderTest) -> None:
        attempt = state.begin("a.md")
        assert state.commit(attempt).committed
        assert not state.commit(attempt).committed
        assert state.registry.position().commit == 1

    def test_a_superseded_commit_leaves_the_other_attempts_dirt_lease_and_ticket(self, state: StateUnderTest) -> None:
        first = state.begin("a.md")
        state.shift_clock(LEASE_SECONDS)
        (message,) = state.ledger.resend_expired(10)
        second = state.ledger.begin(message, LEASE_SECONDS)
        assert second is not None
        state.ledger.enqueue(["a.md"], Lane.LIVE)
        state.commit(first)
        assert state.ledger.outstanding() == (0, 1)
        assert state.leases.renew([second], LEASE_SECONDS) == [True]
        assert state.commit(second).next_message is not None

    def test_a_commit_ends_the_ticket_and_releases_the_lease(self, state: StateUnderTest) -> None:
        attempt = state.begin("a.md")
        state.commit(attempt)
        assert state.ledger.outstanding() == (0, 0)
        assert state.leases.renew([attempt], LEASE_SECONDS) == [False]

    def test_a_document_changed_during_its_attempt_gets_a_live_ticket_at_the_commit(self, state: StateUnderTest) -> None:
        attempt = state.begin("a.md")
        state.ledger.enqueue(["a.md"], Lane.BULK)
        message = state.commit(attempt).next_message
        assert message is not None
        assert message.document_id == "a.md"
        again = state.ledger.begin(message, LEASE_SECONDS)
        assert again is not None
        assert (again.lane, again.run_id) == (Lane.LIVE, "")
        assert state.commit(again, "f2").next_message is None

    def test_a_commit_of_two_index_sets_has_one_commit_number(self, state: StateUnderTest) -> None:
        attempt = state.commit_new("a.md", sets=(SERVED, OTHER))
        expected = Version(attempt.generation, 1, "f1", {"words": 2})
        assert (state.entry("a.md", SERVED).live, state.entry("a.md", OTHER).live) == (expected, expected)

    def test_a_skipped_commit_has_its_reason_and_no_chunks(self, state: StateUnderTest) -> None:
        attempt = state.begin("a.bin")
        state.commit(attempt, "f1", state=DocumentState.SKIPPED, reason="binary: not text | at byte 3\nor so")
        entry = state.entry("a.bin")
        assert (entry.state, entry.reason) == (DocumentState.SKIPPED, "binary: not text | at byte 3\nor so")
        assert entry.live == Version(attempt.generation, 1, "f1", {})

    def test_an_empty_commit_has_a_generation_and_no_chunks(self, state: StateUnderTest) -> None:
        attempt = state.begin("a.md")
        state.commit(attempt, "f0", state=DocumentState.EMPTY)
        assert state.entry("a.md").state is DocumentState.EMPTY
        assert state.entry("a.md").live == Version(attempt.generation, 1, "f0", {})

    def test_a_gone_document_keeps_its_last_version_as_previous(self, state: StateUnderTest) -> None:
        live = state.commit_new("a.md", "f1")
        gone = state.remove("a.md")
        entry = state.entry("a.md")
        assert entry.state is DocumentState.GONE
        assert entry.live == Version(gone.generation, 2, "", {})
        assert entry.previous == Version(live.generation, 1, "f1", {"words": 2})

    def test_a_gone_document_is_gone_in_every_index_set(self, state: StateUnderTest) -> None:
        state.commit_new("a.md", sets=(SERVED, OTHER))
        state.remove("a.md")
        assert state.entry("a.md", SERVED).state is state.entry("a.md", OTHER).state is DocumentState.GONE

    def test_a_gone_commit_of_an_unknown_document_only_ends_the_attempt(self, state: StateUnderTest) -> None:
        attempt = state.begin("a.md")
        assert state.commit(attempt, "", state=DocumentState.GONE).committed
        assert not state.has_entry("a.md")
        assert state.registry.position().commit == 0
        assert state.ledger.outstanding() == (0, 0)
        assert state.leases.renew([attempt], LEASE_SECONDS) == [False]

    def test_a_gone_document_can_come_back(self, state: StateUnderTest) -> None:
        state.commit_new("a.md", "f1")
        gone = state.remove("a.md")
        back = state.commit_new("a.md", "f1")
        entry = state.entry("a.md")
        assert entry.state is DocumentState.LIVE
        assert entry.live == Version(back.generation, 3, "f1", {"words": 2})
        assert entry.previous == Version(gone.generation, 2, "", {})

    def test_a_commit_that_names_no_index_set_is_refused(self, state: StateUnderTest) -> None:
        attempt = state.begin("a.md")
        with pytest.raises(ValueError, match="names no index set"):
            state.commit(attempt, sets=())

    @pytest.mark.parametrize("wrong", [DocumentState.FAILED, DocumentState.PENDING, DocumentState.QUARANTINED])
    def test_only_what_queries_can_be_answered_with_is_committed(self, state: StateUnderTest, wrong: DocumentState) -> None:
        attempt = state.begin("a.md")
        with pytest.raises(ValueError, match="cannot be committed"):
            state.commit(attempt, state=wrong)

    def test_an_intent_is_recorded_only_while_the_lease_holds(self, state: StateUnderTest) -> None:
        held, lost = state.begin("a.md"), state.begin("b.md")
        state.ledger.finish(lost)
        intents = [Intent(attempt, "f1", {SERVED: {"words": 1}}) for attempt in (held, lost)]
        assert state.registry.intents(intents) == [True, False]
        state.shift_clock(LEASE_SECONDS)
        assert state.registry.intents(intents) == [False, False]

    def test_a_failed_attempt_leaves_the_live_version(self, state: StateUnderTest) -> None:
        first = state.commit_new("a.md", "f1")
        state.ledger.finish(state.begin("a.md"), failed="parser_failed: broken | table\nat line 3", stat="9.9.9.9")
        entry = state.entry("a.md")
        assert (entry.state, entry.reason, entry.stat) == (DocumentState.FAILED, "parser_failed: broken | table\nat line 3", "9.9.9.9")
        assert entry.live == Version(first.generation, 1, "f1", {"words": 2})
        assert state.registry.position().commit == 1

    def test_a_document_that_fails_at_first_has_no_live_version(self, state: StateUnderTest) -> None:
        state.ledger.finish(state.begin("a.md"), failed="provider: no answer")
        assert state.entry("a.md") == Entry(DocumentState.FAILED, None, reason="provider: no answer")

    def test_a_failure_shows_in_every_index_set_that_is_served_or_has_entries(self, state: StateUnderTest) -> None:
        state.commit_new("b.md", sets=(OTHER,))
        state.ledger.finish(state.begin("a.md"), failed="provider: no answer")
        assert state.entry("a.md", SERVED).state is state.entry("a.md", OTHER).state is DocumentState.FAILED

    def test_a_failed_document_that_is_committed_again_is_live(self, state: StateUnderTest) -> None:
        state.ledger.finish(state.begin("a.md"), failed="provider: no answer")
        state.commit_new("a.md")
        assert state.entry("a.md").state is DocumentState.LIVE
        assert state.entry("a.md").reason == ""

    def test_an_unchanged_source_refreshes_the_stat_signature_alone(self, state: StateUnderTest) -> None:
        state.commit_new("a.md", "f1")
        before = state.entry("a.md")
        attempt = state.begin("a.md")
        assert state.ledger.finish(attempt, unchanged={SERVED: "f1"}, stat="5.5.5.5").committed
        after = state.entry("a.md")
        assert (after.stat, after.live, after.state) == ("5.5.5.5", before.live, before.state)
        assert state.registry.position().commit == 1

    def test_a_stat_signature_is_not_refreshed_for_another_fingerprint(self, state: StateUnderTest) -> None:
        state.commit_new("a.md", "f1")
        state.ledger.finish(state.begin("a.md"), unchanged={SERVED: "f2", OTHER: "f1"}, stat="5.5.5.5")
        assert state.entry("a.md").stat == "1.2.3.4"

    def test_a_failed_document_whose_source_is_the_live_version_is_live_again(self, state: StateUnderTest) -> None:
        state.commit_new("a.md", "f1")
        state.ledger.finish(state.begin("a.md"), failed="provider: no answer", stat="2.2.2.2")
        state.ledger.finish(state.begin("a.md"), unchanged={SERVED: "f1"}, stat="3.3.3.3")
        entry = state.entry("a.md")
        assert (entry.state, entry.reason, entry.stat) == (DocumentState.LIVE, "", "3.3.3.3")

    def test_a_failed_document_whose_live_version_is_empty_is_empty_again(self, state: StateUnderTest) -> None:
        state.commit(state.begin("a.md"), "f0", state=DocumentState.EMPTY)
        state.ledger.finish(state.begin("a.md"), failed="provider: no answer")
        state.ledger.finish(state.begin("a.md"), unchanged={SERVED: "f0"}, stat="3.3.3.3")
        assert state.entry("a.md").state is DocumentState.EMPTY
