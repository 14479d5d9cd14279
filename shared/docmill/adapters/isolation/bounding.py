"""What a child may have of the machine: memory, files that it leaves, and no network."""

import contextlib
import ctypes
import os
import resource
from collections.abc import Iterator
from typing import Final

_STATM: Final = "/proc/self/statm"
_NEW_USER: Final = 0x10000000
_NEW_NETWORK: Final = 0x40000000


def bound_process(memory_bytes: int) -> None:
    """Bounds this process for good, as far as the system can: it leaves no core file and opens no connection."""
    with contextlib.suppress(OSError, ValueError):  # not every system bounds it
        resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, resource.getrlimit(resource.RLIMIT_AS)[1]))
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(OSError, AttributeError):
        unshare = ctypes.CDLL(None).unshare  # on Linux; refused, as in many containers, it changes nothing
        if unshare(_NEW_NETWORK) != 0:
            unshare(_NEW_USER | _NEW_NETWORK)


@contextlib.contextmanager
def bounded_memory(more_bytes: int) -> Iterator[None]:
    """Lets this process have so much address space more than it has now, until the context ends."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    bound = _address_space_bytes() + more_bytes
    if soft != resource.RLIM_INFINITY:
        bound = min(bound, soft)
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_AS, (bound, hard))
    try:
        yield
    finally:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _address_space_bytes() -> int:
    try:
        with open(_STATM, encoding="ascii") as file:
            return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 1 << 30  # a system that does not say: more than an interpreter with its libraries has
