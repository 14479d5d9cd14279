"""Documents that kill whoever loads them: each costs at most one start, is quarantined, and costs nobody else anything."""

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.deadly_contents import HANGS, KILLS, STARTUP
from support.index_truth import disagreements
from support.running_docmill import RunningDocmill, docmill, write_configuration

SETTINGS = {"PYTHONPATH": str(STARTUP), "DOCMILL_LEASE_SECONDS": "2", "DOCMILL_LEASE_RENEWAL_SECONDS": "0.5"}
QUARANTINED = "quarantined: 3 times in a row the process in which it was worked on alone has ended; the last time "


class Folder:
    """Fifty notes, one of which may be deadly, and what docmill makes of them."""

    def __init__(self, base: Path) -> None:
        self.notes = base / "notes"
        self.notes.mkdir()
        self.data_dir = base / "data"
        self.configuration = write_configuration(base / "docmill.yaml", self.notes, size=300)
        for number in range(49):
            (self.notes / f"{number:02}.md").write_text(f"# Note {number}\n\nThe word of this note is unique{number}.\n")
        self.deadly = self.notes / "25-deadly.md"
        self.deadly_id = "notes/25-deadly.md"

    def docmill(self, *arguments: str) -> RunningDocmill:
        return RunningDocmill(self.configuration, self.data_dir, *arguments, settings=SETTINGS)

    def command(self, verb: str, *arguments: str | Path) -> Any:
        ended = docmill(verb, *arguments, "--data-dir", self.data_dir, "--json", settings=SETTINGS)
        assert not ended.stderr, ended.stderr
        return json.loads(ended.stdout)

    def state(self) -> str:
        found: str = self.command("explain", self.deadly)["state"]
        return found


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


@pytest.fixture
def quarantined(folder: Folder) -> Iterator[tuple[Folder, RunningDocmill]]:
    """It was killed by one document, and started again."""
    folder.deadly.write_bytes(b"# Deadly\n\n" + KILLS)
    with folder.docmill() as first:
        assert first.wait() == -signal.SIGKILL
    with folder.docmill() as running:
        running.wait_until_indexed()
        yield folder, running
        assert running.stop() == 4


def test_a_document_that_kills_its_process_is_quarantined_and_all_others_are_live(quarantined: tuple[Folder, RunningDocmill]) -> None:
    folder, running = quarantined
    documents = running.status()["documents"]
    assert (documents["live"], documents["quarantined"], documents["failed"], documents["pending"]) == (49, 1, 0, 0)
    explained = folder.command("explain", folder.deadly)
    assert explained["state"] == "quarantined"
    assert explained["reason"].startswith(QUARANTINED + "it was ended by SIGKILL. It is left alone until the file changes")
    (listed,) = running.get("/kb/documents?state=quarantined")["documents"]
    assert (listed["document_id"], listed["reason"]) == (folder.deadly_id, explained["reason"])
    assert running.found("unique7") == ["notes/07.md"]


def test_a_quarantined_document_is_left_alone_by_further_runs_and_starts(quarantined: tuple[Folder, RunningDocmill]) -> None:
    folder, running = quarantined
    ran = folder.command("index")["kb"]
    assert (ran["state"], ran["counters"].get("failed.quarantined", 0)) == ("complete", 0)
    assert folder.state() == "quarantined"
    assert running.stop() == 4
    running.start()
    running.wait_until_indexed()
    assert folder.state() == "quarantined"


def test_a_change_of_the_file_heals_it(quarantined: tuple[Folder, RunningDocmill]) -> None:
    folder, running = quarantined
    running.wait_until_it_watches()
    folder.deadly.write_text("# Harmless\n\nIt says healed.\n")
    running.wait_until_found("healed", [folder.deadly_id])
    assert folder.command("explain", folder.deadly)["state"] == "live"
    assert running.status()["documents"]["quarantined"] == 0


def test_its_removal_is_noticed(quarantined: tuple[Folder, RunningDocmill]) -> None:
    folder, running = quarantined
    running.wait_until_it_watches()
    folder.deadly.unlink()
    running.wait_until(lambda: running.status()["documents"]["quarantined"] == 0, "the document to go")


@pytest.mark.parametrize("named", [True, False])
def test_a_retry_tries_it_again_where_it_harms_nobody(quarantined: tuple[Folder, RunningDocmill], named: bool) -> None:
    folder, running = quarantined
    reply = folder.command("retry", *([folder.deadly] if named else []))["kb"]
    assert reply["documents"] == 1
    assert (reply["run"] is None) is named
    running.wait_until(lambda: running.said.count("document_crashed") == 6, "three more crashes")
    running.wait_until(lambda: folder.state() == "quarantined", "the quarantine")
    assert running.status()["documents"]["live"] == 49


def test_a_retry_without_a_running_docmill_is_done_by_the_next_start(quarantined: tuple[Folder, RunningDocmill]) -> None:
    folder, running = quarantined
    assert running.stop() == 4
    assert folder.command("retry")["kb"]["documents"] == 1
    assert folder.state() == "failed"
    running.start()
    running.wait_until_indexed()
    running.wait_until(lambda: folder.state() == "quarantined", "the quarantine")


def test_what_was_live_stays_searchable_while_a_change_is_quarantined(folder: Folder) -> None:
    folder.deadly.write_text("# Harmless\n\nIt says before.\n")
    with folder.docmill() as first:
        first.wait_until_it_watches()
        first.wait_until_found("before", [folder.deadly_id])
        folder.deadly.write_bytes(b"# Deadly\n\n" + KILLS)
        assert first.wait() == -signal.SIGKILL
    with folder.docmill() as running:
        running.wait_until_indexed()
        assert folder.state() == "quarantined"
        (result,) = running.search("before", strategies=["bm25"], return_full_content=True)["results"]
        assert (result["document_id"], result["stale"]) == (folder.deadly_id, True)


def test_neighbours_that_were_in_work_are_innocent_after_one_attempt(folder: Folder) -> None:
    folder.deadly.write_bytes(KILLS)
    with folder.docmill() as first:
        assert first.wait() == -signal.SIGKILL
    folder.deadly.unlink()
    with folder.docmill("--once") as second:
        assert second.wait() == 0
        assert "document_crashed" not in second.said
    paths = sorted(folder.notes.iterdir())
    truth = {f"notes/{path.name}": path.read_bytes() for path in paths}
    assert len(truth) == 49
    with folder.docmill("--no-watch") as running:
        assert running.wait_until_indexed()["documents"]["live"] == 49


def test_a_stop_while_a_document_hangs_alone_is_quick_and_counts_for_nothing(folder: Folder) -> None:
    folder.deadly.write_bytes(HANGS)
    with folder.docmill() as first:
        first.wait_until(lambda: first.status()["documents"]["live"] == 49, "the others")
        first.kill()
    for _ in range(4):
        with folder.docmill() as running:
            running.child("docmill.adapters.isolation")
            assert running.stop() == 4
            assert "document_crashed" not in running.said
    folder.deadly.write_text("# Harmless\n")
    with folder.docmill("--once") as last:
        assert last.wait() == 0


def test_orderly_stops_make_no_suspects(folder: Folder) -> None:
    folder.deadly.write_bytes(HANGS)
    for _ in range(2):
        with folder.docmill() as running:
            running.wait_until(lambda: running.status()["documents"]["live"] == 49, "the others")
            assert running.stop() == 4
    with folder.docmill() as running:
        running.wait_until(lambda: running.status()["documents"]["pending"] == 1, "the document to be in work")
        assert not any("isolation" in command for command in commands_of_children(running))
        assert running.stop() == 4


def commands_of_children(running: RunningDocmill) -> list[str]:
    from support.running_docmill import children_of, command_of

    return [command_of(pid) for pid in children_of(running.process.pid)]
