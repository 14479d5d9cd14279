"""Attempt time: until when one attempt may work on its document, and how it waits for others meanwhile."""

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from docmill.domain.errors import DocumentDeadlineExceeded, Superseded
from docmill.domain.registry import Attempt
from docmill.indexing.leasekeeping import LeaseKeeper
from docmill.indexing.turns import Turns
from docmill.ports.clock import Clock

#: When to look again whether another attempt has stored what it has claimed: twice as late each time, and at the latest.
_FIRST_LOOK_SECONDS: Final = 0.05
_LAST_LOOK_SECONDS: Final = 1.0


class AttemptTime:
    """An attempt's lease, its deadline, which stands still while it waits for others, and the turn that it leaves so long."""

    def __init__(self, attempt: Attempt, keeper: LeaseKeeper, turns: Turns, clock: Clock, deadline_seconds: float) -> None:
        """The deadline runs from now on.

        Args:
            attempt: what the time is given to.
            keeper: of its lease.
            turns: one of which it has taken.
            clock: measures the deadline.
            deadline_seconds: for the document.
        """
        self._attempt = attempt
        self._keeper = keeper
        self._turns = turns
        self._clock = clock
        self._deadline_seconds = deadline_seconds
        self.begin_again()

    def begin_again(self) -> None:
        """The deadline runs from now on."""
        self._ends_at = self._clock.monotonic() + self._deadline_seconds

    def seconds_left(self) -> float:
        """Until the deadline; negative once it is over."""
        return self._ends_at - self._clock.monotonic()

    def require_lease(self) -> None:
        """Raises ``Superseded`` where the lease is lost, or the process is stopping."""
        if self._keeper.is_lost(self._attempt):
            raise Superseded(f"the lease of {self._attempt.document_id} ran out")

    def check(self) -> None:
        """``require_lease``, and raises ``DocumentDeadlineExceeded`` once the deadline is over."""
        self.require_lease()
        if self.seconds_left() < 0:
            raise DocumentDeadlineExceeded(f"{self._attempt.document_id} took longer than {self._deadline_seconds:.0f} s")

    @contextmanager
    def waiting(self, characters: int = 0) -> Iterator[None]:
        """Lets other documents work meanwhile, of which this one holds so many characters; its deadline stands still."""
        go_on = self.stand_still()
        try:
            with self._turns.left(characters):
                yield
        finally:
            go_on()

    def stand_still(self) -> Callable[[], None]:
        """Stops the time until what is returned is called."""
        began = self._clock.monotonic()

        def go_on() -> None:
            self._ends_at += self._clock.monotonic() - began

        return go_on

    def wait_for_claims(self, tries: int) -> None:
        """Until it is worth while to look for the ``tries``-th time what others have stored; raises as ``require_lease``."""
        longest = min(_FIRST_LOOK_SECONDS * 2 ** min(tries, 10), _LAST_LOOK_SECONDS)
        with self.waiting():
            self._keeper.pause(longest * random.uniform(0.5, 1.0))
        self.require_lease()
