"""What the operating system reports of folders; nothing is simulated."""

import os
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from watchfiles._rust_notify import RustNotify

from docmill_services.producer import folder_events
from docmill_services.producer.folder_events import Changes, FolderEvents, unescaped
from support.trees import plant
from support.waiting import wait_until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="folders are watched one by one on Linux alone")


@pytest.fixture
def events() -> Iterator[FolderEvents]:
    with FolderEvents() as events:
        yield events


def raw(path: Path, name: bytes = b"") -> bytes:
    return os.fsencode(path) + (b"/" + name if name else b"")


def after(events: FolderEvents, change: Callable[[], object], *paths: bytes) -> Changes:
    """All that is told until ``paths`` are."""
    change()
    told = Changes()

    def is_told() -> bool:
        nonlocal told
        told |= events.wait(threading.Event())
        return told.paths.issuperset(paths)

    wait_until(is_told, "the change to be told")
    return told


def write(path: bytes) -> None:
    with open(path, "wb") as file:
        file.write(b"text")


def test_only_what_is_in_the_named_folders_is_told(events: FolderEvents, tmp_path: Path) -> None:
    plant(tmp_path, ["f/a.md", "f/ignored/b.md"])
    events.follow([raw(tmp_path / "f")])

    def change() -> None:
        plant(tmp_path, ["f/ignored/b.md", "beside.md", "f/a.md"])

    told = after(events, change, raw(tmp_path, b"f/a.md"))
    assert told.paths == {raw(tmp_path, b"f/a.md")}


def test_what_changes_before_other_folders_are_followed_is_still_told(events: FolderEvents, tmp_path: Path) -> None:
    plant(tmp_path, ["f/a.md", "g/b.md"])
    events.follow([raw(tmp_path / "f")])
    plant(tmp_path, ["f/new.md"])
    events.follow([raw(tmp_path / "g")])
    told = after(events, lambda: plant(tmp_path, ["g/new.md"]), raw(tmp_path, b"f/new.md"), raw(tmp_path, b"g/new.md"))
    assert not told.lost


def test_a_removed_folder_is_told_as_deleted_whatever_takes_its_place(events: FolderEvents, tmp_path: Path) -> None:
    plant(tmp_path, ["f/g/a.md"])
    events.follow([raw(tmp_path / "f")])

    def change() -> None:
        (tmp_path / "f" / "g").rename(tmp_path / "away")
        plant(tmp_path, ["f/g/b.md"])

    assert raw(tmp_path, b"f/g") in after(events, change, raw(tmp_path, b"f/g")).deleted


def test_a_name_that_is_no_text_is_told_and_the_watch_goes_on(events: FolderEvents, tmp_path: Path) -> None:
    name = b'caf\xe9 "quoted"\n\\.md'
    events.follow([raw(tmp_path)])
    told = after(events, lambda: write(raw(tmp_path, name)), raw(tmp_path, name))
    assert told.lost
    told = after(events, lambda: write(raw(tmp_path, b"next.md")), raw(tmp_path, b"next.md"))
    assert not told.lost


def test_a_folder_whose_name_is_no_text_is_watched(events: FolderEvents, tmp_path: Path) -> None:
    folder = raw(tmp_path, b"caf\xe9")
    os.mkdir(folder)
    events.follow([raw(tmp_path), folder])
    told = after(events, lambda: write(folder + b"/a.md"), folder + b"/a.md")
    assert told == Changes(frozenset([folder + b"/a.md"]))


def test_a_folder_that_is_gone_is_left_out(events: FolderEvents, tmp_path: Path) -> None:
    plant(tmp_path, ["f/a.md"])
    events.follow([raw(tmp_path, b"gone"), raw(tmp_path / "f")])
    after(events, lambda: plant(tmp_path, ["f/a.md"]), raw(tmp_path, b"f/a.md"))


def test_what_may_have_been_missed_for_want_of_watches_is_said(
    events: FolderEvents, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    events.follow([raw(tmp_path)])
    real = RustNotify
    calls = 0

    def notify(*arguments: object) -> object:
        nonlocal calls
        calls += 1
        if calls == 1:
            raise OSError("OS file watch limit reached.")
        return real(*arguments)  # type: ignore[arg-type]  # as it was called

    monkeypatch.setattr(folder_events, "RustNotify", notify)
    events.follow([raw(tmp_path)])
    assert events.wait(threading.Event()).lost


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("plain", b"plain"),
        (r"a\xFFb\xfe", b"a\xffb\xfe"),
        (r"q\"q\\x41", b'q"q\\x41'),
        (r"\n\t\r\0\u{7f}\u{301}\'", "\n\t\r\0\x7f\u0301'".encode()),
    ],
)
def test_a_path_written_for_people_is_read_back(text: str, path: bytes) -> None:
    assert unescaped(text) == path
