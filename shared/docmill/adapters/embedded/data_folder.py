"""The data folder of the embedded profile: its layout, its one holder, and how other commands find the holder."""

import contextlib
import errno
import json
import os
import secrets
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from docmill.adapters.embedded.file_lock import FileLock, is_locked
from docmill.domain.errors import DataFolderError, DataFolderInUse, DataFolderTooNew, DiskFull

FORMAT: Final = 1
_LOCK: Final = "lock"
_FORMAT_FILE: Final = "format.json"
_SERVER_FILE: Final = "server.json"
_SUB_FOLDERS: Final = ("valkey", "vectors", "lexical", "logs")
# There is no CACHEDIR.TAG: backups skip what it marks, and texts that were pushed over HTTP exist nowhere else.
_IGNORE_FILES: Final = (".gitignore", ".docmillignore")
_MAY_PRECEDE_US: Final = frozenset({_LOCK, *_IGNORE_FILES, ".gitkeep", "lost+found"})
# Another command that looks whether the folder is in use holds a shared lock for an instant.
_PATIENCE_SECONDS: Final = 0.5
_LEAST_FREE_BYTES: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class RunningServer:
    """Who holds a data folder; ``url`` is None until it listens, and ``key`` is one with which it answers everything."""

    pid: int
    url: str | None
    key: str = ""


class DataFolder:
    """A data folder that this process holds. A program that it starts does not hold it, so it is free as soon as this process ends."""

    def __init__(self, path: Path, lock: FileLock) -> None:
        """Use :meth:`open`."""
        self.path = path
        self._lock = lock

    @classmethod
    def open(cls, path: Path) -> Self:
        """Makes the folder when it is not there, and takes it for this process.

        Args:
            path: the folder; its parents are made too.

        Raises:
            DataFolderInUse: another process holds it.
            DataFolderTooNew: a newer version wrote it.
            DataFolderError: it is no data folder, its format file is broken, or it cannot be written.
            DiskFull: no room is left there.
        """
        path = path.absolute()
        with folder_errors(path):
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            _refuse_other_folders(path)  # before anything is put into it
            lock = FileLock(path / _LOCK)
            if not lock.acquire(_PATIENCE_SECONDS):
                raise _in_use(path)
        try:
            with folder_errors(path):
                _check_format(path)
                _lay_out(path)
                _write_atomically(path / _SERVER_FILE, {"pid": os.getpid(), "url": None})
        except BaseException:
            lock.release()
            raise
        return cls(path, lock)

    @property
    def valkey(self) -> Path:
        """The embedded Valkey server's files."""
        return self.path / "valkey"

    @property
    def vectors(self) -> Path:
        """The vector index."""
        return self.path / "vectors"

    @property
    def lexical(self) -> Path:
        """The BM25 index."""
        return self.path / "lexical"

    @property
    def logs(self) -> Path:
        """Log files."""
        return self.path / "logs"

    def require_there(self) -> None:
        """Looks whether the folder is still the one that was opened.

        Raises:
            DataFolderError: it was removed or replaced; what is written now would be lost.
        """
        try:
            there = os.path.samestat(os.stat(self.path / _LOCK), os.fstat(self._lock.descriptor))
        except OSError:
            there = False
        if not there:
            raise DataFolderError(f"The data folder {self.path} was removed or replaced while docmill used it: start docmill again.")

    def require_room(self) -> None:
        """Looks whether anything can still be written.

        Raises:
            DiskFull: less than 1 MiB is free, too little even to record how a run ended.
        """
        with folder_errors(self.path):
            if shutil.disk_usage(self.path).free < _LEAST_FREE_BYTES:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def announce(self, url: str, key: str = "") -> None:
        """Lets other commands find this process at ``url``, and ask it with ``key``; who may not read the folder may not read that.

        Raises:
            DataFolderError: it cannot be written.
        """
        with folder_errors(self.path):
            _write_atomically(self.path / _SERVER_FILE, {"pid": os.getpid(), "url": url, "key": key})

    def close(self) -> None:
        """Gives the folder up; nothing happens the second time, or in a forked copy of the holder."""
        if not self._lock.held:
            return
        with contextlib.suppress(OSError):  # a folder that was removed or has become read-only is given up all the same
            (self.path / _SERVER_FILE).unlink(missing_ok=True)
        self._lock.release()

    def __enter__(self) -> Self:
        """Returns itself; the end of the ``with`` block closes it."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        """Closes."""
        self.close()


def running_server(path: Path) -> RunningServer | None:
    """The process that holds the data folder now, or None; a file that a dead holder left says nothing.

    Raises:
        DataFolderError: the folder cannot be read.
    """
    with folder_errors(path):
        if not is_locked(path / _LOCK):
            return None
        try:
            found = json.loads((path / _SERVER_FILE).read_bytes())
            return RunningServer(pid=int(found["pid"]), url=found["url"], key=found.get("key", ""))
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            return None  # the holder is just starting or just leaving


def check_data_folder(path: Path) -> None:
    """Looks whether the data folder can be opened, and changes nothing.

    Raises:
        DataFolderTooNew: a newer version wrote it.
        DataFolderError: it is no data folder, or its format file is broken.
    """
    with folder_errors(path):
        _refuse_other_folders(path)
        if (path / _FORMAT_FILE).exists():
            _check_format(path)


@contextlib.contextmanager
def folder_errors(path: Path) -> Iterator[None]:
    """Turns an ``OSError`` of the block into the error that says what to do about ``path``."""
    try:
        yield
    except OSError as error:
        raise folder_error(error, path) from error


def folder_error(error: OSError, path: Path) -> DataFolderError:
    """What a failed file operation in the data folder ``path`` means to a user."""
    reason = error.strerror or str(error)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return DiskFull(f"No room is left for the data folder {path} ({reason}): free some space there, then start again.")
    if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        return DataFolderError(f"The data folder {path} cannot be written ({reason}): allow it, or name another one with --data-dir.")
    if error.errno in (errno.ENOTDIR, errno.EEXIST):
        return DataFolderError(f"The data folder {path} cannot be made: a file is in its place. Name another one with --data-dir.")
    return DataFolderError(f"The data folder {path} cannot be used ({reason}): name another one with --data-dir.")


def _in_use(path: Path) -> DataFolderInUse:
    holder = running_server(path)
    who = f"by process {holder.pid}" if holder else "by another process"
    where = f" at {holder.url}" if holder and holder.url else ""
    return DataFolderInUse(
        f"The data folder {path} is in use {who}{where}: `docmill search` asks the running one; to start another, stop that one first or "
        "name another folder with --data-dir."
    )


def _refuse_other_folders(path: Path) -> None:
    if (path / _FORMAT_FILE).exists():
        return
    strangers = sorted(entry.name for entry in path.iterdir() if entry.name not in _MAY_PRECEDE_US and not _is_temporary(entry.name))
    # Another process may just have made it a data folder.
    if strangers and not (path / _FORMAT_FILE).exists():
        raise DataFolderError(
            f"The folder {path} holds other files ({strangers[0]}) and is no docmill data folder: "
            "name an empty or a new one with --data-dir."
        )


def _check_format(path: Path) -> None:
    file = path / _FORMAT_FILE
    try:
        content = file.read_bytes()
    except FileNotFoundError:
        _write_atomically(file, {"format": FORMAT})
        return
    try:
        found = json.loads(content)["format"]
        if type(found) is not int or found < 1:
            raise ValueError(found)
    except (ValueError, KeyError, TypeError) as error:
        raise DataFolderError(
            f"The file {file} is broken, so the data folder cannot be read: restore it, or move the folder away and index again."
        ) from error
    if found > FORMAT:
        raise DataFolderTooNew(
            f"The data folder {path} has format {found}, and this version of docmill knows formats up to {FORMAT}: "
            "use the newer version, or name another folder with --data-dir."
        )


def _lay_out(path: Path) -> None:
    for name in _SUB_FOLDERS:
        (path / name).mkdir(mode=0o700, exist_ok=True)
    for name in _IGNORE_FILES:
        file = path / name
        if not file.exists():
            file.write_text("# Made by docmill: an index is neither committed nor indexed.\n*\n", encoding="utf-8")
    for entry in path.iterdir():
        if _is_temporary(entry.name):
            entry.unlink(missing_ok=True)


def _is_temporary(name: str) -> bool:
    return name.endswith(".tmp") and name.startswith((_FORMAT_FILE, _SERVER_FILE))


def _write_atomically(file: Path, content: dict[str, object]) -> None:
    """A reader finds the old content or the new, also after a power loss."""
    temporary = file.with_name(f"{file.name}.{secrets.token_hex(4)}.tmp")
    try:
        with temporary.open("x", encoding="utf-8") as out:
            os.fchmod(out.fileno(), 0o600)
            json.dump(content, out)
            out.flush()
            os.fsync(out.fileno())
        temporary.replace(file)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
