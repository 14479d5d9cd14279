"""Folder events: what the operating system reports of changes in folders.

Where it watches folder by folder, as Linux does, only the folders that are named are watched: a tree of ignored ones costs nothing, and
none of the watches that a user may have. Elsewhere the system watches a whole tree at once.
"""

# Paths are bytes here, which pathlib does not take.

import os
import re
import sys
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Self

from watchfiles import Change
from watchfiles._rust_notify import RustNotify, WatchfilesRustInternalError

#: Whether the system watches folders one by one.
FOLDER_BY_FOLDER: Final = sys.platform == "linux"
_STEP_MILLISECONDS: Final = 50
_GROUP_MILLISECONDS: Final = 400
_TICK_MILLISECONDS: Final = 500
_SHORTEST_MILLISECONDS: Final = 1
_POLL_MILLISECONDS: Final = 300
_NOT_TEXT: Final = re.compile(r'Unable to decode path "(.*)" to string', re.DOTALL)
_ESCAPE: Final = re.compile(rb"\\(?:x([0-9A-Fa-f]{2})|u\{([0-9A-Fa-f]+)\}|(.))", re.DOTALL)
_LETTERS: Final[Mapping[bytes, bytes]] = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"0": b"\0"}


@dataclass(frozen=True, slots=True)
class Changes:
    """What happened since the last time.

    Attributes:
        paths: what changed, absolute.
        deleted: those of them that were removed or moved away, whatever is there now.
        lost: more changed than ``paths`` tell.
    """

    paths: frozenset[bytes] = frozenset()
    deleted: frozenset[bytes] = frozenset()
    lost: bool = False

    def __or__(self, other: "Changes") -> "Changes":
        return Changes(self.paths | other.paths, self.deleted | other.deleted, self.lost or other.lost)


class FolderEvents:
    """Tells what changes in folders, until it is closed; of what is in their sub-folders only where the system watches whole trees."""

    def __init__(self, *, force_polling: bool = False) -> None:
        """Nothing is watched before ``follow``.

        Args:
            force_polling: looks at every file again and again, where the system reports no changes.
        """
        self._force_polling = force_polling
        self._folders: tuple[bytes, ...] = ()
        self._watcher: RustNotify | None = None
        #: How folders are called whose names are no text, which the watcher does not take, and what keeps those names valid.
        self._aliases: dict[bytes, bytes] = {}
        self._descriptors: list[int] = []
        self._missed = Changes()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def follow(self, folders: Iterable[bytes]) -> None:
        """Watches exactly these folders (absolute) from now on, without a gap where the system lets it; one that is gone is left out.

        Raises:
            OSError: the system does not let so many be watched.
        """
        self._folders = tuple(folders)
        earlier, descriptors = self._watcher, self._descriptors
        try:
            self._watch_all()
        except OSError:
            if earlier is None:
                raise
            earlier.close()  # both together may have been too many
            earlier, self._watcher, self._missed = None, None, self._missed | Changes(lost=True)
            self._watch_all()
        if earlier is not None:
            self._missed |= self._taken_from(earlier, _SHORTEST_MILLISECONDS, None)
            earlier.close()
        for descriptor in descriptors:
            os.close(descriptor)

    def wait(self, stopping: threading.Event) -> Changes:
        """What has changed, once that comes to rest; nothing after half a second, or when ``stopping`` is set.

        Raises:
            OSError: the watcher failed, or cannot be made anew.
        """
        if self._watcher is None:
            raise OSError("nothing is watched")
        missed, self._missed = self._missed, Changes()
        return missed | self._taken_from(self._watcher, _SHORTEST_MILLISECONDS if missed.paths else _TICK_MILLISECONDS, stopping)

    def close(self) -> None:
        """Watches no longer."""
        if self._watcher is not None:
            self._watcher.close()
        self._watcher = None
        for descriptor in self._descriptors:
            os.close(descriptor)
        self._descriptors = []

    def _watch_all(self) -> None:
        aliases: dict[bytes, bytes] = {}
        descriptors: list[int] = []
        try:
            names = [self._name_of(folder, aliases, descriptors) for folder in self._folders if os.path.isdir(folder)]
            self._watcher = self._notify(names)
        except BaseException:
            for descriptor in descriptors:
                os.close(descriptor)
            raise
        self._aliases, self._descriptors = aliases, descriptors

    def _notify(self, names: list[str]) -> RustNotify:
        try:
            return self._notify_of(names)
        except FileNotFoundError:
            return self._notify_of([name for name in names if os.path.isdir(name)])
        except PermissionError:
            return self._notify_of([name for name in names if os.access(name, os.R_OK | os.X_OK)])

    def _notify_of(self, names: list[str]) -> RustNotify:
        try:
            return RustNotify(names, False, self._force_polling, _POLL_MILLISECONDS, not FOLDER_BY_FOLDER, False)
        except WatchfilesRustInternalError as error:
            raise OSError(str(error)) from error

    def _name_of(self, folder: bytes, aliases: dict[bytes, bytes], descriptors: list[int]) -> str:
        try:
            return folder.decode()
        except UnicodeDecodeError:
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            descriptors.append(descriptor)
            alias = f"/proc/self/fd/{descriptor}"
            aliases[alias.encode()] = folder
            return alias

    def _taken_from(self, watcher: RustNotify, milliseconds: int, stopping: threading.Event | None) -> Changes:
        try:
            found = watcher.watch(_GROUP_MILLISECONDS, _STEP_MILLISECONDS, milliseconds, stopping)
        except WatchfilesRustInternalError as error:
            return self._after(error, watcher)
        if isinstance(found, str):
            return Changes()
        return Changes(
            frozenset(self._path_of(path.encode()) for _, path in found),
            frozenset(self._path_of(path.encode()) for kind, path in found if kind == Change.deleted),
        )

    def _after(self, error: WatchfilesRustInternalError, watcher: RustNotify) -> Changes:
        """A name that is no text breaks the watcher, and takes what it had to tell with it: another one takes its place."""
        match = _NOT_TEXT.search(str(error))
        if match is None:
            raise OSError(f"the watcher failed: {error}") from error
        if watcher is self._watcher:
            watcher.close()
            self._watcher = None
            self.follow(self._folders)
        return Changes(frozenset([self._path_of(unescaped(match[1]))]), lost=True)

    def _path_of(self, path: bytes) -> bytes:
        if self._aliases:
            for alias, folder in self._aliases.items():
                if path == alias or path.startswith(alias + b"/"):
                    return folder + path[len(alias) :]
        return path


def unescaped(text: str) -> bytes:
    """The bytes of a path that Rust has written for people: ``\\xFF`` for a byte that is no text, ``\\n``, ``\\u{7f}`` and so on."""

    def byte_of(match: re.Match[bytes]) -> bytes:
        if match[1]:
            return bytes([int(match[1], 16)])
        if match[2]:
            return chr(int(match[2], 16)).encode("utf-8", "surrogatepass")
        return _LETTERS.get(match[3], match[3])

    return _ESCAPE.sub(byte_of, text.encode("utf-8", "surrogateescape"))
