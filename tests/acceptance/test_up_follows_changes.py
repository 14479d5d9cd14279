"""A running ``docmill up`` and the files it watches: what a user does to files shows in the answers."""

import os
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from support.index_truth import disagreements, documents_below
from support.running_docmill import RunningDocmill, write_configuration


def numbered(word: str, number: int) -> str:
    """A word of letters alone for each number: digits would be words of their own."""
    return word + "".join("abcdefghij"[int(digit)] for digit in str(number)) + "x"


PARAGRAPH = "The {word} is described here, sentence after sentence, so that a chunk is full and the next one begins. "


class World:
    """One docmill over one folder; each test uses words and a sub-folder of its own."""

    def __init__(self, base: Path) -> None:
        self.docs = base / "docs"
        self.outside = base / "outside"
        self.outside.mkdir()
        (self.docs / "seed").mkdir(parents=True)
        (self.docs / "seed" / "first.md").write_text("# Seed\n\nThe seedling stands here from the start.\n")
        self.configuration = write_configuration(base / "docmill.yaml", self.docs, size=300)
        self.data_dir = base / "data"
        self.running = RunningDocmill(self.configuration, self.data_dir)

    def write(self, name: str, text: str) -> Path:
        path = self.docs / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def finds(self, word: str, *names: str) -> None:
        """Waits until a search for ``word`` finds exactly the documents at these paths."""
        self.running.wait_until_found(word, [f"docs/{name}" for name in names])


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    world = World(tmp_path_factory.mktemp("world"))
    with world.running:
        world.running.wait_until_it_watches()
        world.running.wait_until_indexed()
        yield world
        assert world.running.stop() == 4
        expected = documents_below(world.docs, world.docs.parent)
        kept = {name: content for name, content in expected.items() if "/hidden/" not in name}
        assert disagreements(world.configuration, world.data_dir, kept) == []


def test_a_new_file_is_found(world: World) -> None:
    world.write("new/a.md", "An armadillo.\n")
    world.finds("armadillo", "new/a.md")


def test_an_edit_replaces_what_was_found_before(world: World) -> None:
    world.write("edit/a.md", "A badger.\n")
    world.finds("badger", "edit/a.md")
    world.write("edit/a.md", "A capybara.\n")
    world.finds("capybara", "edit/a.md")
    world.finds("badger")


def test_an_edit_that_keeps_the_length_is_found(world: World) -> None:
    path = world.write("edit/same.md", "A dingofirst.\n")
    world.finds("dingofirst", "edit/same.md")
    path.write_text("A dingoother.\n")
    world.finds("dingoother", "edit/same.md")
    world.finds("dingofirst")


def test_a_renamed_file_is_found_under_its_new_name_only(world: World) -> None:
    path = world.write("rename/old.md", "An echidna.\n")
    world.finds("echidna", "rename/old.md")
    path.rename(path.with_name("new.md"))
    world.finds("echidna", "rename/new.md")


def test_a_deleted_file_is_found_no_more(world: World) -> None:
    path = world.write("delete/a.md", "A falcon.\n")
    world.finds("falcon", "delete/a.md")
    path.unlink()
    world.finds("falcon")


def test_a_folder_that_is_moved_in_is_found_with_all_that_is_in_it(world: World) -> None:
    for name in ("a.md", "deep/er/b.md"):
        path = world.outside / "gibbons" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("A gibbon.\n")
    (world.outside / "gibbons").rename(world.docs / "moved_in")
    world.finds("gibbon", "moved_in/a.md", "moved_in/deep/er/b.md")


def test_a_folder_that_is_moved_out_is_found_no_more(world: World) -> None:
    world.write("leaving/a.md", "A heron.\n")
    world.write("leaving/deep/er/b.md", "A heron.\n")
    world.write("leaving_not/c.md", "A heron.\n")
    world.finds("heron", "leaving/a.md", "leaving/deep/er/b.md", "leaving_not/c.md")
    (world.docs / "leaving").rename(world.outside / "left")
    world.finds("heron", "leaving_not/c.md")


def test_a_renamed_folder_takes_its_documents_along(world: World) -> None:
    world.write("before/deep/a.md", "An ibis.\n")
    world.finds("ibis", "before/deep/a.md")
    (world.docs / "before").rename(world.docs / "after")
    world.finds("ibis", "after/deep/a.md")


def test_a_file_becomes_a_folder_and_a_folder_becomes_a_file(world: World) -> None:
    world.write("kind/file", "A jackal.\n")
    world.write("kind/folder/a.md", "A kestrel.\n")
    world.finds("jackal", "kind/file")
    world.finds("kestrel", "kind/folder/a.md")
    (world.docs / "kind" / "file").unlink()
    shutil.rmtree(world.docs / "kind" / "folder")
    world.write("kind/file/a.md", "A jackal.\n")
    world.write("kind/folder", "A kestrel.\n")
    world.finds("jackal", "kind/file/a.md")
    world.finds("kestrel", "kind/folder")


def test_a_file_that_is_emptied_is_found_no_more_and_counts_as_empty(world: World) -> None:
    path = world.write("empty/a.md", "A lemur.\n")
    world.finds("lemur", "empty/a.md")
    path.write_text("")
    world.finds("lemur")
    document = world.running.get("/kb/documents/docs%2Fempty%2Fa.md")
    assert document["state"] == "empty"


def test_a_file_that_shrinks_leaves_no_chunk_behind(world: World) -> None:
    path = world.write("shrink/a.md", "".join(PARAGRAPH.format(word=numbered("marmot", number)) + "\n\n" for number in range(40)))
    world.finds(numbered("marmot", 39), "shrink/a.md")
    path.write_text(PARAGRAPH.format(word=numbered("marmot", 0)))
    world.finds(numbered("marmot", 39))
    world.finds(numbered("marmot", 0), "shrink/a.md")


def test_identical_files_are_each_found_and_each_removed_alone(world: World) -> None:
    paths = [world.write(f"twins/{number}.md", "A narwhal.\n") for number in range(3)]
    world.finds("narwhal", "twins/0.md", "twins/1.md", "twins/2.md")
    paths[1].unlink()
    world.finds("narwhal", "twins/0.md", "twins/2.md")


def test_a_file_saved_many_times_ends_at_its_last_version(world: World) -> None:
    for number in range(200):
        world.write("often/a.md", f"An {numbered('ocelot', number)}.\n")
    world.finds(numbered("ocelot", 199), "often/a.md")
    world.finds(numbered("ocelot", 198))


def test_atomic_saves_never_hide_a_document_from_a_reader(world: World) -> None:
    path = world.write("atomic/a.md", "A pangolin, version 0.\n")
    world.finds("pangolin", "atomic/a.md")
    misses: list[str] = []
    done = threading.Event()
    url = f"{world.running.url}/v1/knowledge-bases/kb/search"

    def read() -> None:
        with httpx.Client(timeout=30) as client:
            while not done.is_set():
                answer = client.post(url, json={"query": "pangolin"}).json()
                found = [result["text"] for result in answer["results"] if result["document_id"] == "docs/atomic/a.md"]
                if len(found) != 1:
                    misses.append(str(answer))

    reader = threading.Thread(target=read)
    reader.start()
    try:
        for number in range(1, 16):
            temporary = path.with_suffix(".tmp")
            temporary.write_text(f"A pangolin, version {number}, called {numbered('quokka', number)}.\n")
            os.replace(temporary, path)
            if number % 5 == 0:
                world.finds(numbered("quokka", number), "atomic/a.md")
    finally:
        done.set()
        reader.join()
    assert misses == []


def test_a_changed_gitignore_hides_and_shows_documents(world: World) -> None:
    world.write("rules/hidden/a.md", "A raccoon.\n")
    world.write("rules/shown.md", "A raccoon.\n")
    world.finds("raccoon", "rules/hidden/a.md", "rules/shown.md")
    rules = world.write("rules/.gitignore", "hidden/\n")
    world.finds("raccoon", "rules/shown.md")
    rules.write_text("shown.md\n")
    world.finds("raccoon", "rules/hidden/a.md")
    rules.write_text("hidden/\n")
    world.finds("raccoon", "rules/shown.md")


def test_names_with_odd_characters_are_documents(world: World) -> None:
    for name in ("odd/with space.md", "odd/ünï.md", "odd/100%.md", "odd/#hash?.md"):
        world.write(name, "A salamander.\n")
    world.finds("salamander", "odd/with space.md", "odd/ünï.md", "odd/100%.md", "odd/#hash?.md")


def many_files(world: World) -> None:
    for number in range(300):
        world.write(f"many/{number % 10}/{number}.md", f"A {numbered('tapir', number)}.\n")


def copied_tree(world: World) -> None:
    for number in range(300):
        path = world.outside / "tapirs" / f"{number % 10}" / f"{number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"A {numbered('tapir', number + 1000)}.\n")
    shutil.copytree(world.outside / "tapirs", world.docs / "copied")


@pytest.mark.parametrize(("make", "first", "last"), [(many_files, 0, 299), (copied_tree, 1000, 1299)])
def test_many_files_at_once_are_all_found(world: World, make: Callable[[World], None], first: int, last: int) -> None:
    live = world.running.status()["documents"]["live"]
    make(world)
    world.running.wait_until(lambda: world.running.status()["documents"]["live"] >= live + 300, "300 more documents")
    assert len(world.running.found(numbered("tapir", first))) == 1
    assert len(world.running.found(numbered("tapir", last))) == 1


def test_scans_are_as_far_apart_as_the_setting_says(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("An axolotl.\n")
    configuration = write_configuration(tmp_path / "docmill.yaml", tmp_path / "docs")
    with RunningDocmill(configuration, tmp_path / "data", settings={"DOCMILL_SCAN_INTERVAL_SECONDS": "1"}) as running:
        running.wait_until_it_watches()
        seen: set[str] = set()

        def again_and_again() -> bool:
            run = running.status()["run"]
            seen.add(run["id"] if run is not None else "")
            return len(seen - {""}) >= 4  # the first one, and one more for what changed before it watched, come without a scan being due

        running.wait_until(again_and_again, "scans that nobody asked for")
        assert running.stop() == 4
