"""What tests of commands have in common."""

from collections.abc import Iterator

import pytest

from support.fake_provider import FakeProvider, fake_provider


@pytest.fixture(scope="module")
def running_provider() -> Iterator[FakeProvider]:
    """One process for all tests of a module."""
    with fake_provider(dimensions=8) as provider:
        yield provider


@pytest.fixture
def provider(running_provider: FakeProvider) -> FakeProvider:
    """A provider that answers everything well, and was asked for nothing yet."""
    running_provider.behave()
    return running_provider
