"""Whether what went at once is removed, or waits since a mount may be missing."""

import shutil
from pathlib import Path

import pytest

from docmill.domain.runs import RunState
from support.scanned_world import ScannedWorld, let_files_be_old
from support.trees import bm25, knowledge_base, plant


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """150 files in one folder, 100 in another."""
    docs = tmp_path / "docs"
    plant(docs, [f"large/{number}.md" for number in range(150)] + [f"small/{number}.md" for number in range(100)])
    return docs


@pytest.fixture
def world(docs: Path) -> ScannedWorld:
    world = ScannedWorld(docs.parent, docs)
    world.run()
    assert len(world.known()) == 250
    return world


def test_a_folder_with_less_than_half_of_the_documents_is_gone_after_one_scan(world: ScannedWorld, docs: Path) -> None:
    shutil.rmtree(docs / "small")
    run = world.run()
    assert (len(world.known()), run.counters["removed"], world.held()) == (150, 100, None)


def test_more_than_half_of_the_documents_wait_and_additions_go_ahead(world: ScannedWorld, docs: Path) -> None:
    shutil.rmtree(docs / "large")
    plant(docs, ["new.md"])
    run = world.run()
    held = world.held()
    assert held is not None
    assert (held.documents, held.reason) == (150, "150 of 250 documents are missing at once")
    assert (len(world.known()), run.state, run.counters["removals_held"]) == (251, RunState.COMPLETE, 150)


def test_a_hundred_documents_may_go_whatever_share_they_are(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    plant(docs, [f"all/{number}.md" for number in range(100)] + ["other.md"])
    world = ScannedWorld(tmp_path, docs)
    world.run()
    shutil.rmtree(docs / "all")
    world.run()
    assert world.known() == ["docs/other.md"]


def test_a_scan_a_minute_later_confirms_that_they_are_gone(world: ScannedWorld, docs: Path) -> None:
    shutil.rmtree(docs / "large")
    world.run()
    world.run(later_seconds=30)
    assert len(world.known()) == 250
    world.run(later_seconds=40)
    assert (len(world.known()), world.held()) == (100, None)


def test_a_scan_that_a_person_asked_for_confirms_it_at_once(world: ScannedWorld, docs: Path) -> None:
    shutil.rmtree(docs / "large")
    world.run(asked=True)
    assert len(world.known()) == 250
    world.run(asked=True)
    assert len(world.known()) == 100


def test_files_that_come_back_are_nothing_that_waits(world: ScannedWorld, docs: Path) -> None:
    (docs / "large").rename(docs.parent / "away")
    world.run()
    (docs.parent / "away").rename(docs / "large")
    world.run(later_seconds=100)
    assert (len(world.known()), world.held()) == (250, None)


def test_many_more_missing_than_before_wait_anew(world: ScannedWorld, docs: Path) -> None:
    plant(docs, [f"third/{number}.md" for number in range(200)])
    world.run()
    shutil.rmtree(docs / "large")
    shutil.rmtree(docs / "small")
    world.run()
    shutil.rmtree(docs / "third")
    plant(docs, ["kept.md"])
    world.run(later_seconds=100)
    held = world.held()
    assert held is not None
    assert (held.lost, len(world.known())) == (450, 451)


def test_approved_removals_are_carried_out(world: ScannedWorld, docs: Path) -> None:
    shutil.rmtree(docs / "large")
    world.run()
    world.approve()
    world.run()
    assert (len(world.known()), world.held()) == (100, None)


def test_an_approval_holds_for_what_was_missing_then(world: ScannedWorld, docs: Path) -> None:
    plant(docs, [f"third/{number}.md" for number in range(200)])
    world.run()
    shutil.rmtree(docs / "large")
    shutil.rmtree(docs / "small")
    world.run()
    world.approve()
    shutil.rmtree(docs / "third")
    plant(docs, ["kept.md"])
    world.run()
    assert len(world.known()) == 451
    world.run(later_seconds=10)
    assert len(world.known()) == 451


def test_a_folder_that_was_renamed_is_no_mass_deletion(world: ScannedWorld, docs: Path) -> None:
    (docs / "large").rename(docs / "renamed")
    world.run()
    assert [one for one in world.known() if "/large/" in one] == []
    assert len(world.known()) == 250


def test_files_that_were_each_renamed_are_no_mass_deletion(docs: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    let_files_be_old(monkeypatch)
    world = ScannedWorld(tmp_path, docs)
    world.run()
    for path in list((docs / "large").iterdir()):
        path.rename(path.with_name(f"renamed {path.name}"))
    world.run()
    assert len([one for one in world.known() if "renamed" in one]) == 150
    assert len(world.known()) == 250


def test_one_new_file_does_not_account_for_many_lost_ones_of_its_name(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    plant(docs, {f"{number}/index.md": "same" for number in range(150)} | {"other.md": "other"})
    world = ScannedWorld(tmp_path, docs)
    world.run()
    for number in range(150):
        shutil.rmtree(docs / str(number))
    plant(docs, {"new/index.md": "same"})
    world.run()
    assert len(world.known()) == 152


def test_files_that_are_ignored_now_go_at_once(world: ScannedWorld, docs: Path) -> None:
    plant(docs, {".gitignore": "large/\n"})
    world.run()
    assert (len([one for one in world.known() if "large" in one]), world.held()) == (0, None)


def test_a_root_that_was_taken_out_of_the_configuration_goes_at_once(world: ScannedWorld, docs: Path) -> None:
    world.use(knowledge_base(docs.parent, docs / "small", strategies=(bm25("words"),)))
    world.run()
    assert (len(world.known()), world.held()) == (100, None)
    shutil.rmtree(docs / "large")
    world.run()
    assert len(world.known()) == 100


def test_files_edited_to_nothing_stay_as_empty_documents(world: ScannedWorld, docs: Path) -> None:
    for path in (docs / "large").iterdir():
        path.write_text("")
    run = world.run()
    assert (run.counters["empty"], len(world.known()), world.held()) == (150, 250, None)


class TestRootsThatAreNotThere:
    @pytest.fixture
    def world(self, docs: Path) -> ScannedWorld:
        world = ScannedWorld(docs.parent, docs / "large", docs / "small")
        world.run()
        return world

    @pytest.mark.parametrize("leaves_a_folder", [True, False], ids=["empty", "missing"])
    def test_what_they_held_waits_however_often_they_are_missed(self, world: ScannedWorld, docs: Path, leaves_a_folder: bool) -> None:
        (docs / "small").rename(docs.parent / "away")
        if leaves_a_folder:
            (docs / "small").mkdir()
        for _ in range(3):
            run = world.run(asked=True, later_seconds=1000)
        held = world.held()
        assert held is not None
        assert (len(world.known()), run.state, held.documents, held.roots) == (250, RunState.COMPLETE_WITH_ERRORS, 100, ("docs/small",))
        assert "docs/small" in held.reason

    def test_what_they_held_goes_once_that_is_approved(self, world: ScannedWorld, docs: Path) -> None:
        shutil.rmtree(docs / "large")
        (docs / "large").mkdir()
        world.run()
        world.approve()
        world.run()
        assert (len(world.known()), world.held()) == (100, None)
        plant(docs, ["large/again.md"])
        world.run()
        assert len(world.known()) == 101

    def test_the_only_root_that_is_gone_for_good_can_be_approved(self, tmp_path: Path) -> None:
        plant(tmp_path, ["docs/a.md", "other.txt"])
        world = ScannedWorld(tmp_path, tmp_path / "docs")
        world.run()
        shutil.rmtree(tmp_path / "docs")
        run = world.run()
        assert (run.state, run.counters["removals_held"]) == (RunState.FAILED, 1)
        assert run.error.startswith("root.unavailable: ")
        world.approve()
        assert (world.run().state, world.known()) == (RunState.COMPLETE, [])

    def test_a_file_that_is_a_root_is_gone_when_its_folder_is_there(self, tmp_path: Path) -> None:
        plant(tmp_path, ["docs/a.md", "docs/b.md"])
        world = ScannedWorld(tmp_path, tmp_path / "docs" / "a.md", tmp_path / "docs" / "b.md")
        world.run()
        (tmp_path / "docs" / "b.md").unlink()
        world.run()
        assert (world.known(), world.held()) == (["docs/a.md"], None)

    def test_a_file_that_is_a_root_waits_when_its_folder_is_empty_too(self, tmp_path: Path) -> None:
        plant(tmp_path, ["mount/a.md", "docs/b.md"])
        world = ScannedWorld(tmp_path, tmp_path / "mount" / "a.md", tmp_path / "docs")
        world.run()
        (tmp_path / "mount" / "a.md").unlink()
        world.run()
        assert world.known() == ["docs/b.md", "mount/a.md"]
