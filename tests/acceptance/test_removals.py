"""What goes while nobody looks is found no more, unless so much goes that somebody has to say so."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from support.running_docmill import RunningDocmill, docmill
from support.trees import plant


class Folder:
    """A configuration over ``docs``, without a model."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.docs = path / "docs"
        self.configure("docs")

    def configure(self, docs: str) -> None:
        (self.path / "docmill.yaml").write_text(f"rag: {{kb: {{docs: [{docs}], strategies: [{{type: bm25, limit: 1000}}]}}}}\n")

    def plant(self, name: str, count: int, word: str) -> None:
        plant(self.docs, {f"{name}/{number}.md": f"{word} number{number}\n" for number in range(count)})

    def run(self, *arguments: str) -> tuple[int, str, str]:
        ended = docmill(*arguments, cwd=self.path, seconds=120)
        return ended.returncode, ended.stdout, ended.stderr

    def index(self) -> tuple[int, str]:
        code, _, said = self.run("index", "docmill.yaml")
        return code, said

    def found(self, word: str) -> int:
        _, said, _ = self.run("search", word, "--limit", "1000", "--json")
        return len({result["path"] for result in json.loads(said)["results"]})

    def status(self) -> dict[str, Any]:
        _, said, _ = self.run("status", "--json")
        (one,) = json.loads(said)["knowledge_bases"]
        return dict(one)


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    folder = Folder(tmp_path)
    folder.plant("large", 160, "elephant")
    folder.plant("small", 140, "mouse")
    assert folder.index()[0] == 0
    return folder


def test_a_folder_that_was_removed_while_nothing_ran_is_not_found_after_one_scan(folder: Folder) -> None:
    shutil.rmtree(folder.docs / "small")
    assert folder.index()[0] == 0
    assert (folder.found("mouse"), folder.found("elephant"), folder.status()["documents"]["live"]) == (0, 160, 160)


def test_a_mass_deletion_waits_says_so_and_goes_once_it_is_approved(folder: Folder) -> None:
    shutil.rmtree(folder.docs / "large")
    code, said = folder.index()
    assert (code, folder.found("elephant")) == (1, 160)
    assert "kb: 160 documents missing and kept" in said
    held = folder.status()["removals_held"]
    assert (held["documents"], held["reason"]) == (160, "160 of 300 documents are missing at once")
    assert folder.run("approve-removals")[1] == "kb: 160 documents will be removed\n"
    assert folder.index()[0] == 0
    assert (folder.found("elephant"), folder.found("mouse"), "removals_held" in folder.status()) == (0, 140, False)
    assert folder.run("approve-removals")[1] == "kb: no removal waits\n"


def test_an_empty_folder_in_place_of_the_root_removes_nothing_however_often_it_is_scanned(folder: Folder) -> None:
    folder.docs.rename(folder.path / "away")
    folder.docs.mkdir()
    for _ in range(2):
        code, said = folder.index()
        assert code == 3
        assert "is empty" in said
    assert (folder.found("elephant"), folder.found("mouse"), folder.status()["removals_held"]["documents"]) == (160, 140, 300)
    folder.docs.rmdir()
    (folder.path / "away").rename(folder.docs)
    assert folder.index()[0] == 0
    assert "removals_held" not in folder.status()


def test_a_root_that_was_taken_out_files_that_are_ignored_now_and_emptied_ones_are_not_found(folder: Folder) -> None:
    folder.configure("docs/large")
    assert folder.index()[0] == 0
    assert (folder.found("mouse"), folder.found("elephant")) == (0, 160)
    plant(folder.docs, {"large/.docmillignore": "1*.md\n"})
    for number in range(20, 30):
        (folder.docs / "large" / f"{number}.md").write_text("")
    assert folder.index()[0] == 0
    kept = [number for number in range(160) if not str(number).startswith("1") and number not in range(20, 30)]
    assert folder.found("elephant") == len(kept)


def test_a_running_docmill_removes_a_mass_deletion_once_it_is_approved(folder: Folder) -> None:
    with RunningDocmill(folder.path / "docmill.yaml", folder.path / ".docmill") as running:
        running.wait_until_it_watches("kb")
        shutil.rmtree(folder.docs / "large")
        running.wait_until(lambda: running.status("kb").get("removals_held"), "the removals to wait")
        assert running.status("kb")["documents"]["live"] == 300
        assert folder.run("approve-removals")[0] == 0
        running.wait_until(lambda: running.status("kb")["documents"]["live"] == 140, "the removals")
