"""Where the Valkey server listens: in its folder, or in a private temporary one where that path is too long or does not fit into a URL."""

import contextlib
import os
import re
import stat
import tempfile
from pathlib import Path
from typing import Final

_LONGEST_BYTES: Final = 100  # sockaddr_un holds 104 bytes on macOS and 108 on Linux, the closing zero among them
_PLAIN: Final = re.compile(r"[A-Za-z0-9._/-]+")  # clients take the path as part of a URL, where other characters have a meaning
_NAME: Final = "valkey.sock"
_POINTER: Final = "socket-folder"
_PREFIX: Final = "docmill-"


def fits(socket: Path) -> bool:
    """Whether the path is short enough for a socket."""
    return len(os.fsencode(socket)) <= _LONGEST_BYTES


def make_socket_path(folder: Path) -> Path:
    """A path for the socket of the server of ``folder``; one that an earlier owner left in the temporary folder is removed.

    Raises:
        OSError: no temporary folder can be made.
    """
    remove_socket(folder)
    if fits(folder / _NAME) and _PLAIN.fullmatch(str(folder / _NAME)):
        return folder / _NAME
    private = Path(tempfile.mkdtemp(prefix=_PREFIX))  # mode 0700, a name that cannot be guessed
    (folder / _POINTER).write_bytes(os.fsencode(private))
    return private / _NAME


def socket_path_of(folder: Path) -> Path | None:
    """Where the server of ``folder`` listens now, as its owner noted it; None where there is no socket."""
    pointer = folder / _POINTER
    try:
        private = Path(os.fsdecode(pointer.read_bytes()))
    except FileNotFoundError:
        socket = folder / _NAME
    else:
        socket = private / _NAME if _is_ours(private) else folder / _NAME
    return socket if socket.is_socket() else None


def remove_socket(folder: Path) -> None:
    """Removes the socket of a server that has ended, and its temporary folder."""
    (folder / _NAME).unlink(missing_ok=True)
    pointer = folder / _POINTER
    with contextlib.suppress(FileNotFoundError):
        private = Path(os.fsdecode(pointer.read_bytes()))
        if private.is_absolute() and private.name.startswith(_PREFIX) and _is_ours(private):
            (private / _NAME).unlink(missing_ok=True)
            with contextlib.suppress(OSError):  # something else was put into it: then it stays
                private.rmdir()
        pointer.unlink()


def _is_ours(folder: Path) -> bool:
    try:
        found = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()
