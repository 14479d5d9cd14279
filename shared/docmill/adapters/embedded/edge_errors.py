"""The engine's exceptions as docmill's: it raises plain ``Exception`` with a text, so the text decides."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from docmill.domain.errors import DiskFull, DocmillError, StoreDown, StoreRejected, WrongDimension

_NO_ROOM = ("no space left on device", "disk quota exceeded", "not enough space")
_REJECTED = ("Validation failed", "Wrong input", "Bad request", "expected", "Unsupported", "Malformed")


@contextmanager
def engine_errors(where: str) -> Iterator[None]:
    """Turns what the engine or the file system raises inside into the port's errors; ``where`` begins the message."""
    try:
        yield
    except DocmillError:
        raise
    except Exception as error:
        raise converted(error, where) from error


def converted(error: Exception, where: str) -> DocmillError:
    """The port's error for ``error``."""
    text = str(error)
    if (isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)) or any(sign in text.lower() for sign in _NO_ROOM):
        return DiskFull(f"{where}: no space is left on its disk; free some and try again ({text})")
    if "Vector dimension error" in text:
        return WrongDimension(f"{where}: {text}")
    if isinstance(error, TypeError | ValueError | OverflowError) or text.startswith(_REJECTED):
        return StoreRejected(f"{where}: {text}")
    return StoreDown(f"{where}: {text}")
