"""A disk with little room, as a file with a file system of its own."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

_FILLER = "filler"


@contextmanager
def small_disk(folder: Path, mebibytes: int) -> Iterator[Path]:
    """Mounts one under ``folder``; skips where that is not permitted."""
    disk, image = folder / "disk", folder / "disk.img"
    disk.mkdir()
    with image.open("wb") as file:
        file.truncate(mebibytes * 2**20)
    for command in (["mkfs.ext4", "-q", "-m", "0", image], ["mount", "-o", "loop", image, disk]):
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        except FileNotFoundError as error:
            pytest.skip(f"a small disk cannot be made here: {error}")
        if done.returncode:
            pytest.skip(f"a small disk cannot be mounted here, which a CI machine may not permit either: {done.stderr.strip()}")
    try:
        yield disk
    finally:
        subprocess.run(["umount", "--lazy", disk], check=True)


def leave_free(disk: Path, mebibytes: int) -> None:
    """Takes the room that there is but for so much."""
    os.sync()
    found = os.statvfs(disk)
    with (disk / _FILLER).open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, found.f_bavail * found.f_frsize - mebibytes * 2**20)
