"""Parts: what the machine's system is made of, and what its processes and its registry hold."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from docmill.adapters.memory.state_data import StateData
from docmill.adapters.memory.state_ledger import MemoryLeases, MemoryLedger
from docmill.adapters.memory.state_registry import MemoryRegistry
from docmill.adapters.memory.stores import MemoryLexicalStore, MemoryVectorStore
from docmill.indexing.committing import Prepared
from docmill.indexing.leasekeeping import LeaseKeeper
from docmill.indexing.rebuilding import Rebuild
from docmill_services.producer.pump import Pump
from support.protocol_machine_source import FileState

GRACE_SECONDS: Final = 60.0


@dataclass(frozen=True)
class Parts:
    """The defaults are the real parts.

    Attributes:
        query_registry: wraps the registry that queries read.
        anti_entropy: whether stores and registry are ever compared; without, late writes land and attempts end before the grace is over.
        set_back: whether the registry may be set back.
    """

    registry: type[MemoryRegistry] = MemoryRegistry
    leases: type[MemoryLeases] = MemoryLeases
    ledger: type[MemoryLedger] = MemoryLedger
    vectors: type[MemoryVectorStore] = MemoryVectorStore
    lexical: type[MemoryLexicalStore] = MemoryLexicalStore
    sweep_grace_seconds: float = GRACE_SECONDS
    query_registry: Callable[[Any], Any] = lambda registry: registry
    pump: type[Pump] = Pump
    rebuild: type[Rebuild] = Rebuild
    anti_entropy: bool = True
    set_back: bool = True


class UnhurriedKeeper(LeaseKeeper):
    """Renews when it is told to, and pauses for no time: how much passes is decided by the machine."""

    def pause(self, seconds: float) -> None:
        """See ``LeaseKeeper``."""


@dataclass
class Worker:
    """A worker process: what it keeps in its memory, lost when it is killed."""

    number: int
    keeper: LeaseKeeper
    handed_over: list[Prepared] = field(default_factory=list)


@dataclass(frozen=True)
class Saved:
    """What the registry's state may be set back to."""

    data: StateData
    shown: dict[str, FileState]
    at: float
