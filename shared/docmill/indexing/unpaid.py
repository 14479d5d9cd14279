"""Unpaid documents: in chunks, with their texts claimed, and nothing asked of a provider yet."""

from collections.abc import Callable
from dataclasses import dataclass

from docmill.domain.errors import Superseded
from docmill.domain.registry import Attempt
from docmill.indexing.batchers import Asked
from docmill.indexing.committing import Prepared
from docmill.indexing.cutting import Cut, Cutter
from docmill.indexing.paid_vectors import Payment


@dataclass(frozen=True, slots=True)
class Unpaid:
    """A document for which providers are asked next; ``prepared`` makes what to commit of it once it has its vectors."""

    attempt: Attempt
    cutter: Cutter
    cut: Cut
    payment: Payment
    prepared: Callable[[], Prepared]

    @property
    def characters(self) -> int:
        """How much text it holds while it waits."""
        return self.cut.waiting_characters

    def ask(self, when_done: Callable[[], None]) -> Callable[[], Prepared] | None:
        """Asks without waiting; returns ``paid`` for when it is done, or None where it cannot be asked for all at once."""
        asked = self.cutter.ask(self.payment, when_done)
        if asked is None:
            return None
        go_on = self.cutter.time.stand_still()

        def paid() -> Prepared:
            go_on()
            try:
                self.cutter.time.require_lease()
            except Superseded:
                asked.leave()
                raise
            return self.paid(asked)

        return paid

    def paid(self, asked: Asked | None = None) -> Prepared:
        """What to commit; raises as ``Cutter.pay``."""
        self.cutter.pay(self.cut, self.payment, asked)
        return self.prepared()
