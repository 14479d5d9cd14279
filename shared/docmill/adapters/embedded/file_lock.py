"""An exclusive lock on a file that ends with the process that took it, whatever ends that process."""

import contextlib
import fcntl
import os
import time
from pathlib import Path
from typing import Final

_POLL_SECONDS: Final = 0.01
_held: set[int] = set()


class FileLock:
    """One ``flock``: at most one holder on this machine.

    A program that the holder starts does not get it, unless its descriptor is passed on purpose; a forked copy of the holder lets go of it.
    """

    def __init__(self, path: Path) -> None:
        """``path`` is the lock's file; it is made when it is not there."""
        self._path = path
        self._descriptor: int | None = None
        self._holder_pid = 0

    @property
    def held(self) -> bool:
        """Whether this process holds the lock; a forked copy of the holder does not."""
        return self._descriptor is not None and self._holder_pid == os.getpid()

    @property
    def descriptor(self) -> int:
        """The open file that carries the lock; a process that inherits it holds the lock too.

        Raises:
            ValueError: the lock is not held.
        """
        if self._descriptor is None or not self.held:
            raise ValueError(f"the lock {self._path} is not held")
        return self._descriptor

    def acquire(self, timeout_seconds: float = 0.0) -> bool:
        """Takes the lock; False when another holder kept it all the time.

        Raises:
            OSError: the file cannot be opened.
        """
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        deadline = time.monotonic() + timeout_seconds
        try:
            while not _try_lock(descriptor, fcntl.LOCK_EX):
                if time.monotonic() >= deadline:
                    os.close(descriptor)
                    return False
                time.sleep(_POLL_SECONDS)
        except BaseException:
            os.close(descriptor)
            raise
        self._descriptor, self._holder_pid = descriptor, os.getpid()
        _held.add(descriptor)
        return True

    def release(self) -> None:
        """Lets go; nothing happens when the lock is not held. A process that inherited the descriptor keeps the lock."""
        if self._descriptor is not None and self.held:
            _held.discard(self._descriptor)
            os.close(self._descriptor)
        self._descriptor = None


def is_locked(path: Path) -> bool:
    """Whether somebody holds the lock now.

    Looking takes a shared lock for an instant, so a holder-to-be should be a little patient.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        return not _try_lock(descriptor, fcntl.LOCK_SH)
    finally:
        os.close(descriptor)


def _try_lock(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _let_go_in_forked_child() -> None:
    for descriptor in _held:
        with contextlib.suppress(OSError):
            os.close(descriptor)
    _held.clear()


os.register_at_fork(after_in_child=_let_go_in_forked_child)
