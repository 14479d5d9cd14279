"""Batching: fills a provider's requests with the texts of many documents, each of which waits in a thread of its own."""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import Final

from docmill.domain.chunks import Vector
from docmill.domain.errors import CallCancelled, ProviderError, ProviderPermanent, TextRefused
from docmill.indexing.batch_calls import Call, Text
from docmill.indexing.request_pace import RequestPace
from docmill.ports.models import EmbeddingModel

#: How long the first text of a request waits for company while nothing else is on its way.
LINGER_SECONDS: Final = 0.005
#: Requests that are prepared at once where no number is configured; how many of them are on their way is the gate's matter.
MOST_SENDERS: Final = 32
_MOST_CHARACTERS: Final = 400_000
_IDLE_SECONDS: Final = 5.0


class Batcher:
    """The requests of one knowledge base and one run to one model, from any number of threads.

    A request goes out when it is full, or when its first text has waited a little while fewer senders are busy than there may be. The
    more requests are on their way, the longer it may wait: by the time that one of them takes, divided by their number, one returns anyway.
    """

    def __init__(
        self,
        model: EmbeddingModel,
        *,
        most_texts: int,
        most_senders: int = MOST_SENDERS,
        most_characters: int = _MOST_CHARACTERS,
        linger_seconds: float = LINGER_SECONDS,
        keep: Callable[[str, Vector], None] = lambda text, vector: None,
        take_kept: Callable[[Sequence[str]], Mapping[str, Vector]] = lambda texts: {},
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """No thread runs before the first text comes, and none stays long after the last one.

        Args:
            model: makes the vectors; is called by several threads at once.
            most_texts: in one call of it.
            most_senders: calls of it at once; a further one begins only when a full request waits.
            most_characters: in one call of it, unless one text has more.
            linger_seconds: how long the first text waits for company while nothing is on its way.
            keep: is given each text with its vector as soon as that is there, whether or not anybody waits for it still.
            take_kept: the vectors that are kept elsewhere of the texts of a request; those are not asked for.
            monotonic: the time in seconds.
        """
        self._model = model
        self._most_texts = most_texts
        self._most_senders = most_senders
        self._most_characters = most_characters
        self._pace = RequestPace(linger_seconds)
        self._keep = keep
        self._take_kept = take_kept
        self._monotonic = monotonic
        self._changed = threading.Condition()
        self._waiting: dict[str, Text] = {}
        self._characters = 0
        self._sent: dict[str, Text] = {}
        self._senders: set[threading.Thread] = set()
        self._idle = 0
        self._numbers = count(1)
        self._stopped = False

    @property
    def idle(self) -> bool:
        """Whether nobody waits for anything."""
        with self._changed:
            return not self._waiting and not self._sent

    def embed(self, texts: Sequence[str], check: Callable[[], None] = lambda: None) -> list[Vector]:
        """The vectors of ``texts``, in their order; blocks until they are there.

        A text that another caller waits for is not asked for again. Texts that nobody waits for any more are not sent. Where one of them
        fails, those that are on their way are waited for, so that they are kept.

        Args:
            texts: of one document.
            check: called once a second; what it raises ends the waiting, of this caller alone.

        Raises:
            TextRefused: the model does not take one of ``texts``.
            CallCancelled: ``stop`` was called.
            ProviderError: what a request came to that had one of ``texts``.
        """
        return self.ask(texts).wait(check) if texts else []

    def ask(self, texts: Sequence[str], when_done: Callable[[], None] | None = None) -> Call:
        """``embed`` for one who does not wait, or waits by what is returned.

        Args:
            texts: of one document; at least one.
            when_done: called once, by any thread, with a lock of the batcher held: it only tells somebody.

        Raises:
            CallCancelled: ``stop`` was called.
        """
        call = Call(self.leave, texts, when_done)
        try:
            with self._changed:
                if self._stopped:
                    raise CallCancelled(f"{self._model.name} was not called: docmill is stopping")
                is_first = not self._waiting
                for text in dict.fromkeys(texts):
                    self._ask(text, call)
                call.left = len(call.asked)
                if is_first or not self._senders or self._is_full():  # otherwise a sender lingers already, or all are busy
                    self._wake_or_add_sender()
        except BaseException:
            self.leave(call)
            raise
        return call

    def leave(self, call: Call) -> None:
        """See ``Call.leave``."""
        with self._changed:
            for text in call.asked:
                if call in text.calls:
                    self._withdraw(call, text)

    def stop(self) -> None:
        """Ends all waiting with ``CallCancelled``, now and later; the threads end with the call of the model in which they are."""
        with self._changed:
            self._stopped = True
            error = CallCancelled(f"{self._model.name} was left: docmill is stopping")
            calls = {id(call): call for text in [*self._waiting.values(), *self._sent.values()] for call in text.calls}
            self._waiting.clear()
            self._sent.clear()
            self._changed.notify_all()
            for call in calls.values():
                call.error = error
                call.note(call.left)

    def join(self, timeout_seconds: float) -> bool:
        """After ``stop``: whether every thread has ended, within ``timeout_seconds``."""
        ends_at = time.monotonic() + timeout_seconds
        with self._changed:
            senders = list(self._senders)
        for sender in senders:
            sender.join(max(0.0, ends_at - time.monotonic()))
        return not any(sender.is_alive() for sender in senders)

    # Callers ----------------------------------------------------------------------------------------------------------------------------

    def _ask(self, text: str, call: Call) -> None:
        known = self._sent.get(text) or self._waiting.get(text)
        if known is None:
            known = self._waiting[text] = Text(text, self._monotonic())
            self._characters += len(text)
        known.calls.append(call)
        call.asked.append(known)

    def _withdraw(self, call: Call, text: Text) -> None:
        text.calls.remove(call)
        if not text.calls and self._waits(text):
            del self._waiting[text.text]
            self._characters -= len(text.text)

    def _waits(self, text: Text) -> bool:
        return self._waiting.get(text.text) is text

    def _wake_or_add_sender(self) -> None:
        if self._idle:
            self._changed.notify()
        elif not self._senders or (self._is_full() and self._may_grow()):
            sender = threading.Thread(target=self._send_until_idle, name=f"docmill-embed-{next(self._numbers)}", daemon=True)
            try:
                sender.start()
            except RuntimeError:  # the system gives no more threads: those that are there go on with it
                if not self._senders:
                    raise
            else:
                self._senders.add(sender)

    def _may_grow(self) -> bool:
        return len(self._senders) < self._most_senders and self._pace.bears_another(len(self._senders))

    def _is_full(self) -> bool:
        return len(self._waiting) >= self._most_texts or self._characters >= self._most_characters

    # Senders ----------------------------------------------------------------------------------------------------------------------------

    def _send_until_idle(self) -> None:
        while (batch := self._take()) is not None:
            started = self._monotonic()
            self._send(batch)
            took = self._monotonic() - started
            with self._changed:
                self._pace.note(took, is_full=len(batch) == self._most_texts)

    def _take(self) -> list[Text] | None:
        """The texts of the next request, when it is time for it; None when this thread is not needed any more."""
        with self._changed:
            self._idle += 1
            try:
                while not self._stopped and not self._is_due():
                    if self._waiting:
                        self._changed.wait(self._linger_left())
                    elif not self._changed.wait(_IDLE_SECONDS) and not self._waiting:
                        break
            finally:
                self._idle -= 1
            if self._stopped or not self._waiting:
                self._senders.discard(threading.current_thread())
                return None
            batch = self._first_texts()
            if self._waiting:
                self._wake_or_add_sender()
            return batch

    def _is_due(self) -> bool:
        return bool(self._waiting) and (self._is_full() or self._linger_left() <= 0)

    def _linger_left(self) -> float:
        first = next(iter(self._waiting.values()))
        return first.since + self._pace.linger_seconds(len(self._senders) - self._idle) - self._monotonic()

    def _first_texts(self) -> list[Text]:
        batch: list[Text] = []
        characters = 0
        for text in self._waiting.values():
            characters += len(text.text)
            if len(batch) == self._most_texts or (batch and characters > self._most_characters):
                break
            batch.append(text)
        for text in batch:
            del self._waiting[text.text]
            self._characters -= len(text.text)
            self._sent[text.text] = text
        return batch

    def _send(self, batch: list[Text]) -> None:
        """Gets the vectors of a request's texts; one that is refused fails alone, and the others are asked for without it."""
        left = batch
        is_new = True
        while left:
            try:
                left = self._without_kept(left) if is_new else self._send_once(left)
                is_new = False
            except Exception as error:  # noqa: BLE001  # each document ends with it in its own thread
                made = error.made if isinstance(error, ProviderError) else ()
                self._deliver(left[: len(made)], made)
                self._refuse(left[len(made) :], error)
                left = []

    def _without_kept(self, texts: list[Text]) -> list[Text]:
        kept = self._take_kept([text.text for text in texts])
        if not kept:
            return texts
        found = [text for text in texts if text.text in kept]
        self._deliver(found, [kept[text.text] for text in found])
        return [text for text in texts if text.text not in kept]

    def _send_once(self, texts: list[Text]) -> list[Text]:
        """One call of the model; returns the texts that it did not come to, since it refused another one."""
        try:
            vectors = self._model.embed_passages([text.text for text in texts])
        except TextRefused as refused:
            made = refused.made[: refused.place]
            self._refuse([texts[refused.place]], refused)
            self._deliver(texts[: len(made)], made)
            return [*texts[len(made) : refused.place], *texts[refused.place + 1 :]]
        if len(vectors) != len(texts):
            raise ProviderPermanent(f"{self._model.name} returned {len(vectors)} vectors for {len(texts)} texts")
        self._deliver(texts, vectors)
        return []

    def _deliver(self, texts: Sequence[Text], vectors: Sequence[Vector]) -> None:
        for text, vector in zip(texts, vectors, strict=True):
            self._keep(text.text, vector)
        with self._changed:
            for text, vector in zip(texts, vectors, strict=True):
                if not self._has_arrived(text):
                    continue
                text.vector = vector
                for call in text.calls:
                    call.note(1)

    def _refuse(self, texts: Sequence[Text], error: Exception) -> None:
        with self._changed:
            for text in texts:
                if self._has_arrived(text):
                    self._fail(text, error)

    def _has_arrived(self, text: Text) -> bool:
        """Takes ``text`` from what is on its way; False where it is there no more: all waiting was ended, or it has arrived before."""
        if self._sent.get(text.text) is not text:
            return False
        del self._sent[text.text]
        return True

    def _fail(self, text: Text, error: Exception) -> None:
        for call in text.calls:
            if call.error is None:
                call.error, call.failed = error, text.text
            unsent = [other for other in call.asked if self._waits(other) and call in other.calls]
            for other in unsent:
                self._withdraw(call, other)
            call.note(1 + len(unsent))
