"""Batchers: those of a process, one for each model, knowledge base and run that has texts waiting."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Final

from docmill.config.providers import Adapter, adapter_for
from docmill.domain.chunks import Vector
from docmill.domain.errors import CallCancelled, TextRefused
from docmill.domain.knowledge_bases import EmbeddingModelSpec
from docmill.indexing.batch_calls import Call
from docmill.indexing.batching import MOST_SENDERS, Batcher
from docmill.indexing.kept_vectors import KeptVectors, leave_on, taken_from
from docmill.ports.ledger import RunLedger
from docmill.ports.models import Caller, EmbeddingModel


def is_remote(spec: EmbeddingModelSpec) -> bool:
    """Whether another machine or process makes the vectors, so that a caller that waits for them costs nothing here."""
    return adapter_for(spec) is not Adapter.LOCAL


#: So many requests are prepared beside those that may be on their way, each of which is followed at once by one of them.
_SENDERS_IN_WAITING: Final = 2
#: How long a batcher is kept after a caller has come: one that was just given a batcher may not wait at it yet.
_KEPT_SECONDS: Final = 60.0


class Asked:
    """The vectors of the texts of one document, of which some are there and a batcher gets the others."""

    def __init__(
        self,
        kept: KeptVectors,
        shelf: RunLedger | None,
        spec: EmbeddingModelSpec,
        texts: Sequence[str],
        found: dict[str, Vector],
        missing: Sequence[int],
    ) -> None:
        """Use ``Batchers.ask``."""
        self.call: Call | None = None
        self._kept = kept
        self._shelf = shelf
        self._spec = spec
        self._texts = texts
        self._found = found
        self._missing = missing

    def vectors(self) -> list[Vector]:
        """Once it is done: the vectors; raises as ``Batcher.embed``."""
        return self._all_with(lambda call: call.vectors())

    def wait(self, check: Callable[[], None]) -> list[Vector]:
        """See ``Call``."""
        return self._all_with(lambda call: call.wait(check))

    def leave(self) -> None:
        """Nobody waits any more; what has come is left for another attempt."""
        if self.call is not None:
            self.call.leave()
        self._leave_what_came()

    @contextmanager
    def leaving_what_came(self) -> Iterator[None]:
        """What an error inside makes useless to this attempt is left for another one."""
        try:
            yield
        except BaseException as error:
            self._leave_what_came()
            if isinstance(error, TextRefused):
                raise TextRefused(str(error), self._missing[error.place]) from error
            raise

    def _leave_what_came(self) -> None:
        leave_on(self._shelf, self._spec, self._found | self._kept.of(self._spec, self._texts))

    def _all_with(self, made_by: Callable[[Call], list[Vector]]) -> list[Vector]:
        if self.call is not None:
            with self.leaving_what_came():
                made = made_by(self.call)
            self._found.update(zip((self._texts[place] for place in self._missing), made, strict=True))
        return [self._found[text] for text in self._texts]


class Batchers:
    """Makes each batcher when it is first needed, and forgets those of earlier runs."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        """Nothing runs before the first text."""
        self._lock = threading.Lock()
        self._monotonic = monotonic
        self._batchers: dict[tuple[EmbeddingModelSpec, Caller], tuple[Batcher, float]] = {}
        self._kept = KeptVectors()
        self._stopped = False

    def embed(
        self,
        model: EmbeddingModel,
        spec: EmbeddingModelSpec,
        caller: Caller,
        texts: Sequence[str],
        check: Callable[[], None],
        shelf: RunLedger | None = None,
    ) -> list[Vector]:
        """The vectors of ``texts`` by ``model``, which ``spec`` describes, for ``caller``; see ``Batcher.embed``.

        What an earlier attempt was given, but has not stored, is not asked for again.

        Args:
            shelf: where an attempt in another process finds what this one cannot use; None is for a process that has no others.
        """
        return self.ask(model, spec, caller, texts, shelf).wait(check)

    def ask(
        self,
        model: EmbeddingModel,
        spec: EmbeddingModelSpec,
        caller: Caller,
        texts: Sequence[str],
        shelf: RunLedger | None = None,
        when_done: Callable[[], None] | None = None,
    ) -> "Asked":
        """``embed`` for one who does not wait, or waits by what is returned; ``when_done`` as in ``Batcher.ask``."""
        kept = self._kept.of(spec, texts)
        missing = [place for place, text in enumerate(texts) if text not in kept]
        asked = Asked(self._kept, shelf, spec, texts, kept, missing)
        if missing:
            with asked.leaving_what_came():
                asked.call = self._batcher(model, spec, caller, shelf).ask([texts[place] for place in missing], when_done)
        elif when_done is not None:
            when_done()
        return asked

    def stop(self) -> None:
        """Ends all waiting, now and later."""
        with self._lock:
            self._stopped = True
        for batcher, _ in self._batchers.values():
            batcher.stop()

    def join(self, timeout_seconds: float) -> bool:
        """After ``stop``: whether every thread has ended, within ``timeout_seconds``; they end with their calls of the models."""
        ends_at = time.monotonic() + timeout_seconds
        ended = [batcher.join(max(0.0, ends_at - time.monotonic())) for batcher, _ in self._batchers.values()]
        return all(ended)

    def _batcher(self, model: EmbeddingModel, spec: EmbeddingModelSpec, caller: Caller, shelf: RunLedger | None) -> Batcher:
        with self._lock:
            if self._stopped:
                raise CallCancelled(f"{spec.name} was not called: docmill is stopping")
            now = self._monotonic()
            known = self._batchers.get((spec, caller))
            if known is None:
                self._forget_unused(now)
                senders = MOST_SENDERS if spec.max_concurrency is None else spec.max_concurrency + _SENDERS_IN_WAITING
                batcher = Batcher(
                    model.on_behalf_of(caller),
                    most_texts=spec.batch_size,
                    most_senders=senders,
                    keep=partial(self._kept.keep, spec),
                    take_kept=partial(taken_from, shelf, spec),
                )
            else:
                batcher, _ = known
            self._batchers[spec, caller] = batcher, now
            return batcher

    def _forget_unused(self, now: float) -> None:
        self._batchers = {
            key: (batcher, used) for key, (batcher, used) in self._batchers.items() if now - used < _KEPT_SECONDS or not batcher.idle
        }
