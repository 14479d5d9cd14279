"""Turns: how many documents are worked on at once, among many more that only wait for others."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

#: Characters that documents without a turn may hold together while they wait; beyond, they keep their turns, so that no more come.
MOST_WAITING_CHARACTERS: Final = 64_000_000


class Turns:
    """A bound on the threads of a process that load, cut, look up and write."""

    def __init__(self, number: int, *, most_waiting_characters: int = MOST_WAITING_CHARACTERS) -> None:
        """``number`` documents are worked on at once."""
        self._free = threading.Semaphore(number)
        self._most_waiting_characters = most_waiting_characters
        self._lock = threading.Lock()
        self._waiting_characters = 0

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Waits for a turn, and has it."""
        with self._free:
            yield

    @contextmanager
    def left(self, characters: int = 0) -> Iterator[None]:
        """Inside ``taken``: lets others have the turn, while this document waits with so many characters; has one again at the end."""
        with self._lock:
            is_left = not characters or self._waiting_characters + characters <= self._most_waiting_characters
            self._waiting_characters += characters
        if is_left:
            self._free.release()
        try:
            yield
        finally:
            if is_left:
                self._free.acquire()
            with self._lock:
                self._waiting_characters -= characters
