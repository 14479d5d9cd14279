"""Rules of claims: a text is paid for by one attempt at a time."""

# ruff: noqa: D102 - the name of a test is its description

import pytest

from docmill.domain.errors import Superseded
from docmill.domain.registry import Lane
from docmill.testing.state_under_test import LEASE_SECONDS, StateContract, StateUnderTest


class ClaimRules(StateContract):
    """Contract tests; see the module."""

    def test_a_text_that_another_attempt_has_claimed_is_refused_with_all_that_were_asked_for(self, state: StateUnderTest) -> None:
        first, second, third = (state.begin(name) for name in "abc")
        assert state.ledger.claim(first, ["t1", "t2"])
        assert not state.ledger.claim(second, ["t0", "t2", "t3"])
        assert state.ledger.claim(third, ["t0", "t3"])

    def test_an_attempt_may_claim_again_and_more(self, state: StateUnderTest) -> None:
        first, second = state.begin("a"), state.begin("b")
        assert state.ledger.claim(first, ["t1"])
        assert state.ledger.claim(first, ["t1", "t2"])
        assert state.ledger.claim(first, [])
        assert not state.ledger.claim(second, ["t1"])
        assert not state.ledger.claim(second, ["t2"])

    def test_a_commit_ends_the_claims_of_its_attempt_and_no_others(self, state: StateUnderTest) -> None:
        first, second, third = (state.begin(name) for name in "abc")
        assert state.ledger.claim(first, ["t1"])
        assert state.ledger.claim(second, ["t2"])
        assert state.commit(first).committed
        assert state.ledger.claim(third, ["t1"])
        assert not state.ledger.claim(third, ["t2"])

    def test_an_attempt_that_fails_or_is_given_back_has_no_claims_any_more(self, state: StateUnderTest) -> None:
        failing, waiting, other = (state.begin(name) for name in "abc")
        assert state.ledger.claim(failing, ["t1"])
        assert state.ledger.claim(waiting, ["t2"])
        assert state.ledger.finish(failing, failed="bad: it is").committed
        assert len(state.ledger.give_back([waiting])) == 1
        assert state.ledger.claim(other, ["t1", "t2"])

    def test_a_claim_ends_with_the_lease_of_its_attempt(self, state: StateUnderTest) -> None:
        assert state.ledger.claim(state.begin("a"), ["t1"])
        state.shift_clock(LEASE_SECONDS - 1)
        other = state.begin("b")
        assert not state.ledger.claim(other, ["t1"])
        state.shift_clock(1)
        assert state.ledger.claim(other, ["t1"])

    def test_the_next_attempt_on_a_document_does_not_end_the_claims_that_others_took_over_from_it(self, state: StateUnderTest) -> None:
        assert state.ledger.claim(state.begin("a"), ["t1"])
        state.shift_clock(LEASE_SECONDS)
        other = state.begin("b")
        assert state.ledger.claim(other, ["t1"])
        (message,) = state.ledger.resend_expired(1)
        again = state.ledger.begin(message, LEASE_SECONDS)
        assert again is not None
        assert not state.ledger.claim(again, ["t1"])
        assert state.ledger.finish(again).committed
        assert not state.ledger.claim(state.begin("c"), ["t1"])

    def test_an_attempt_without_its_lease_claims_nothing(self, state: StateUnderTest) -> None:
        attempt = state.begin("a")
        state.shift_clock(LEASE_SECONDS)
        with pytest.raises(Superseded):
            state.ledger.claim(attempt, ["t1"])
        assert state.ledger.claim(state.begin("b"), ["t1"])

    def test_claims_of_an_older_epoch_are_void(self, state: StateUnderTest) -> None:
        earlier = state.begin("a")
        assert state.ledger.claim(earlier, ["t1"])
        state.registry.raise_epoch(0)
        with pytest.raises(Superseded):
            state.ledger.claim(earlier, ["t2"])
        assert state.ledger.claim(state.begin("b"), ["t1", "t2"])

    def test_documents_of_any_name_and_lane_claim(self, state: StateUnderTest) -> None:
        first, second = state.begin("a,b|c;d", Lane.LIVE), state.begin("e\té", Lane.BULK)
        assert state.ledger.claim(first, ["t1"])
        assert not state.ledger.claim(second, ["t1"])

    def test_what_is_kept_of_paid_vectors_is_taken_once(self, state: StateUnderTest) -> None:
        many = {f"t{number}": [float(number), -0.5, 1e-30] for number in range(300)}
        state.ledger.keep_vectors(many)
        state.ledger.keep_vectors({"t7": [7.25, 0.0]})
        taken = state.ledger.take_vectors([*(f"t{number}" for number in range(299)), "unknown"])
        assert list(taken) == list(many)[:299]
        assert list(taken["t7"]) == [7.25, 0.0]
        assert list(taken["t298"]) == pytest.approx([298.0, -0.5, 1e-30], rel=1e-6)
        assert list(state.ledger.take_vectors(list(many))) == ["t299"]
        assert state.ledger.take_vectors([]) == {}
        state.ledger.keep_vectors({})
