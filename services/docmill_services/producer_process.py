"""The producer as a child of the process that owns the stores."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

from docmill_services.origin import Origin

#: Instead of a socket's path: the state is on the Redis that the environment names.
NO_EMBEDDED_SERVER: Final = "-"


class ProducerProcess:
    """A child that gets ready while its parent opens the stores, and serves once it is told where the embedded server listens.

    It ends when its standard input does: with its parent, however that ends.
    """

    def __init__(self, origin: Origin, data_dir: Path, *, watch: bool, log_level: str) -> None:
        """Starts the child."""
        # -P: the current folder may be one that is indexed, and its files are not code of ours.
        command = [sys.executable, "-P", "-m", "docmill_services.producer", "--origin", origin.as_json()]
        command += ["--data-dir", str(data_dir.absolute()), "--log-level", log_level, *([] if watch else ["--no-watch"])]
        self._child = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, start_new_session=True, env=os.environ.copy()
        )

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._child.pid

    @property
    def exit_code(self) -> int | None:
        """None while it runs."""
        return self._child.poll()

    def serve(self, unix_socket: Path | None) -> None:
        """Tells it where the embedded server listens, or that there is none; a dead child is noticed by its ``exit_code``."""
        if self._child.stdin is None:
            raise ValueError("the child has no standard input")
        try:
            self._child.stdin.write(f"{unix_socket or NO_EMBEDDED_SERVER}\n".encode())
            self._child.stdin.flush()
        except BrokenPipeError:
            self._child.wait()

    def ask_to_end(self) -> None:
        """Lets it end by itself."""
        if self._child.stdin is not None and not self._child.stdin.closed:
            try:
                self._child.stdin.close()
            except BrokenPipeError:
                self._child.wait()  # what was still to be sent has no reader any more

    def end(self, timeout_seconds: float) -> None:
        """Ends it, by force when it takes longer than ``timeout_seconds``."""
        self.ask_to_end()
        try:
            self._child.wait(timeout_seconds)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()
