"""Becomes the Valkey server, after writing down its process id and asking to be stopped when the parent ends.

Run as a program: ``python -I -S valkey_launch.py PARENT_PID LOCK_DESCRIPTOR BINARY ARGUMENT...``. It imports nothing of ours, and
nothing of it is left once the server runs. The order is what makes it safe: the id is written before the server can run, and a parent
that ended before the request was made is noticed after it.
"""

import ctypes
import os
import signal
import sys
from typing import Final

_PR_SET_PDEATHSIG: Final = 1  # prctl(2); Linux only. It survives exec and is sent when the parent's thread that started us ends.


def main(arguments: list[str]) -> None:
    """Replaces this process with the server; returns only when the parent has gone."""
    parent_pid, lock_descriptor, binary = int(arguments[0]), int(arguments[1]), arguments[2]
    os.ftruncate(lock_descriptor, 0)
    os.pwrite(lock_descriptor, f"{os.getpid()}\n".encode(), 0)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])  # else a signal that the parent's thread blocks could not stop the server
    if sys.platform == "linux":
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.prctl(_PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "prctl(PR_SET_PDEATHSIG)")
    if os.getppid() == parent_pid:
        os.execv(binary, arguments[2:])


if __name__ == "__main__":
    main(sys.argv[1:])
