"""Rules of what is read: entries, stat signatures, pages, counts, index sets, forgetting."""

# ruff: noqa: D102 - the name of a test is its description

import pytest

from docmill.domain.registry import Commit, DocumentState, Entry, Intent, Lane, Version
from docmill.testing.state_under_test import GRACE_SECONDS, OTHER, SERVED, StateContract, StateUnderTest

#: Ids with everything that may stand in one: separators of packed forms, spaces, percent signs, other scripts.
AWKWARD_IDS = ["a|b,c=d;e:f.md", "with space.md", "%0A.md", "größe.md", "日本.md", "\U0001f600.md", "-", "#1", "{a:0}"]


class EntryRules(StateContract):
    """Contract tests; see the module."""

    def test_a_new_state_is_in_epoch_zero_with_nothing_served(self, fresh_state: StateUnderTest) -> None:
        position = fresh_state.registry.position()
        assert (position.epoch, position.commit, position.index_set) == (0, 0, None)
        assert fresh_state.registry.index_sets() == []
        assert fresh_state.ledger.current_run() is None
        assert fresh_state.ledger.outstanding() == (0, 0)

    def test_entries_are_read_together_with_the_epoch_and_without_unknown_documents(self, state: StateUnderTest) -> None:
        state.commit_new("a.md")
        epoch, entries = state.registry.entries(SERVED, ["b.md", "a.md"])
        assert (epoch, list(entries)) == (1, ["a.md"])
        assert state.registry.entries(SERVED, []) == (1, {})
        assert state.registry.entries("unknown", ["a.md"]) == (1, {})

    def test_entries_are_read_together_with_the_position(self, state: StateUnderTest) -> None:
        state.commit_new("a.md")
        for index_set, documents in ((SERVED, ["b.md", "a.md"]), (SERVED, []), ("unknown", ["a.md"])):
            position, entries = state.registry.entries_now(index_set, documents)
            assert position == state.registry.position()
            assert entries == state.registry.entries(index_set, documents)[1]
        state.commit_new("c.md")
        state.ledger.enqueue(["d.md"], Lane.LIVE)
        position, entries = state.registry.entries_now(SERVED, ["c.md"])
        assert (position.commit, position.index_set, position.pending, list(entries)) == (2, SERVED, 1, ["c.md"])

    @pytest.mark.parametrize("document_id", AWKWARD_IDS)
    def test_every_document_id_passes_through_unchanged(self, state: StateUnderTest, document_id: str) -> None:
        state.commit_new(document_id)
        state.commit_new(document_id, "f2")
        state.ledger.enqueue([document_id], state.begin("x").lane)
        assert state.has_entry(document_id)
        assert [name for name, _ in state.registry.scan(SERVED)] == [document_id]
        assert [name for name, _ in state.registry.page(SERVED, after="", limit=9, state=None)] == [document_id]
        assert [message.document_id for message in state.ledger.oldest_waiting(9)] == [document_id]
        state.shift_clock(GRACE_SECONDS)
        assert document_id in [item.document_id for item in state.registry.due_garbage(GRACE_SECONDS, 9)]

    def test_names_of_strategies_and_index_sets_may_hold_separators(self, state: StateUnderTest) -> None:
        names = {"a|b": 1, "c,d=e": 2, "f;g:h%": 3, "日本": 4}
        attempt = state.begin("a.md")
        chunks = {"set;1:x|": names}
        state.registry.intents([Intent(attempt, "f1", chunks)])
        state.registry.commit([Commit(attempt, DocumentState.LIVE, "f1", chunks)])
        live = state.entry("a.md", "set;1:x|").live
        assert live is not None
        assert live.chunks == names
        assert state.registry.counts("set;1:x|")[1] == names
        state.remove("a.md")
        state.shift_clock(GRACE_SECONDS)
        assert chunks in [item.chunks for item in state.registry.due_garbage(GRACE_SECONDS, 9)]

    def test_stats_are_those_of_the_last_read(self, state: StateUnderTest) -> None:
        state.commit(state.begin("a.md"), stat="1.1.1.1")
        state.commit(state.begin("racy.md"), stat="")
        state.commit(state.begin("skipped.bin"), state=DocumentState.SKIPPED, reason="binary: x", stat="2.2.2.2")
        assert state.registry.stats(SERVED, ["racy.md", "unknown", "a.md", "skipped.bin"]) == ["", None, "1.1.1.1", "2.2.2.2"]
        assert state.registry.stats(SERVED, []) == []
        assert state.registry.stats("unknown", ["a.md"]) == [None]

    def test_failed_and_gone_documents_have_no_stat(self, state: StateUnderTest) -> None:
        state.commit_new("gone.md")
        state.remove("gone.md")
        state.ledger.finish(state.begin("failed.md"), failed="provider: no answer", stat="1.1.1.1")
        assert state.registry.stats(SERVED, ["gone.md", "failed.md"]) == [None, None]

    def test_a_marked_document_must_be_read_again_until_it_is_written_again(self, state: StateUnderTest) -> None:
        attempt = state.commit_new("a.md")
        state.registry.mark(SERVED, "a.md", attempt.generation)
        assert state.entry("a.md").marked
        state.ledger.finish(state.begin("a.md"), unchanged={SERVED: "f1"}, stat="4.4.4.4")
        assert state.registry.stats(SERVED, ["a.md"]) == [""]
        state.commit_new("a.md")
        assert not state.entry("a.md").marked
        assert state.registry.stats(SERVED, ["a.md"]) == ["1.2.3.4"]

    def test_a_mark_for_a_generation_that_is_not_live_any_more_is_ignored(self, state: StateUnderTest) -> None:
        attempt = state.commit_new("a.md")
        state.commit_new("a.md")
        state.registry.mark(SERVED, "a.md", attempt.generation)
        state.registry.mark(SERVED, "unknown", attempt.generation)
        assert not state.entry("a.md").marked
        assert not state.has_entry("unknown")

    def test_a_scan_sees_every_entry_once_gone_ones_too(self, state: StateUnderTest) -> None:
        names = [f"{number}.md" for number in range(25)]
        for name in names:
            state.commit_new(name)
        state.remove("7.md")
        found = list(state.registry.scan(SERVED))
        assert sorted(name for name, _ in found) == sorted(names)
        assert {name for name, entry in found if entry.state is DocumentState.GONE} == {"7.md"}

    def test_pages_follow_each_other_in_code_point_order(self, state: StateUnderTest) -> None:
        names = ["Z", "a", "a/b", "a0", "z", "é", "\uffee", "\U0001f600"]
        for name in reversed(names):
            state.commit_new(name)
        first = [name for name, _ in state.registry.page(SERVED, after="", limit=3, state=None)]
        rest = [name for name, _ in state.registry.page(SERVED, after=first[-1], limit=99, state=None)]
        assert first + rest == names
        assert state.registry.page(SERVED, after=rest[-1], limit=9, state=None) == []

    def test_pages_can_be_of_one_state_and_leave_out_gone_documents(self, state: StateUnderTest) -> None:
        for name in "abcdef":
            state.commit_new(name)
        state.remove("b")
        for name in "cf":
            state.ledger.finish(state.begin(name), failed="provider: no answer")
        failed = state.registry.page(SERVED, after="", limit=9, state=DocumentState.FAILED)
        assert [(name, entry.state) for name, entry in failed] == [("c", DocumentState.FAILED), ("f", DocumentState.FAILED)]
        assert [name for name, _ in state.registry.page(SERVED, after="", limit=9, state=None)] == list("acdef")
        assert [name for name, _ in state.registry.page(SERVED, after="a", limit=2, state=DocumentState.LIVE)] == ["d", "e"]
        assert state.registry.page(SERVED, after="", limit=9, state=DocumentState.PENDING) == []

    def test_counts_follow_every_change_of_state_and_of_chunks(self, state: StateUnderTest) -> None:
        state.commit_new("a.md", words=2)
        state.commit_new("b.md", words=5)
        state.commit_new("a.md", words=3)
        assert state.registry.counts(SERVED) == ({DocumentState.LIVE: 2}, {"words": 8})
        state.ledger.finish(state.begin("a.md"), failed="provider: no answer")
        assert state.registry.counts(SERVED) == ({DocumentState.LIVE: 1, DocumentState.FAILED: 1}, {"words": 8})
        state.ledger.finish(state.begin("a.md"), unchanged={SERVED: "f1"})
        state.remove("b.md")
        assert state.registry.counts(SERVED) == ({DocumentState.LIVE: 1, DocumentState.GONE: 1}, {"words": 3})
        state.shift_clock(GRACE_SECONDS)
        state.registry.forget_gone(GRACE_SECONDS, 9)
        assert state.registry.counts(SERVED) == ({DocumentState.LIVE: 1}, {"words": 3})
        state.remove("a.md")
        assert state.registry.counts(SERVED) == ({DocumentState.GONE: 1}, {})

    def test_counts_are_per_index_set(self, state: StateUnderTest) -> None:
        state.commit_new("a.md", words=2, sets=(SERVED, OTHER))
        state.commit_new("b.md", words=2, sets=(OTHER,))
        assert state.registry.counts(SERVED) == ({DocumentState.LIVE: 1}, {"words": 2})
        assert state.registry.counts(OTHER) == ({DocumentState.LIVE: 2}, {"words": 4})
        assert state.registry.counts("unknown") == ({}, {})

    def test_gone_entries_are_forgotten_after_the_grace(self, state: StateUnderTest) -> None:
        for name in "abc":
            state.commit_new(name, sets=(SERVED, OTHER) if name == "a" else (SERVED,))
        state.remove("a")
        state.shift_clock(GRACE_SECONDS / 2)
        state.remove("b")
        assert state.registry.forget_gone(GRACE_SECONDS, 9) == 0
        state.shift_clock(GRACE_SECONDS / 2)
        assert state.registry.forget_gone(GRACE_SECONDS, 1) == 1
        assert state.registry.forget_gone(GRACE_SECONDS, 9) == 1
        assert [state.has_entry(name) for name in "abc"] == [False, True, True]
        assert not state.has_entry("a", OTHER)
        assert [name for name, _ in state.registry.scan(SERVED)] == ["b", "c"]
        assert list(state.registry.scan(OTHER)) == []
        assert state.registry.index_sets() == [SERVED]

    def test_a_gone_document_that_came_back_or_failed_is_not_forgotten(self, state: StateUnderTest) -> None:
        for name in "ab":
            state.commit_new(name)
            state.remove(name)
        state.commit_new("a")
        state.ledger.finish(state.begin("b"), failed="provider: no answer")
        state.shift_clock(GRACE_SECONDS)
        assert state.registry.forget_gone(GRACE_SECONDS, 9) == 0
        assert state.entry("b").state is DocumentState.FAILED

    def test_index_sets_are_those_with_entries_and_the_served_one(self, state: StateUnderTest) -> None:
        state.commit_new("a.md", sets=(OTHER,))
        assert state.registry.index_sets() == sorted([OTHER, SERVED])
        state.registry.serve(OTHER)
        assert state.registry.index_sets() == [OTHER]
        assert state.registry.position().index_set == OTHER

    def test_a_flip_serves_what_the_note_names_and_forgets_the_note(self, state: StateUnderTest) -> None:
        state.registry.note("next", OTHER)
        assert state.registry.flip(OTHER, "next")
        assert state.registry.position().index_set == OTHER
        assert state.registry.noted("next") is None

    def test_a_flip_to_what_the_note_does_not_name_changes_nothing(self, state: StateUnderTest) -> None:
        assert not state.registry.flip(OTHER, "next")
        state.registry.note("next", "third")
        assert not state.registry.flip(OTHER, "next")
        assert state.registry.position().index_set == SERVED
        assert state.registry.noted("next") == "third"

    def test_a_forgotten_index_set_has_no_entries_counts_or_gone_documents(self, state: StateUnderTest) -> None:
        attempt = state.commit_new("a.md", sets=(SERVED, OTHER))
        state.registry.forget_index_set(OTHER)
        state.registry.forget_index_set("unknown")
        assert state.registry.index_sets() == [SERVED]
        assert list(state.registry.scan(OTHER)) == []
        assert state.registry.page(OTHER, after="", limit=9, state=None) == []
        assert state.registry.counts(OTHER) == ({}, {})
        assert state.entry("a.md") == Entry(
            DocumentState.LIVE, Version(attempt.generation, 1, "f1", {"words": 2}), stat="1.2.3.4", size_bytes=7
        )

    def test_a_note_is_kept_until_it_is_replaced_or_forgotten(self, state: StateUnderTest) -> None:
        assert state.registry.noted("key|1") is None
        state.registry.note("key|1", "größe\n{}")
        state.registry.note("other", "")
        assert (state.registry.noted("key|1"), state.registry.noted("other")) == ("größe\n{}", "")
        state.registry.note("key|1", "new")
        assert state.registry.noted("key|1") == "new"
        state.registry.note("key|1", None)
        state.registry.note("unknown", None)
        assert state.registry.noted("key|1") is None

    def test_the_served_index_set_cannot_be_forgotten(self, state: StateUnderTest) -> None:
        with pytest.raises(ValueError, match="is served"):
            state.registry.forget_index_set(SERVED)
