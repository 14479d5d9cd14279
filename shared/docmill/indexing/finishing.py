"""Finishing: documents whose texts a provider has in hand wait without a thread, and one thread finishes all of them."""

import threading
import time
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Final

import structlog

from docmill.domain.errors import StoreDown
from docmill.indexing.turns import MOST_WAITING_CHARACTERS

_log = structlog.get_logger(__name__)
#: Documents that may wait at once.
MOST_WAITING: Final = 1024
_LOOK_SECONDS: Final = 1.0

Step = Callable[[], None]


class Finishing:
    """What is left to do for documents that wait, each of which is known by its last step alone."""

    def __init__(
        self, *, most_waiting: int = MOST_WAITING, most_characters: int = MOST_WAITING_CHARACTERS, look_seconds: float = _LOOK_SECONDS
    ) -> None:
        """The thread starts with ``start``.

        Args:
            most_waiting: documents that wait at once; ``defer`` blocks beyond.
            most_characters: that they hold together, unless one has more.
            look_seconds: how often to look whether the waiting of a document is over before anything has come.
        """
        self._most_waiting = most_waiting
        self._most_characters = most_characters
        self._look_seconds = look_seconds
        self._changed = threading.Condition()
        self._waiting: set[_Waiting] = set()
        self._characters = 0
        self._stopped = False
        self._ready: SimpleQueue[_Waiting | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._finish_until_stopped, name="docmill-finisher", daemon=True)

    def start(self) -> None:
        """Starts the thread."""
        self._thread.start()

    @property
    def alive(self) -> bool:
        """Whether the thread runs."""
        return self._thread.is_alive()

    def defer(self, characters: int, ask: Callable[[Step], Step | None], is_over: Callable[[], bool] = lambda: False) -> bool:
        """Lets a document wait that holds so many characters, once there is room for it.

        Args:
            characters: of its texts.
            ask: asks for what the document waits for. It is given what is to be called when that is there, by any thread; it returns the
                step that is done then, or None where it has asked for nothing. What it raises is raised.
            is_over: whether the step is to be done whatever has come.

        Returns:
            Whether the step will be done, which it is once.
        """
        waiting = _Waiting(characters, is_over, self._ready)
        self._take_room(waiting)
        is_deferred = False
        try:
            step = ask(waiting.note_arrival)
            if step is not None:
                is_deferred = True
                waiting.begin(step)
        finally:
            if not is_deferred:
                self._give_room(waiting)
        return is_deferred

    def stop(self, timeout_seconds: float) -> bool:
        """Does the steps whose time has come, then ends; False when that took longer than ``timeout_seconds``.

        From now on nobody waits for room: whatever is asked for is refused, or is not finished here any more.
        """
        with self._changed:
            self._stopped = True
            self._changed.notify_all()
        self._ready.put(None)
        self._thread.join(timeout_seconds)
        return not self._thread.is_alive()

    def _take_room(self, waiting: "_Waiting") -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._stopped or not self._waiting or self._has_room(waiting.characters))
            self._waiting.add(waiting)
            self._characters += waiting.characters

    def _has_room(self, characters: int) -> bool:
        return len(self._waiting) < self._most_waiting and self._characters + characters <= self._most_characters

    def _give_room(self, waiting: "_Waiting") -> None:
        with self._changed:
            self._waiting.remove(waiting)
            self._characters -= waiting.characters
            self._changed.notify_all()

    def _finish_until_stopped(self) -> None:
        looks_at = time.monotonic() + self._look_seconds
        while True:
            try:
                ready = self._ready.get(timeout=max(0.0, looks_at - time.monotonic()))
            except Empty:
                continue
            finally:
                if time.monotonic() >= looks_at:
                    self._look()
                    looks_at = time.monotonic() + self._look_seconds
            if ready is None:
                return
            self._finish(ready)

    def _look(self) -> None:
        with self._changed:
            waiting = list(self._waiting)
        for one in waiting:
            if one.is_over():
                one.note_arrival()

    def _finish(self, ready: "_Waiting") -> None:
        try:
            ready.step()
        except StoreDown as error:
            _log.warning("document_postponed", error=str(error), then="the ledger sends it again")
        except Exception:  # noqa: BLE001  # the thread serves every document of the process: it outlives a defect
            _log.exception("document_not_finished")
        finally:
            self._give_room(ready)


class _Waiting:
    """A document that waits: it is ready once it has a step and what the step needs has arrived, whichever comes first."""

    def __init__(self, characters: int, is_over: Callable[[], bool], ready: "SimpleQueue[_Waiting | None]") -> None:
        self.characters = characters
        self.is_over = is_over
        self.step: Step = _nothing
        self._ready = ready
        self._lacks = {"step", "arrival"}
        self._lock = threading.Lock()

    def note_arrival(self) -> None:
        """What the step needs is there; of effect once."""
        self._has("arrival")

    def begin(self, step: Step) -> None:
        """There is a step."""
        self.step = step
        self._has("step")

    def _has(self, what: str) -> None:
        with self._lock:
            is_ready = self._lacks == {what}
            self._lacks.discard(what)
        if is_ready:
            self._ready.put(self)


def _nothing() -> None:
    """The step of a document that has none yet."""
