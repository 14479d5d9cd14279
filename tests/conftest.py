"""What every test leaves as it was."""

from collections.abc import Iterator

import pytest
import structlog
from hypothesis import settings

# How long an example takes says more of the machine than of the code.
settings.register_profile("untimed", settings.default, deadline=None)
settings.load_profile("untimed")


@pytest.fixture(autouse=True)
def logs_as_they_were() -> Iterator[None]:
    """A command that a test runs in this process sends its logs to that test's standard error, which ends with it."""
    yield
    structlog.reset_defaults()
