"""Activities: pieces of work that stop before each call of a port, so that a test decides what happens in between.

One that may be paused runs in a thread of its own, but never more than one thread runs: control is handed over and handed back.
"""

import threading
from collections.abc import Callable
from enum import StrEnum
from typing import Any, Final

from docmill.domain.errors import DocmillError
from docmill.domain.registry import Attempt, TaskMessage

#: Where to stop: nowhere.
TO_THE_END: Final = "to the end"
#: Where to stop: before the next call, whatever it is.
NEXT_CALL: Final = "next call"


class Killed(BaseException):
    """The process of an activity is gone; nothing of ours may catch it."""


class Fault(StrEnum):
    """What may befall one call of a port."""

    REFUSED = "refused"  # it raises and has no effect
    UNANSWERED = "unanswered"  # it has its effect, then raises
    LATE = "late"  # it raises; a write takes effect at some later time


class Activity:
    """Work that was begun and may be paused, resumed or killed.

    Attributes:
        name: for people.
        waits: whether it pauses by itself.
        worker: the number of the worker process that does it; None for work of other processes.
        started_at: on the machine's clock.
        renewed_at: when its leases were renewed last.
        message: what it was begun for, when it is an attempt.
        attempts: what it holds leases of: the attempt that it made, or those that it commits.
        waiting_for: the call before which it stands.
        error: what ended it, if an expected error did.
        result: of the work.
    """

    def __init__(
        self, switch: "Switch", name: str, work: Callable[[], object], *, worker: int | None, started_at: float, waits: bool
    ) -> None:
        self.name = name
        self.worker = worker
        self.started_at = self.renewed_at = started_at
        self.message: TaskMessage | None = None
        self.attempts: list[Attempt] = []
        self.waiting_for = ""
        self.error: DocmillError | None = None
        self.result: object = None
        self._switch = switch
        self._work = work
        self._stop = TO_THE_END
        self._fault: Fault | None = None
        self._killed = self._ended = False
        self._waits = waits
        self._defect: BaseException | None = None
        self._go, self._back = threading.Lock(), threading.Lock()
        self._go.acquire()
        self._back.acquire()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    @property
    def ended(self) -> bool:
        return self._ended or self._killed or (self._thread.ident is not None and not self._thread.is_alive())

    def advance(self, stop: str = TO_THE_END, fault: Fault | None = None) -> None:
        """Carries out the call before which it stands, with ``fault``, and goes on until it comes to a call of the name ``stop``.

        Raises what went wrong in the work, other than errors that callers of that work expect.
        """
        self._stop, self._fault = stop, fault
        if stop == TO_THE_END and self._thread.ident is None and not self._waits:
            self._ended = True
            self._run_here()
        else:
            self._hand_over()

    def _run_here(self) -> None:
        self._switch.running = self
        try:
            self.result = self._work()
        except DocmillError as error:
            self.error = error
        finally:
            self._switch.running = None

    def kill(self) -> None:
        """Ends it where it stands, as if its process had been killed."""
        suspended = self._thread.ident is not None and not self.ended
        self._killed = True
        if suspended:
            self._hand_over()

    def pause(self, call: str) -> Fault | None:
        """Called by ports before each call; returns what shall befall it."""
        if self._stop in (call, NEXT_CALL) and not self._killed:
            self.waiting_for = call
            self._back.release()
            self._go.acquire()
            self.waiting_for = ""
        if self._killed:
            raise Killed
        fault, self._fault = self._fault, None
        return fault

    def stop_here(self) -> None:
        """Lets the next call pause."""
        self._stop = NEXT_CALL

    def _hand_over(self) -> None:
        assert self._switch.running is None
        self._switch.running = self
        if self._thread.ident is None:
            self._thread.start()
        else:
            self._go.release()
        self._back.acquire()
        self._switch.running = None
        if self.waiting_for:
            return
        self._thread.join()
        if self._defect is not None:
            raise self._defect

    def _run(self) -> None:
        try:
            self.result = self._work()
        except Killed:
            pass
        except DocmillError as error:
            self.error = error
        except BaseException as error:  # noqa: BLE001  # raised again by the thread that advanced this one
            self._defect = error
        finally:
            self._back.release()


class Switch:
    """Knows which activity runs; None while the machine itself does."""

    def __init__(self) -> None:
        self.running: Activity | None = None

    def before(self, call: str) -> Fault | None:
        """A place where the running activity may be paused; what shall befall the call that follows."""
        return self.running.pause(call) if self.running is not None else None


class Port:
    """Puts a pausing place before each call of a port."""

    def __init__(self, switch: Switch, name: str, inner: object, error: Callable[[str], DocmillError]) -> None:
        """``error`` makes what a call raises that fails."""
        self._switch = switch
        self._name = name
        self._inner: Any = inner
        self._error = error

    def __getattr__(self, method: str) -> Any:
        inner = getattr(self._inner, method)
        if not callable(inner):
            return inner

        def call(*arguments: object, **named: object) -> object:
            return self._call(method, lambda: inner(*arguments, **named))

        return call

    def _call(self, method: str, effect: Callable[[], Any]) -> Any:
        fault = self._switch.before(f"{self._name}.{method}")
        if fault in (Fault.REFUSED, Fault.LATE):
            raise self._error(f"{self._name} refused {method}")
        result = effect()
        if fault is Fault.UNANSWERED:
            raise self._error(f"{self._name} did not answer {method}")
        return result


class Pausing(threading.Event):
    """An event that is never set and at whose ``wait`` an activity stops until it is resumed."""

    def __init__(self, switch: Switch) -> None:
        super().__init__()
        self._switch = switch

    def wait(self, timeout: float | None = None) -> bool:
        if self._switch.running is not None:
            self._switch.running.stop_here()
        self._switch.before("wait")
        return False
