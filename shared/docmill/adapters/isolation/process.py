"""The parent's side of one child: requests, answers, and how it ended."""

import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable
from typing import Any, Final

from docmill.adapters.isolation.environment import environment_of_children
from docmill.adapters.isolation.wire import CONTAINER_OUT_OF_MEMORY_EXIT, OUT_OF_MEMORY_EXIT, FrameReader, Message, frame
from docmill.domain.errors import DocmillError, DocumentSkipped, SkipReason, error_kinds
from docmill.ports.isolation import Crashed

#: How much address space a child may have: far more than any document of an allowed size needs.
MEMORY_BYTES: Final = 4 << 30
#: How much more of it a file that is taken apart may have than the child has before.
CONTAINER_MEMORY_BYTES: Final = 1 << 30
#: An answer is a document's text in JSON, its chunks, or vectors: all bounded, unless the child is not itself any more.
_MOST_ANSWER_BYTES: Final = 1 << 30
_LOOK_SECONDS: Final = 0.05
_END_SECONDS: Final = 5.0
_PIECE_BYTES: Final = 1 << 16
#: The child's own alarm, for when its parent is no more; it must not come before the parent's.
_ALARM_LATER_SECONDS: Final = 5.0


class Child:
    """A process that answers one request at a time.

    Attributes:
        asked: how many requests it was given.
    """

    def __init__(self, embedding_threads: int) -> None:
        """Starts it; ``OSError`` when that cannot be done."""
        self.asked = 0
        self._reader = FrameReader(_MOST_ANSWER_BYTES)
        # -P: the current folder may be one that is indexed, and its files are not code of ours.
        command = [sys.executable, "-P", "-m", "docmill.adapters.isolation", str(embedding_threads)]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
            env=environment_of_children(os.environ),
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._requests, self._answers = self._process.stdin, self._process.stdout
        os.set_blocking(self._requests.fileno(), False)

    @property
    def alive(self) -> bool:
        """Whether it can be given more to do."""
        return self._process.poll() is None

    def ask(self, request: Message, body: bytes = b"", *, check: Callable[[], None], seconds_left: Callable[[], float]) -> Any:
        """The result of a request.

        Args:
            request: what to ``do``, with what that needs.
            body: bytes that go with it.
            check: as for ``Isolation.alone``.
            seconds_left: as for ``Isolation.alone``.

        Raises:
            Crashed: the child ended, or took too long.
            DocumentSkipped: as in this process.
            DocmillError: the same.
        """
        seconds = max(0.0, seconds_left())
        data = [memoryview(piece) for piece in frame({**request, "seconds": seconds + _ALARM_LATER_SECONDS}, body)]
        self.asked += 1
        try:
            while (found := self._reader.take()) is None:
                check()
                if seconds_left() <= 0:
                    raise Crashed(f"it was not done after {seconds:.0f} s")
                self._exchange(data)
        except ValueError as error:
            raise Crashed(f"it answered with what is no answer ({error})") from error
        except BaseException:
            self.end()
            raise
        answer, _ = found
        return _result_of(answer)

    def end(self) -> None:
        """Ends it, whatever it is doing."""
        self._process.kill()
        self._process.wait()
        self._requests.close()
        self._answers.close()

    def _exchange(self, data: list[memoryview]) -> None:
        """Sends and receives what can be now, or waits a moment; what is sent is taken from ``data``."""
        readable, writable, _ = select.select([self._answers], [self._requests] if data else [], [], _LOOK_SECONDS)
        if readable:
            received = os.read(self._answers.fileno(), _PIECE_BYTES)
            if not received:
                raise Crashed(self._how_it_ended())
            self._reader.feed(received)
        elif writable:
            try:
                data[0] = data[0][os.write(self._requests.fileno(), data[0][:_PIECE_BYTES]) :]
            except BrokenPipeError:
                raise Crashed(self._how_it_ended()) from None
            if not data[0]:
                del data[0]

    def _how_it_ended(self) -> str:
        try:
            code = self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            return "it stopped answering"
        if code == OUT_OF_MEMORY_EXIT:
            return f"it needed more than {MEMORY_BYTES >> 20} MiB of memory"
        if code == CONTAINER_OUT_OF_MEMORY_EXIT:
            return f"it needed more than {CONTAINER_MEMORY_BYTES >> 20} MiB of memory"
        if code < 0:
            return f"it was ended by {_signal_name(-code)}"
        return f"it ended with exit code {code}"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _result_of(answer: Message) -> Any:
    if "skipped" in answer:
        raise DocumentSkipped(SkipReason(answer["skipped"]), answer["message"])
    if "error" in answer:
        raise _class_of(answer["error"])(answer["message"])
    return answer["result"]


def _class_of(code: str) -> type[DocmillError]:
    return next((kind for kind in error_kinds() if kind.code == code and kind is not DocumentSkipped), DocmillError)
