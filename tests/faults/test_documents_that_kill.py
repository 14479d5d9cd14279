"""Documents that kill whoever loads them: each costs one start, is quarantined, and costs no other document anything."""

import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.deadly_contents import HANGS, KILLS, STARTUP
from support.running_docmill import RunningDocmill, children_of, command_of, docmill, write_configuration

SETTINGS = {"PYTHONPATH": str(STARTUP), "DOCMILL_LEASE_SECONDS": "2", "DOCMILL_LEASE_RENEWAL_SECONDS": "0.5"}
QUARANTINED = "quarantined: 3 times in a row the process in which it was worked on alone has ended; the last time "
OTHERS = 49


class Folder:
    """Fifty notes, one of which is deadly, and what docmill makes of them."""

    def __init__(self, base: Path, deadly: bytes) -> None:
        self.notes = base / "notes"
        self.notes.mkdir()
        self.data_dir = base / "data"
        self.configuration = write_configuration(base / "docmill.yaml", self.notes, size=300)
        for number in range(OTHERS):
            (self.notes / f"{number:02}.md").write_text(f"# Note {number}\n\nThe word of this note is {word(number)}.\n")
        self.deadly = self.notes / "25-deadly.md"
        self.deadly.write_bytes(deadly)
        self.deadly_id = "notes/25-deadly.md"

    def docmill(self, *arguments: str) -> RunningDocmill:
        return RunningDocmill(self.configuration, self.data_dir, *arguments, settings=SETTINGS)

    def command(self, verb: str, *arguments: str | Path) -> Any:
        ended = docmill(verb, *arguments, "--data-dir", self.data_dir, "--json", settings=SETTINGS)
        assert ended.stdout, ended.stderr
        return json.loads(ended.stdout)

    def state(self, running: RunningDocmill) -> tuple[str, int]:
        """The state of the deadly document, and how many others are live."""
        document = running.get(f"/kb/documents/{self.deadly_id}")
        return document["state"], running.status()["documents"]["live"]


def word(number: int) -> str:
    return "wordof" + "abcdefghij"[number // 10] + "klmnopqrst"[number % 10]


@pytest.fixture(scope="module")
def quarantined(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Folder, RunningDocmill]]:
    """It was killed by one document, and started again."""
    folder = Folder(tmp_path_factory.mktemp("deadly"), b"# Deadly\n\n" + KILLS)
    with folder.docmill() as first:
        assert first.wait() == -signal.SIGKILL
    with folder.docmill() as running:
        running.wait_until_indexed()
        yield folder, running
        assert running.stop() == 4


def test_a_document_that_kills_its_process_is_quarantined_and_all_others_are_live(quarantined: tuple[Folder, RunningDocmill]) -> None:
    folder, running = quarantined
    documents = running.status()["documents"]
    assert (documents["live"], documents["quarantined"], documents["failed"], documents["pending"]) == (OTHERS, 1, 0, 0)
    explained = folder.command("explain", folder.deadly)
    assert explained["state"] == "quarantined"
    assert explained["reason"].startswith(QUARANTINED + "it was ended by SIGKILL. It is left alone until the file changes")
    (listed,) = running.get("/kb/documents?state=quarantined")["documents"]
    assert (listed["document_id"], listed["reason"]) == (folder.deadly_id, explained["reason"])
    assert running.found(word(7)) == ["notes/07.md"]
    assert running.said.count("document_crashed") == 3


def test_further_runs_leave_it_alone(quarantined: tuple[Folder, RunningDocmill]) -> None:
    folder, running = quarantined
    crashes = running.said.count("document_crashed")
    assert folder.command("index")["kb"]["state"] == "complete"
    assert folder.state(running) == ("quarantined", OTHERS)
    assert running.said.count("document_crashed") == crashes


@pytest.mark.parametrize("named", [True, False])
def test_a_retry_tries_it_again_where_it_harms_nobody(quarantined: tuple[Folder, RunningDocmill], named: bool) -> None:
    folder, running = quarantined
    crashes = running.said.count("document_crashed")
    reply = folder.command("retry", *([folder.deadly] if named else []))["kb"]
    assert reply["documents"] == 1
    assert (reply["run"] is None) is named
    running.wait_until(lambda: running.said.count("document_crashed") == crashes + 3, "three more crashes")
    running.wait_until(lambda: folder.state(running) == ("quarantined", OTHERS), "the quarantine")


def test_a_retry_without_a_running_docmill_is_done_by_the_next_start(quarantined: tuple[Folder, RunningDocmill]) -> None:
    folder, running = quarantined
    assert running.stop() == 4
    assert folder.command("retry")["kb"]["documents"] == 1
    assert folder.command("explain", folder.deadly)["state"] == "failed"
    running.start()
    running.wait_until(lambda: folder.state(running) == ("quarantined", OTHERS), "the quarantine")


def test_a_change_of_the_file_heals_it(quarantined: tuple[Folder, RunningDocmill]) -> None:
    folder, running = quarantined
    running.wait_until_it_watches()
    folder.deadly.write_text("# Harmless\n\nIt says healed.\n")
    running.wait_until_found("healed", [folder.deadly_id])
    assert folder.state(running) == ("live", OTHERS + 1)
    assert running.status()["documents"]["quarantined"] == 0


def test_what_was_live_stays_searchable_while_a_change_is_quarantined(tmp_path: Path) -> None:
    folder = Folder(tmp_path, b"# Harmless\n\nIt says before.\n")
    with folder.docmill() as first:
        first.wait_until_indexed()
        first.wait_until_it_watches()
        folder.deadly.write_bytes(b"# Deadly\n\n" + KILLS)
        assert first.wait() == -signal.SIGKILL
    with folder.docmill() as running:
        running.wait_until(lambda: folder.state(running)[0] == "quarantined", "the quarantine")
        (result,) = running.search("before", strategies=["bm25"], return_full_content=True)["results"]
        assert (result["document_id"], result["stale"]) == (folder.deadly_id, True)
        folder.deadly.unlink()
        running.wait_until(lambda: running.status()["documents"]["quarantined"] == 0, "its removal to be noticed")
        assert running.found("before") == []


def test_a_stop_while_a_document_hangs_alone_is_quick_and_counts_for_nothing(tmp_path: Path) -> None:
    folder = Folder(tmp_path, HANGS)
    with folder.docmill() as first:
        first.wait_until(lambda: first.status()["documents"]["live"] == OTHERS, "the others")
        assert first.stop() == 4
    with folder.docmill() as second:  # an orderly stop made no suspect
        second.wait_until(lambda: in_work(second) == 1, "the document to be in work")
        assert not isolated(second)
        second.kill()
    for _ in range(2):
        with folder.docmill() as running:
            running.wait_until(lambda: isolated(running), "the document to be alone")
            assert running.stop() == 4
            assert "document_crashed" not in running.said
    folder.deadly.write_text("# Harmless\n")
    with folder.docmill("--once") as last:
        assert last.wait() == 0


def in_work(running: RunningDocmill) -> int:
    """How many documents are in work, once the run has planned everything."""
    status = running.status()
    return int(status["documents"]["pending"]) if status["run"]["state"] == "indexing" else 0


def isolated(running: RunningDocmill) -> bool:
    """Whether a document is alone in a process."""
    return any("docmill.adapters.isolation" in command_of(pid) for pid in children_of(running.process.pid))
