"""The embedded Valkey server: a child process on a unix socket, started, watched, started again when it dies, and stopped."""

import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path
from subprocess import Popen, TimeoutExpired
from types import TracebackType
from typing import Final, Self
from urllib.parse import quote

from docmill.adapters.embedded import valkey_log, valkey_process, valkey_socket
from docmill.adapters.embedded.data_folder import folder_error, folder_errors
from docmill.adapters.embedded.file_lock import FileLock
from docmill.domain.errors import DataFolderError, DataFolderInUse, DocmillError, StoreDown

_logger = logging.getLogger(__name__)

QUICK_DEATH_SECONDS: Final = 10.0
QUICK_DEATHS_ALLOWED: Final = 5
_FIRST_PAUSE_SECONDS: Final = 0.1
_DYING_SECONDS: Final = 0.5  # the connections of a dying process break before its end can be seen


def restart_pause_seconds(quick_deaths: int) -> float:
    """How long to wait before the next start after so many deaths in quick succession: 0.1 s, doubled each time."""
    return _FIRST_PAUSE_SECONDS * 2.0 ** max(0, quick_deaths - 1)


def celery_url_of(unix_socket: Path) -> str:
    """What Celery calls a broker that listens at ``unix_socket``."""
    return f"redis+socket://{quote(str(unix_socket))}?virtual_host=0"


class ValkeyServer:
    """A Valkey server that belongs to this process: one per folder, and gone when this process is gone, also after kill -9.

    Everything that was acknowledged survives the server's own death; a power loss may take the last second.
    """

    def __init__(
        self, folder: Path, socket: Path | None = None, *, log_file: Path | None = None, on_restart: Callable[[], None] | None = None
    ) -> None:
        """Starts nothing yet.

        Args:
            folder: for the append-only file; made when it is not there.
            socket: where to listen; chosen when None.
            log_file: ``valkey.log`` in ``folder`` when None.
            on_restart: called, in the watching thread, each time after the server died and answers again. If it raises while the server
                lives, the server is stopped for good and ``error`` tells why.
        """
        self._folder = folder.absolute()
        self._wanted_socket = socket.absolute() if socket else None
        self._socket = self._wanted_socket or self._folder / "valkey.sock"
        self._log_file = (log_file or self._folder / "valkey.log").absolute()
        self._on_restart = on_restart
        self._owner = FileLock(self._folder / "owner.lock")
        self._thread: threading.Thread | None = None
        self._process: Popen[bytes] | None = None
        self._stopping = threading.Event()
        self._first_start_over = threading.Event()
        self._restarts = 0
        self._error: DocmillError | None = None

    @property
    def socket(self) -> Path:
        """Where it listens, the same from start to stop."""
        return self._socket

    @property
    def pid(self) -> int | None:
        """The server's process id, None while it does not run."""
        process = self._process
        return process.pid if process is not None and process.returncode is None else None

    @property
    def restarts(self) -> int:
        """How often it died and was started again."""
        return self._restarts

    @property
    def error(self) -> DocmillError | None:
        """Why it was given up; None while it runs, is being started again, or was stopped."""
        return self._error

    def start(self) -> None:
        """Returns when the server answers.

        Raises:
            DataFolderInUse: another owner has a server on this folder.
            DiskFull, DataFolderError, StoreDown: it did not start; the message says why.
        """
        if self._owner.held:
            raise RuntimeError("the server was started before")
        with folder_errors(self._folder):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not self._owner.acquire():
                raise DataFolderInUse(f"The folder {self._folder} belongs to another running docmill: stop that one first.")
        try:
            with folder_errors(self._folder):
                self._prepare()
        except BaseException:
            self._owner.release()
            raise
        self._restarts, self._error = 0, None
        self._stopping.clear()
        self._first_start_over.clear()
        # The thread that starts the server is the one that watches it: Linux ends the server with the thread that started it.
        self._thread = threading.Thread(target=self._watch, name="valkey-watch", daemon=True)
        self._thread.start()
        try:
            self._first_start_over.wait()
        except BaseException:  # Ctrl-C
            self.stop()
            raise
        if self._error is not None:
            error = self._error
            self.stop()
            raise error

    def stop(self) -> None:
        """Ends the server cleanly, within about ten seconds at worst; nothing happens the second time, or in a forked copy of the owner."""
        if not self._owner.held:
            return
        self._stopping.set()
        try:
            if self._process is not None:
                valkey_process.stop(self._process)
            if self._thread is not None:
                self._thread.join()
            if self._wanted_socket is None:
                with folder_errors(self._folder):
                    valkey_socket.remove_socket(self._folder)
        finally:
            self._owner.release()

    def __enter__(self) -> Self:
        """Starts."""
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        """Stops."""
        self.stop()

    def _prepare(self) -> None:
        self._log_file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        valkey_log.rotate(self._log_file)
        if self._wanted_socket is None:
            self._socket = valkey_socket.make_socket_path(self._folder)
        elif not valkey_socket.fits(self._wanted_socket):
            raise DataFolderError(f"The path {self._wanted_socket} is too long for a socket: choose a shorter one.")

    def _watch(self) -> None:
        """The watching thread: one life of the server after another, until it is stopped or dies too often too soon."""
        try:
            self._error = self._live_until_given_up()
        except Exception as error:
            _logger.exception("Watching the embedded Valkey server failed.")
            self._error = StoreDown(f"Watching the embedded Valkey server failed: {error}")
        finally:
            self._first_start_over.set()

    def _live_until_given_up(self) -> DocmillError | None:
        """The reason why the server is given up, or None when it was stopped."""
        quick_deaths = 0
        while not self._stopping.is_set():
            began = time.monotonic()
            death = self._live_once()
            if self._stopping.is_set():
                break
            if not self._first_start_over.is_set():
                return death
            quick_deaths = quick_deaths + 1 if time.monotonic() - began < QUICK_DEATH_SECONDS else 1
            if quick_deaths > QUICK_DEATHS_ALLOWED or isinstance(death, _OwnerFailed):
                _logger.error("%s; it is not started again", death)
                return death
            _logger.warning("%s; it is started again", death)
            self._stopping.wait(restart_pause_seconds(quick_deaths))
        return None

    def _live_once(self) -> DocmillError:
        """Starts the server and returns why it ended."""
        try:
            log_start = self._log_file.stat().st_size if self._log_file.exists() else 0
            process = self._process = valkey_process.spawn(self._folder, self._socket, self._log_file)
        except OSError as error:
            return folder_error(error, self._folder)
        except DocmillError as error:
            return error
        try:
            valkey_process.wait_until_it_answers(process, self._socket, self._log_file, log_start, self._stopping.is_set)
            if self._first_start_over.is_set() and not self._stopping.is_set():
                self._restarts += 1
                self._tell_owner(process)
            self._first_start_over.set()
            if not self._stopping.is_set():
                process.wait()
        except DocmillError as error:
            return error
        finally:
            valkey_process.stop(process)
        return valkey_log.death_error(valkey_log.tail(self._log_file, log_start), self._log_file, process.returncode)

    def _tell_owner(self, process: Popen[bytes]) -> None:
        if self._on_restart is None:
            return
        try:
            self._on_restart()
        except Exception as error:
            message = f"What follows a restart of the embedded Valkey server failed: {error}"
            try:
                process.wait(_DYING_SECONDS)
            except TimeoutExpired:
                raise _OwnerFailed(message) from error
            raise StoreDown(message) from error  # the server died once more; the next start tells the owner again


class _OwnerFailed(StoreDown):
    """The server answers again, but its owner could not do what follows a restart."""
