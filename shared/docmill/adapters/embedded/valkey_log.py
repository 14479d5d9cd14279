"""Why a Valkey server ended, read from its log."""

import re
from pathlib import Path
from typing import Final

from docmill.domain.errors import DataFolderError, DiskFull, DocmillError, StoreDown

_TAIL_BYTES: Final = 16_384
_LIMIT_BYTES: Final = 1_000_000
_PREFIX: Final = re.compile(r"^\d+:[A-Z] \d+ \w+ \d+ [\d:.]+ [.\-*#] ")
_DAMAGED: Final = re.compile(
    r"Bad file format|AOF MANIFEST FILE ERROR|Invalid AOF manifest|Unrecoverable error reading|RDB preamble of (the )?AOF file"
    r"|AOF file \S+ length. stat|Internal error in RDB|Error reading the RDB preamble|Wrong signature trying to load"
    r"|Can't handle RDB format"
)
_FORBIDDEN: Final = re.compile(r"Permission denied|Read-only file system|Operation not permitted")


def tail(log_file: Path, start: int = 0) -> list[str]:
    """The last lines that the log got after its byte ``start``, without process ids and dates; [] when there are none."""
    try:
        with log_file.open("rb") as log:
            log.seek(max(start, log.seek(0, 2) - _TAIL_BYTES))
            text = log.read().decode("utf-8", "replace")
    except FileNotFoundError:
        return []
    return [_PREFIX.sub("", line) for line in text.splitlines() if line.strip()]


def says_disk_is_full(text: str) -> bool:
    """Whether a line of the log, or an error that the server answers, comes from a full disk."""
    return "No space left on device" in text or "Disk quota exceeded" in text


def rotate(log_file: Path) -> None:
    """Sets the log aside, once, when it has grown large; the one set aside before is replaced."""
    if log_file.exists() and log_file.stat().st_size > _LIMIT_BYTES:
        log_file.replace(log_file.with_name(f"{log_file.name}.1"))


def death_error(lines: list[str], log_file: Path, exit_status: int | None) -> DocmillError:
    """What the last words of a server that ended mean to a user.

    Args:
        lines: the log of this start, oldest first.
        log_file: where the reader finds more.
        exit_status: of the process, negative for a signal.
    """
    if any(says_disk_is_full(line) for line in lines):
        return DiskFull(f"No room is left for the embedded Valkey server: free some space, then start again; its log is {log_file}.")
    if damaged := next((line for line in lines if _DAMAGED.search(line)), ""):
        return DataFolderError(
            f"The embedded Valkey server cannot read its append-only file ({damaged}): move the folder valkey/ of the data folder "
            f"away, and the registry is built again from the files; its log is {log_file}."
        )
    if forbidden := next((line for line in lines if _FORBIDDEN.search(line)), ""):
        return DataFolderError(
            f"The embedded Valkey server may not use its files ({forbidden}): allow it, or name another folder with --data-dir."
        )
    how = f"signal {-exit_status}" if exit_status is not None and exit_status < 0 else f"status {exit_status}"
    return StoreDown(f"The embedded Valkey server ended with {how}: see {log_file}, whose last line is: {lines[-1] if lines else ''}")
