"""Reads a document's bytes so that they are one state of the file, and never from outside the configured roots."""

# Paths are bytes here, which pathlib does not take.

import errno
import os
import stat
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from docmill.documents.identity import folder_prefix_of
from docmill.documents.signatures import begins_as_container
from docmill.domain.documents import StatSignature
from docmill.domain.errors import DocumentSkipped, SkipReason, SourceChanging

#: Containers, most of whose bytes are no text, may be so many times as large as text files.
CONTAINERS_ARE_LARGER: Final = 10
#: A file that was touched this shortly before it was read may change again without a change of its stat signature.
RACY_SECONDS: Final = 2.0

_ATTEMPTS: Final = 4
_HEAD_BYTES: Final = 8
_NO_WAITING: Final = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
_NO_LINK: Final = getattr(os, "O_NOFOLLOW", 0)


@dataclass(frozen=True, slots=True)
class SourceContent:
    """The bytes of a file at one moment.

    Attributes:
        stat: what the file's state was then.
        racy: the file was touched so shortly before that an equal ``stat`` does not prove equal bytes: it must be read again next time.
    """

    content: bytes
    stat: StatSignature
    racy: bool


class _Changed(Exception):
    """The file was written to while it was read."""


def signature_of(status: os.stat_result) -> StatSignature:
    """The signature that is kept of a file's state."""
    return StatSignature(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)


def read_source(path: bytes, roots: Iterable[bytes], *, max_bytes: int, now_seconds: float) -> SourceContent:
    """The content of the regular file at ``path``.

    Args:
        path: absolute; a link only where it is itself one of ``roots``.
        roots: the files and folders that the file must be, or lie in, when all links on the way are followed.
        max_bytes: a larger file is not read; a container may be ``CONTAINERS_ARE_LARGER`` times as large.
        now_seconds: seconds since 1970 by the wall clock, taken before the call.

    Raises:
        FileNotFoundError: there is no such file.
        DocumentSkipped: it is too large, no regular file, not readable, or outside the roots.
        SourceChanging: it kept changing while it was read.
        OSError: the disk or the mount failed; the same call may work later.
    """
    roots = tuple(roots)
    named = path in roots
    try:
        _check_kind(os.stat(path, follow_symlinks=named))
        for _ in range(_ATTEMPTS):
            try:
                return _read_once(path, roots, named=named, max_bytes=max_bytes, now_seconds=now_seconds)
            except _Changed:
                continue
    except NotADirectoryError as error:
        raise FileNotFoundError(errno.ENOENT, "a folder on the way is a file now", path) from error
    except PermissionError as error:
        raise DocumentSkipped(SkipReason.UNREADABLE, f"it cannot be read: {error.strerror}; check its permissions") from error
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise DocumentSkipped(SkipReason.NOT_A_FILE, "it is a symbolic link, and links are not followed") from error
        if error.errno in (errno.ENXIO, errno.EISDIR):
            raise DocumentSkipped(SkipReason.NOT_A_FILE, "it is not a regular file") from error
        if error.errno == errno.ENAMETOOLONG:
            raise DocumentSkipped(SkipReason.UNREADABLE, "its path is longer than the system allows") from error
        raise
    raise SourceChanging(f"{os.fsdecode(path)} changed each of the {_ATTEMPTS} times it was read; it will be read again")


def _read_once(path: bytes, roots: tuple[bytes, ...], *, named: bool, max_bytes: int, now_seconds: float) -> SourceContent:
    descriptor = os.open(path, _NO_WAITING | (0 if named else _NO_LINK))
    with open(descriptor, "rb", buffering=0) as file:
        before = os.fstat(descriptor)
        _check_kind(before)
        if not named:
            _check_inside(descriptor, path, roots)
        if before.st_size > max_bytes:
            _check_container(os.pread(descriptor, _HEAD_BYTES, 0), before.st_size, max_bytes)
        content = _read_at_most(file.read, before.st_size + 1)
        after = os.fstat(descriptor)
    signature = signature_of(before)
    if signature != signature_of(after) or len(content) != before.st_size:
        raise _Changed
    touched_recently = now_seconds - after.st_ctime < RACY_SECONDS or abs(now_seconds - after.st_mtime) < RACY_SECONDS
    return SourceContent(content, signature, touched_recently)


def _check_container(head: bytes, size_bytes: int, max_bytes: int) -> None:
    """Refuses a file that is larger than a text may be, unless it is a container and not larger than one may be."""
    if not begins_as_container(head):
        raise DocumentSkipped(SkipReason.TOO_LARGE, f"it has {size_bytes:,} bytes, and max_file_size is {max_bytes:,}")
    if size_bytes > CONTAINERS_ARE_LARGER * max_bytes:
        allowed = f"{CONTAINERS_ARE_LARGER} times max_file_size, {CONTAINERS_ARE_LARGER * max_bytes:,}"
        raise DocumentSkipped(SkipReason.TOO_LARGE, f"it has {size_bytes:,} bytes, and files of its kind may have {allowed}")


def _check_kind(status: os.stat_result) -> None:
    if stat.S_ISLNK(status.st_mode):
        raise DocumentSkipped(SkipReason.NOT_A_FILE, "it is a symbolic link, and links are not followed")
    if not stat.S_ISREG(status.st_mode):
        raise DocumentSkipped(SkipReason.NOT_A_FILE, "it is not a regular file")


def _check_inside(descriptor: int, path: bytes, roots: tuple[bytes, ...]) -> None:
    """Refuses a file that a link among the folders of its path led out of the roots."""
    real = _real_path_of(descriptor, path)
    if real == path:
        return
    for root in roots:
        if real.startswith(folder_prefix_of(os.path.realpath(root))):
            return
    raise DocumentSkipped(SkipReason.NOT_A_FILE, "a symbolic link on its path leads out of the configured docs")


def _real_path_of(descriptor: int, path: bytes) -> bytes:
    """Where the open file is; asked of the open file where the system can tell, so that an exchanged folder is noticed."""
    try:
        return os.readlink(b"/proc/self/fd/%d" % descriptor)
    except OSError:
        return os.path.realpath(path)


def _read_at_most(read: Callable[[int], bytes | None], size_bytes: int) -> bytes:
    parts = []
    while size_bytes > 0:
        part = read(size_bytes)
        if not part:
            break
        parts.append(part)
        size_bytes -= len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)
