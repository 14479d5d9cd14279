"""The memory twin keeps the contract of registry, leases and ledger."""

import pytest

from docmill.adapters.memory.state import MemoryState
from docmill.domain.registry import DocumentState
from docmill.testing.registry_contract import RegistryContract, StateUnderTest
from docmill.testing.state_under_test import SERVED


class TestMemoryState(RegistryContract):
    @pytest.fixture
    def fresh_state(self) -> StateUnderTest:
        now = [1_800_000_000.0]

        def shift_clock(seconds: float) -> None:
            now[0] += seconds

        state = MemoryState("handbook", lambda: now[0])
        return StateUnderTest(state.registry, state.leases, state.ledger, shift_clock, state.replace_server)


def test_a_state_is_set_back_to_a_snapshot_whatever_happened_since() -> None:
    memory = MemoryState("handbook", lambda: 1_800_000_000.0)
    state = StateUnderTest(memory.registry, memory.leases, memory.ledger, lambda _: None, memory.replace_server)
    state.registry.raise_epoch(1)
    state.registry.serve(SERVED)
    state.commit_new("a.md", "f1")
    attempt = state.begin("b.md")
    saved = memory.snapshot()
    state.commit(attempt)
    state.remove("a.md")
    state.ledger.start_run()
    memory.restore(saved)
    assert state.entry("a.md").state is DocumentState.LIVE
    assert not state.has_entry("b.md")
    assert state.ledger.current_run() is None
    assert state.commit(attempt).committed
    memory.restore(saved)
    assert not state.has_entry("b.md")
