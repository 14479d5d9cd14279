"""Contract of the ``Registry``, ``Leases`` and ``RunLedger`` ports of one knowledge base.

An adapter passes by one subclass that overrides one fixture::

    class TestMyState(RegistryContract):
        @pytest.fixture
        def fresh_state(self):
            yield StateUnderTest(state.registry, state.leases, state.ledger, shift_clock, replace_server)
"""

from docmill.testing.registry_claim_rules import ClaimRules
from docmill.testing.registry_commit_rules import CommitRules
from docmill.testing.registry_entry_rules import EntryRules
from docmill.testing.registry_epoch_rules import EpochRules
from docmill.testing.registry_garbage_rules import GarbageRules
from docmill.testing.registry_leader_rules import LeaderRules
from docmill.testing.registry_lease_rules import LeaseRules
from docmill.testing.registry_ledger_rules import LedgerRules
from docmill.testing.registry_rebuild_rules import RebuildRules
from docmill.testing.registry_run_rules import RunRules
from docmill.testing.registry_set_back_rules import SetBackRules
from docmill.testing.registry_suspect_rules import SuspectRules
from docmill.testing.state_under_test import StateUnderTest

__all__ = ["RegistryContract", "StateUnderTest"]


class RegistryContract(
    ClaimRules,
    CommitRules,
    EntryRules,
    EpochRules,
    GarbageRules,
    LeaderRules,
    LeaseRules,
    LedgerRules,
    RebuildRules,
    RunRules,
    SetBackRules,
    SuspectRules,
):
    """Every rule of the protocol state, each a test."""
