"""A real tree that changes under a real watcher; registry, ledger and queue are the twins in memory."""

import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from docmill.indexing.held_removals import FEW_DOCUMENTS
from support.trees import plant
from support.waiting import wait_until
from support.watcher_world import WatcherWorld


class Live(WatcherWorld):
    """A watcher in a thread over ``docs``."""

    def __init__(self, folder: Path) -> None:
        self.docs = folder / "docs"
        super().__init__(folder, self.docs)
        self.sent: set[str] = set()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._ready = threading.Event()

    def start(self) -> None:
        self._thread.start()
        assert self._ready.wait(10.0)

    def stop(self) -> None:
        self._stopping.set()
        self._thread.join(10.0)
        assert not self._thread.is_alive()

    def sends(self, *names: str) -> None:
        """Waits until there is live work for these documents; forgets what there was before."""

        def are_sent() -> bool:
            while self.world.tasks.messages:
                message = self.world.tasks.take()
                self.sent.add(message.document_id)
                attempt = self.world.state.ledger.begin(message, 30)
                if attempt is not None:  # else a newer message of the same document is there
                    self.world.state.ledger.finish(attempt)
            return self.sent.issuperset(names)

        wait_until(are_sent, f"work for {names}")
        self.sent.clear()

    def _watch(self) -> None:
        self.watcher.watch(self._stopping, self._ready.set)


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Live]:
    plant(tmp_path, ["docs/a.md", "docs/f/b.md", "docs/f/g/c.md"])
    live = Live(tmp_path)
    yield live
    live.stop()


def test_files_are_created_edited_replaced_and_removed(live: Live) -> None:
    live.start()
    plant(live.docs, ["new.md"])
    live.sends("docs/new.md")
    live.index("docs/a.md", "docs/f/b.md")
    (live.docs / "a.md").write_text("edited")
    live.sends("docs/a.md")
    plant(live.docs, ["f/b.md.tmp"])
    (live.docs / "f" / "b.md.tmp").replace(live.docs / "f" / "b.md")
    live.sends("docs/f/b.md")
    (live.docs / "a.md").unlink()
    live.sends("docs/a.md")


def test_a_folder_is_moved_in_within_and_out_and_edits_in_it_are_noticed_each_time(live: Live, tmp_path: Path) -> None:
    plant(tmp_path, ["full/1.md", "full/deep/2.md"])
    live.start()
    shutil.move(tmp_path / "full", live.docs / "x")
    live.sends("docs/x/1.md", "docs/x/deep/2.md")
    (live.docs / "x" / "deep" / "2.md").write_text("edited")
    live.sends("docs/x/deep/2.md")
    live.index("docs/x/1.md", "docs/x/deep/2.md")
    (live.docs / "x").rename(live.docs / "y")
    live.sends("docs/x/1.md", "docs/x/deep/2.md", "docs/y/1.md", "docs/y/deep/2.md")
    (live.docs / "y" / "deep" / "2.md").write_text("edited again")
    live.sends("docs/y/deep/2.md")
    live.index("docs/y/1.md", "docs/y/deep/2.md")
    (live.docs / "y").rename(tmp_path / "out")
    live.sends("docs/y/1.md", "docs/y/deep/2.md")


def test_a_folder_whose_parent_is_renamed_is_followed(live: Live) -> None:
    live.start()
    (live.docs / "f").rename(live.docs / "renamed")
    live.sends("docs/renamed/b.md", "docs/renamed/g/c.md")
    plant(live.docs, ["renamed/g/new.md"])
    live.sends("docs/renamed/g/new.md")


def test_folders_born_with_files_and_folders_in_them_are_followed_to_the_bottom(live: Live) -> None:
    live.start()
    names = [f"n/{'d/' * depth}{depth}.md" for depth in range(12)]
    plant(live.docs, names)
    live.sends(*(f"docs/{name}" for name in names))
    (live.docs / names[-1]).write_text("edited")
    live.sends(f"docs/{names[-1]}")


def test_a_folder_in_place_of_a_removed_one_is_followed(live: Live) -> None:
    live.start()
    shutil.rmtree(live.docs / "f")
    plant(live.docs, ["f/g/new.md"])
    live.sends("docs/f/g/new.md")
    plant(live.docs, ["f/g/newer.md"])
    live.sends("docs/f/g/newer.md")


def test_a_file_whose_name_is_no_text_is_noticed_and_a_pass_is_asked_for(live: Live) -> None:
    live.start()
    with open(os.fsencode(live.docs) + b"/f/caf\xe9.md", "wb"):
        pass
    live.sends("docs/f/caf%E9.md")
    wait_until(lambda: live.passes, "a pass")
    plant(live.docs, ["f/after.md"])
    live.sends("docs/f/after.md")


def test_a_folder_whose_name_is_no_text_is_followed(live: Live) -> None:
    live.start()
    folder = os.fsencode(live.docs) + b"/caf\xe9"
    os.mkdir(folder)
    with open(folder + b"/one.md", "wb"):
        pass
    live.sends("docs/caf%E9/one.md")
    with open(folder + b"/two.md", "wb"):
        pass
    live.sends("docs/caf%E9/two.md")


def test_ignored_folders_are_not_watched_and_are_once_they_are_not_ignored(live: Live) -> None:
    plant(live.docs, {".gitignore": "node_modules/\n", "node_modules/deep/x.md": "x"})
    live.start()
    assert not any(b"node_modules" in folder for folder in live.watcher._folders)
    (live.docs / ".gitignore").write_text("")
    wait_until(lambda: live.passes, "a pass")
    (live.docs / "node_modules" / "deep" / "x.md").write_text("edited")
    live.sends("docs/node_modules/deep/x.md")


def test_the_excludes_of_a_repository_are_watched(live: Live) -> None:
    subprocess.run(["git", "init", "-q", live.docs], check=True)
    live.start()
    (live.docs / ".git" / "info" / "exclude").write_text("a.md\n")
    wait_until(lambda: live.passes, "a pass")


class TestMassDeletion:
    @pytest.fixture
    def many(self, live: Live) -> list[str]:
        names = [f"docs/many/{number}.md" for number in range(FEW_DOCUMENTS + 50)]
        plant(live.docs.parent, names)
        live.index(*names)
        return names

    def test_more_than_half_of_all_documents_are_left_to_a_full_pass(self, live: Live, many: list[str], tmp_path: Path) -> None:
        live.start()
        (live.docs / "many").rename(tmp_path / "away")
        wait_until(lambda: live.passes, "a pass")
        assert live.world.tasks.messages == []

    def test_a_folder_that_is_renamed_is_not_left(self, live: Live, many: list[str]) -> None:
        live.start()
        (live.docs / "many").rename(live.docs / "renamed")
        live.sends(*many, *(name.replace("many", "renamed") for name in many))

    def test_less_than_half_goes_at_once(self, live: Live, many: list[str], tmp_path: Path) -> None:
        live.index(*(f"docs/other/{number}.md" for number in range(200)))
        live.start()
        (live.docs / "many").rename(tmp_path / "away")
        live.sends(*many)
