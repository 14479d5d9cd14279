"""``docmill up`` when its disk is full: it says so, loses nothing, and goes on once there is room."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.changing_folder import ChangingFolder
from support.index_truth import disagreements
from support.running_docmill import RunningDocmill, docmill, write_configuration
from support.small_disk import leave_free
from support.small_disk import small_disk as disk_of_its_own

_MEBIBYTE = bytes(1024 * 1024)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=250m", "none", disk], capture_output=True, text=True, check=False)
    if mounted.returncode:
        pytest.skip(f"a small disk cannot be mounted here, which a CI machine may not permit either: {mounted.stderr.strip()}")
    yield disk
    subprocess.run(["umount", "--lazy", disk], check=True)


def fill(disk: Path) -> Path:
    """A file that takes all the room there is."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(_MEBIBYTE)
        except OSError:
            return filler


def test_a_disk_that_fills_up_ends_the_run_and_with_more_room_the_next_one_completes(tmp_path: Path, small_disk: Path) -> None:
    notes = ChangingFolder(tmp_path / "notes", int(os.environ.get("DOCMILL_TEST_SEED", "1")), 300)
    configuration = write_configuration(tmp_path / "docmill.yaml", notes.folder, size=300)
    data_dir = small_disk / "data"
    with RunningDocmill(configuration, data_dir, "--once") as running:
        running.wait_until(lambda: running.status()["documents"]["live"] > 0, "the first documents")
        filler = fill(small_disk)
        assert running.wait() == 3, running.said
        assert "free some and try again" in running.said
        assert "Traceback" not in running.said
    refused = docmill("up", configuration, "--once", "--port", "0", "--data-dir", data_dir)
    assert refused.returncode == 3
    assert len(refused.stderr.strip().splitlines()) == 1, refused.stderr
    filler.unlink()
    subprocess.run(["mount", "-o", "remount,size=600m", small_disk], check=True)
    notes.change(20)
    completed = docmill("up", configuration, "--once", "--port", "0", "--data-dir", data_dir)
    assert completed.returncode == 0, completed.stderr
    assert disagreements(configuration, data_dir, notes.documents()) == []


def test_what_was_indexed_is_found_on_a_disk_without_room_for_more(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.md").write_text("Apples are round.\n", encoding="utf-8")
    configuration = write_configuration(tmp_path / "docmill.yaml", docs)
    with disk_of_its_own(tmp_path, 600) as disk:
        data_dir = disk / "data"
        assert docmill("index", configuration, "--data-dir", data_dir).returncode == 0
        leave_free(disk, 4)
        found = docmill("search", "apples", "--data-dir", data_dir)
        assert (found.returncode, "a.md" in found.stdout) == (0, True), found.stderr
        refused = docmill("index", configuration, "--data-dir", data_dir)
        assert (refused.returncode, "free some and try again" in refused.stderr) == (3, True), refused.stderr
        (docs / "b.md").write_text("Pears are not.\n", encoding="utf-8")
        with RunningDocmill(configuration, data_dir) as running:
            running.wait_until(lambda: "free some and try again" in running.said, "the reason of the failure")
            assert "a.md" in docmill("search", "apples", "--data-dir", data_dir).stdout
