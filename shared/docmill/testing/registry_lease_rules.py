"""Rules of leases: of documents and of roles."""

# ruff: noqa: D102 - the name of a test is its description

from docmill.testing.state_under_test import LEASE_SECONDS, StateContract, StateUnderTest


class LeaseRules(StateContract):
    """Contract tests; see the module."""

    def test_a_renewed_lease_lasts_from_its_renewal(self, state: StateUnderTest) -> None:
        attempt = state.begin("a.md")
        state.shift_clock(LEASE_SECONDS - 5)
        assert state.leases.renew([attempt], LEASE_SECONDS) == [True]
        state.shift_clock(LEASE_SECONDS - 5)
        assert state.leases.renew([attempt], LEASE_SECONDS) == [True]

    def test_an_expired_lease_is_never_revived(self, state: StateUnderTest) -> None:
        attempt = state.begin("a.md")
        state.shift_clock(LEASE_SECONDS)
        assert state.leases.renew([attempt], LEASE_SECONDS) == [False]
        assert not state.commit(attempt).committed

    def test_a_lease_of_another_attempt_is_not_renewed(self, state: StateUnderTest) -> None:
        first = state.begin("a.md")
        state.shift_clock(LEASE_SECONDS)
        (message,) = state.ledger.resend_expired(9)
        second = state.ledger.begin(message, LEASE_SECONDS)
        assert second is not None
        assert state.leases.renew([first, second], LEASE_SECONDS) == [False, True]
        assert state.leases.renew([], LEASE_SECONDS) == []

    def test_all_leases_can_be_let_run_out_at_once(self, state: StateUnderTest) -> None:
        attempts = [state.begin(name) for name in "ab"]
        state.leases.expire_all()
        assert state.leases.renew(attempts, LEASE_SECONDS) == [False, False]
        assert sorted(message.document_id for message in state.ledger.resend_expired(9)) == ["a", "b"]

    def test_one_holder_at_a_time_has_a_role(self, state: StateUnderTest) -> None:
        assert state.leases.acquire_role("producer", "one", 10) is not None
        assert state.leases.acquire_role("producer", "two", 10) is None
        assert state.leases.acquire_role("sweeper", "two", 10) is not None

    def test_a_role_is_prolonged_under_the_same_token(self, state: StateUnderTest) -> None:
        token = state.leases.acquire_role("producer", "one", 10)
        state.shift_clock(9)
        assert state.leases.acquire_role("producer", "one", 10) == token
        state.shift_clock(9)
        assert state.leases.acquire_role("producer", "two", 10) is None

    def test_a_role_that_ran_out_goes_to_the_next_under_a_higher_token(self, state: StateUnderTest) -> None:
        first = state.leases.acquire_role("producer", "one", 10)
        state.shift_clock(10)
        second = state.leases.acquire_role("producer", "two", 10)
        assert first is not None
        assert second is not None
        assert second > first
        assert state.leases.acquire_role("producer", "one", 10) is None

    def test_a_released_role_is_free_and_its_token_never_comes_again(self, state: StateUnderTest) -> None:
        first = state.leases.acquire_role("producer", "one", 10)
        assert first is not None
        state.leases.release_role("producer", first)
        second = state.leases.acquire_role("producer", "one", 10)
        assert second is not None
        assert second > first

    def test_only_the_token_that_holds_a_role_releases_it(self, state: StateUnderTest) -> None:
        first = state.leases.acquire_role("producer", "one", 10)
        assert first is not None
        state.leases.release_role("producer", first - 1)
        state.leases.release_role("sweeper", first)
        assert state.leases.acquire_role("producer", "two", 10) is None

    def test_everybody_can_see_whether_a_role_is_held(self, state: StateUnderTest) -> None:
        assert not state.leases.is_role_held("producer")
        token = state.leases.acquire_role("producer", "host|1:2\n3", 10)
        assert token is not None
        assert state.leases.is_role_held("producer")
        assert not state.leases.is_role_held("sweeper")
        state.shift_clock(10)
        assert not state.leases.is_role_held("producer")
        again = state.leases.acquire_role("producer", "one", 10)
        assert again is not None
        state.leases.release_role("producer", again)
        assert not state.leases.is_role_held("producer")

    def test_the_name_of_a_holder_may_be_anything(self, state: StateUnderTest) -> None:
        token = state.leases.acquire_role("producer", "host|1:2\n3", 10)
        assert state.leases.acquire_role("producer", "host|1:2\n3", 10) == token
