"""Batch calls: what the callers of a batcher have asked for, and the texts that they wait for."""

import copy
import threading
from collections.abc import Callable, Sequence
from typing import Final

from docmill.domain.chunks import Vector
from docmill.domain.errors import TextRefused

_LOOK_SECONDS: Final = 1.0


class Call:
    """What one caller has asked a batcher for; done once all vectors are there, or, where a text has failed, once none is on its way."""

    def __init__(self, leave: "Callable[[Call], None]", texts: Sequence[str], when_done: Callable[[], None] | None) -> None:
        """Use ``Batcher.ask``."""
        self.error: Exception | None = None
        self.failed: str | None = None
        self.asked: list[Text] = []
        self.left = 0
        self._leave = leave
        self._texts = texts
        self._done = threading.Event() if when_done is None else None
        self._when_done = when_done or self._done.set  # type: ignore[union-attr]  # one of the two is there

    def vectors(self) -> list[Vector]:
        """Once it is done: the vectors of the texts, in their order; raises as ``Batcher.embed``."""
        if self.error is not None:
            raise self._own_error() from self.error
        vectors = {text.text: text.vector for text in self.asked}
        return [vectors[text] for text in self._texts]

    def wait(self, check: Callable[[], None]) -> list[Vector]:
        """``vectors``, once it is done, for one that was asked without ``when_done``; ``check`` as in ``Batcher.embed``."""
        assert self._done is not None
        try:
            while not self._done.wait(_LOOK_SECONDS):
                check()
        except BaseException:
            self.leave()
            raise
        return self.vectors()

    def leave(self) -> None:
        """Nobody waits for it any more; it is not done then, whatever comes."""
        self._leave(self)

    def note(self, count: int) -> None:
        """So many of its texts have come, or will not come any more."""
        self.left -= count
        if not self.left:
            self._when_done()

    def _own_error(self) -> Exception:
        """An error of its own for each caller: several threads raise it."""
        if isinstance(self.error, TextRefused) and self.failed is not None:
            return TextRefused(str(self.error), self._texts.index(self.failed))
        assert self.error is not None
        return copy.copy(self.error)


class Text:
    """One text that somebody waits for."""

    __slots__ = ("calls", "since", "text", "vector")

    def __init__(self, text: str, since: float) -> None:
        self.text = text
        self.since = since
        self.calls: list[Call] = []
        self.vector: Vector = ()
