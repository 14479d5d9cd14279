"""A scan that finds nothing changed reads no file: what it opens is told by the interpreter itself."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.scanned_world import ScannedWorld, let_files_be_old
from support.trees import plant

_OPENED: list[bytes] = []
_FOLDER: list[bytes] = []


def _audit(event: str, arguments: tuple[Any, ...]) -> None:
    if _FOLDER and event == "open" and isinstance(arguments[0], str | bytes) and os.fsencode(arguments[0]).startswith(_FOLDER[0]):
        _OPENED.append(os.fsencode(arguments[0])[len(_FOLDER[0]) + 1 :])


@pytest.fixture(scope="module", autouse=True)
def audit() -> None:
    sys.addaudithook(_audit)  # one that was added stays


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[list[bytes]]:
    """What is opened below ``docs``."""
    _FOLDER[:] = [os.fsencode(tmp_path / "docs")]
    yield _OPENED
    _FOLDER.clear()
    _OPENED.clear()


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ScannedWorld:
    plant(tmp_path / "docs", ["a.md", "f/b.md", "f/g/c.md", "node_modules/d.md", "node_modules/deep/e.md"])
    plant(tmp_path / "docs", {".gitignore": "node_modules/\n"})
    let_files_be_old(monkeypatch)
    world = ScannedWorld(tmp_path, tmp_path / "docs")
    world.run()
    return world


def test_a_second_scan_with_nothing_changed_opens_no_file(world: ScannedWorld, opened: list[bytes]) -> None:
    opened.clear()
    run = world.run()
    assert (run.counters["seen"], run.counters["unchanged"], run.counters.get("planned", 0)) == (4, 4, 0)
    assert opened == []


def test_only_what_changed_is_opened(world: ScannedWorld, opened: list[bytes], tmp_path: Path) -> None:
    (tmp_path / "docs" / "f" / "b.md").write_text("changed")
    opened.clear()
    world.run()
    assert set(opened) == {b"f/b.md"}


@pytest.mark.parametrize("touch", ["an older time", "the same time", "another file of the same size and time"])
def test_a_change_that_hides_its_time_is_read(world: ScannedWorld, opened: list[bytes], tmp_path: Path, touch: str) -> None:
    path = tmp_path / "docs" / "a.md"
    before = path.stat()
    if touch == "another file of the same size and time":
        (tmp_path / "other").write_text("A.md\n")
        (tmp_path / "other").replace(path)
    else:
        path.write_text("A.md\n")
    os.utime(path, ns=(0, 0) if touch == "an older time" else (before.st_atime_ns, before.st_mtime_ns))
    opened.clear()
    world.run()
    assert set(opened) == {b"a.md"}


def test_an_ignored_folder_is_not_even_listed(world: ScannedWorld, tmp_path: Path) -> None:
    listed = [os.fsdecode(folder) for folder in world.scan().folders()]
    assert [os.path.relpath(folder, tmp_path) for folder in listed] == ["docs", "docs/f", "docs/f/g"]


def test_a_file_that_was_touched_while_it_was_read_is_read_again(tmp_path: Path, opened: list[bytes]) -> None:
    plant(tmp_path / "docs", ["a.md"])  # a moment ago
    world = ScannedWorld(tmp_path, tmp_path / "docs")
    world.run()
    opened.clear()
    world.run()
    assert set(opened) == {b"a.md"}
