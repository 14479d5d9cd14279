"""Contract of the ``Clock`` port; a subclass overrides one fixture."""

# A test's name is its rule.
# ruff: noqa: D102

import pytest

from docmill.ports.clock import Clock


class ClockContract:
    """Every rule of the port, each a test."""

    @pytest.fixture
    def clock(self) -> Clock:
        """The clock under test; a subclass overrides it."""
        raise NotImplementedError

    def test_it_never_goes_back(self, clock: Clock) -> None:
        moments = [clock.monotonic() for _ in range(100)]
        assert moments == sorted(moments)

    def test_a_sleep_lasts_as_long_as_it_was_asked_to(self, clock: Clock) -> None:
        before = clock.monotonic()
        clock.sleep(0.01)
        assert clock.monotonic() - before >= 0.01

    def test_a_sleep_of_no_time_ends(self, clock: Clock) -> None:
        before = clock.monotonic()
        clock.sleep(0.0)
        assert clock.monotonic() >= before
