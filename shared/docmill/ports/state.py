"""State: the three faces of one knowledge base's atomic state, together."""

from dataclasses import dataclass

from docmill.ports.ledger import RunLedger
from docmill.ports.registry import Leases, Registry


@dataclass(frozen=True, slots=True)
class KnowledgeBaseState:
    """Registry, leases and ledger over the same state."""

    registry: Registry
    leases: Leases
    ledger: RunLedger
