"""What the watcher makes of changed paths; registry, ledger and queue are the twins in memory."""

import os
import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from docmill.domain.errors import RootUnavailable
from docmill.domain.registry import Lane
from docmill_services.producer import watching
from docmill_services.producer.watching import Watcher
from support.trees import plant
from support.waiting import wait_until
from support.watcher_world import WatcherWorld


class Watched(WatcherWorld):
    """A folder, its watcher, and what is indexed of it."""

    def __init__(self, folder: Path, *roots: Path) -> None:
        self.folder = folder
        self.now = 0.0
        super().__init__(folder, *roots, monotonic=lambda: self.now)

    def take(self, *names: str) -> list[str]:
        """The documents that become live work when these paths change."""
        self.watcher.take([os.fsencode(self.folder / name) for name in names])
        return self.sent()

    def sent(self) -> list[str]:
        messages, self.world.tasks.messages = self.world.tasks.messages, []
        assert all(lane is Lane.LIVE for lane, _ in messages)
        return sorted(message.document_id for _, message in messages)


@pytest.fixture
def watched(tmp_path: Path) -> Watched:
    return Watched(tmp_path)


def test_many_events_of_one_file_are_one_ticket(watched: Watched) -> None:
    plant(watched.folder, ["a.md"])
    assert watched.take("a.md") == ["a.md"]
    assert watched.take("a.md") == []


def test_a_folder_stands_for_what_is_new_in_it_and_what_has_gone_from_it(watched: Watched) -> None:
    plant(watched.folder, ["f/new.md", "f/deep/new.md", "g/other.md"])
    watched.index("f/gone.md", "f/deep/gone.md", "g/gone.md")
    assert watched.take("f") == ["f/deep/gone.md", "f/deep/new.md", "f/gone.md", "f/new.md"]


def test_a_file_where_a_folder_was_takes_the_place_of_all_that_was_in_it(watched: Watched) -> None:
    plant(watched.folder, ["f"])
    watched.index("f/a.md", "f/b/c.md", "fg.md")
    assert watched.take("f") == ["f", "f/a.md", "f/b/c.md"]


def test_a_folder_where_a_file_was_takes_its_place(watched: Watched) -> None:
    plant(watched.folder, ["f/a.md"])
    watched.index("f")
    assert watched.take("f") == ["f", "f/a.md"]


def test_what_is_gone_may_have_been_a_folder(watched: Watched) -> None:
    watched.index("f/a.md", "f/b/c.md", "fg.md")
    assert watched.take("f") == ["f/a.md", "f/b/c.md"]


def test_what_changes_in_an_ignored_folder_is_not_even_looked_up(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(watched.folder, {".gitignore": "build/\n", "build/a.md": "", ".docmill/vectors/x": "", ".git/objects/ab": ""})

    def refuse(*_: object) -> None:
        raise AssertionError("the registry was asked")

    monkeypatch.setattr(watched.world.state.registry, "entries", refuse)
    assert watched.take("build/a.md", "build/gone.md", "build/.gitignore", ".docmill/vectors/x", ".git/objects/ab") == []
    assert watched.passes == 0


@pytest.mark.parametrize("name", [".gitignore", "f/.docmillignore", ".git/info/exclude"])
def test_a_changed_ignore_file_asks_for_a_full_pass(watched: Watched, name: str) -> None:
    plant(watched.folder, {"f/a.md": "", name: "x\n"})
    assert watched.take(name) == []
    assert watched.passes == 1


@pytest.mark.parametrize("names", [[f"{number}.md" for number in range(30)], ["f"]])
def test_very_much_at_once_is_left_to_a_full_pass(watched: Watched, monkeypatch: pytest.MonkeyPatch, names: list[str]) -> None:
    plant(watched.folder, [f"f/{number}.md" for number in range(30)] + [f"{number}.md" for number in range(30)])
    monkeypatch.setattr(watching, "_MOST_DOCUMENTS", 20)
    assert watched.take(*names) == []
    assert watched.passes == 1


def test_a_folder_is_looked_at_a_second_time_since_it_may_have_been_filled_before_it_was_watched(watched: Watched) -> None:
    plant(watched.folder, ["f/a.md"])
    assert watched.take("f") == ["f/a.md"]
    plant(watched.folder, ["f/b.md"])
    watched.now = 5.0
    watched.watcher._take_again(watched.watcher._due())
    assert watched.sent() == ["f/b.md"]
    plant(watched.folder, ["f/c.md"])
    watched.now = 10.0
    watched.watcher._take_again(watched.watcher._due())
    assert watched.sent() == []


def test_a_root_that_went_plans_nothing(tmp_path: Path) -> None:
    watched = Watched(tmp_path, tmp_path / "root")
    watched.index("root/a.md")
    assert watched.take("root") == []


def test_where_no_root_is_there_nothing_can_be_watched(tmp_path: Path) -> None:
    with pytest.raises(RootUnavailable):
        Watched(tmp_path, tmp_path / "missing").watcher.watch(threading.Event())


def watch_in_a_thread(watched: Watched, stopping: threading.Event) -> tuple[threading.Thread, threading.Event]:
    ready = threading.Event()
    thread = threading.Thread(target=watched.watcher.watch, args=(stopping, ready.set))
    thread.start()
    assert ready.wait(10.0)
    return thread, ready


@pytest.fixture
def stopping() -> threading.Event:
    return threading.Event()


def run_watched(watched: Watched, stopping: threading.Event, change: Callable[[], None], until: Callable[[], object]) -> None:
    thread, _ = watch_in_a_thread(watched, stopping)
    try:
        change()
        wait_until(until, "the change to be noticed")
    finally:
        stopping.set()
        thread.join(10.0)
    assert not thread.is_alive()


def test_a_root_that_is_exchanged_ends_the_watch_so_that_it_begins_anew(tmp_path: Path, stopping: threading.Event) -> None:
    root = tmp_path / "root"
    plant(root, ["a.md"])
    thread, _ = watch_in_a_thread(Watched(tmp_path, root), stopping)
    shutil.rmtree(root)
    plant(root, ["a.md"])
    thread.join(10.0)
    assert not thread.is_alive()


def test_a_root_that_is_missing_does_not_keep_the_others_from_being_watched(tmp_path: Path, stopping: threading.Event) -> None:
    plant(tmp_path / "there", ["a.md"])
    watched = Watched(tmp_path, tmp_path / "missing", tmp_path / "there")
    run_watched(watched, stopping, lambda: plant(tmp_path / "there", ["b.md"]), lambda: watched.world.tasks.messages)
    assert watched.sent() == ["there/b.md"]


def test_a_file_that_is_a_root_is_watched_without_all_that_is_beside_it(tmp_path: Path, stopping: threading.Event) -> None:
    plant(tmp_path, ["note.md", "beside/deep/other.md"])
    watched = Watched(tmp_path, tmp_path / "note.md")
    seen: list[bytes] = []
    take = watched.watcher.take

    def take_and_tell(paths: set[bytes]) -> None:
        seen.extend(paths)
        take(paths)

    watched.watcher.__class__ = type("Telling", (Watcher,), {"__slots__": (), "take": lambda self, paths: take_and_tell(set(paths))})

    def change() -> None:
        plant(tmp_path, ["beside/deep/other.md"])
        plant(tmp_path / "new", ["replacement"])
        os.replace(tmp_path / "new" / "replacement", tmp_path / "note.md")

    run_watched(watched, stopping, change, lambda: watched.world.tasks.messages)
    assert watched.sent() == ["note.md"]
    assert not [path for path in seen if b"deep" in path]
