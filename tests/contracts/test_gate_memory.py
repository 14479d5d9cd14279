"""The gate in memory keeps the gate's contract."""

import pytest

from docmill.adapters.memory.gate import MemoryGate
from docmill.testing.gate_contract import GateContract
from docmill.testing.gate_world import PROBE_LEASE_SECONDS, GateWorld, Jitter, SteppedClock


class TestMemoryGate(GateContract):
    @pytest.fixture
    def world(self) -> GateWorld:
        clock, jitter = SteppedClock(), Jitter()
        gate = MemoryGate(probe_lease_seconds=PROBE_LEASE_SECONDS, clock=clock, jitter=jitter)
        return GateWorld(gate, gate.flush, clock, jitter)
