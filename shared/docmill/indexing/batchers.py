"""Batchers: those of a process, one for each model, knowledge base and run that has texts waiting."""

import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from docmill.config.providers import Adapter, adapter_for
from docmill.domain.chunks import Vector
from docmill.domain.errors import CallCancelled, TextRefused
from docmill.domain.knowledge_bases import EmbeddingModelSpec
from docmill.indexing.batching import MOST_SENDERS, Batcher
from docmill.indexing.kept_vectors import KeptVectors, leave_on, taken_from
from docmill.ports.ledger import RunLedger
from docmill.ports.models import Caller, EmbeddingModel


def is_remote(spec: EmbeddingModelSpec) -> bool:
    """Whether another machine or process makes the vectors, so that a caller that waits for them costs nothing here."""
    return adapter_for(spec) is not Adapter.LOCAL


#: How long a batcher is kept after a caller has come: one that was just given a batcher may not wait at it yet.
_KEPT_SECONDS: Final = 60.0


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
        kept = taken_from(shelf, spec, texts) | self._kept.of(spec, texts)
        missing = [place for place, text in enumerate(texts) if text not in kept]
        if missing:
            try:
                made = self._batcher(model, spec, caller).embed([texts[place] for place in missing], check)
            except BaseException as error:
                leave_on(shelf, spec, kept | self._kept.of(spec, texts))
                if isinstance(error, TextRefused):
                    raise TextRefused(str(error), missing[error.place]) from error
                raise
            kept.update(zip((texts[place] for place in missing), made, strict=True))
        return [kept[text] for text in texts]

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

    def _batcher(self, model: EmbeddingModel, spec: EmbeddingModelSpec, caller: Caller) -> Batcher:
        with self._lock:
            if self._stopped:
                raise CallCancelled(f"{spec.name} was not called: docmill is stopping")
            now = self._monotonic()
            known = self._batchers.get((spec, caller))
            if known is None:
                self._forget_unused(now)
                senders = spec.max_concurrency or MOST_SENDERS
                batcher = Batcher(
                    model.on_behalf_of(caller), most_texts=spec.batch_size, most_senders=senders, keep=partial(self._kept.keep, spec)
                )
            else:
                batcher, _ = known
            self._batchers[spec, caller] = batcher, now
            return batcher

    def _forget_unused(self, now: float) -> None:
        self._batchers = {
            key: (batcher, used) for key, (batcher, used) in self._batchers.items() if now - used < _KEPT_SECONDS or not batcher.idle
        }
