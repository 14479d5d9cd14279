"""``docmill up`` on a part of Python's own library, and the other commands beside it and after it, as a user calls them."""

import json
import shutil
import signal
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from support.index_truth import disagreements, documents_below
from support.running_docmill import PROGRAM, RunningDocmill, docmill, environment, write_configuration

PARTS = ("asyncio", "json", "http", "datetime.py", "_strptime.py", "_pydatetime.py", "calendar.py", "queue.py", "csv.py")


def copy_library(folder: Path) -> None:
    library = Path(sysconfig.get_path("stdlib"))
    for part in PARTS:
        if (library / part).is_dir():
            shutil.copytree(library / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
        elif (library / part).exists():
            shutil.copy(library / part, folder / part)


class Library:
    """A part of Python's library in a folder, and docmill on it."""

    def __init__(self, base: Path) -> None:
        self.docs = base / "lib"
        self.docs.mkdir()
        copy_library(self.docs)
        self.configuration = write_configuration(base / "docmill.yaml", self.docs)
        self.data_dir = base / "data"

    def command(self, *arguments: str | Path) -> "subprocess.CompletedProcess[str]":
        return docmill(*arguments, "--data-dir", self.data_dir, cwd=self.docs.parent)

    def found(self, query: str) -> list[str]:
        answer = self.command("search", query, "--json")
        assert answer.returncode == 0, answer.stderr
        return [result["path"] for result in json.loads(answer.stdout)["results"]]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    return Library(tmp_path_factory.mktemp("library"))


@pytest.fixture(scope="module")
def running(library: Library) -> Iterator[RunningDocmill]:
    with RunningDocmill(library.configuration, library.data_dir) as running:
        running.wait_until(lambda: running.status()["documents"]["live"] > 0, "the first documents")
        yield running
        assert running.stop(signal.SIGINT) == 4


def same_but_time(answer: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in answer.items() if name not in ("took_ms", "freshness")}


def test_searches_are_answered_while_it_is_still_indexing(library: Library, running: RunningDocmill) -> None:
    assert library.command("search", "event loop").returncode == 0


def test_questions_and_identifiers_find_the_files_that_answer_them(library: Library, running: RunningDocmill) -> None:
    running.wait_until_indexed()
    assert {Path(path).name for path in library.found("parse a date from a string")[:5]} & {"datetime.py", "_strptime.py", "_pydatetime.py"}
    assert "lib/asyncio/taskgroups.py" in library.found("asyncio.TaskGroup")[:3]
    assert "lib/json/decoder.py" in library.found("JSONDecodeError")[:3]


def test_search_as_json_is_what_http_answers(library: Library, running: RunningDocmill) -> None:
    answer = library.command("search", "asyncio.TaskGroup", "--json", "--limit", "3")
    assert answer.returncode == 0
    over_http = httpx.post(
        f"{running.url}/v1/knowledge-bases/kb/search",
        json={"query": "asyncio.TaskGroup", "limit": 3, "include_score": True, "explain": False},
        timeout=30,
    ).json()
    assert same_but_time(json.loads(answer.stdout)) == same_but_time(over_http)


def test_status_as_json_is_what_http_answers(library: Library, running: RunningDocmill) -> None:
    running.wait_until_indexed()
    running.wait_until_it_watches()
    answer = library.command("status", "--json")
    assert answer.returncode == 0
    assert json.loads(answer.stdout) == httpx.get(f"{running.url}/v1/knowledge-bases", timeout=30).json()


def test_explain_tells_of_an_indexed_file_and_of_an_ignored_one(library: Library, running: RunningDocmill) -> None:
    (library.docs / ".docmillignore").write_text("# not these\n*.log\n")
    (library.docs / "some.log").write_text("a log\n")
    indexed = json.loads(library.command("explain", library.docs / "datetime.py", "--json").stdout)
    assert (indexed["document_id"], indexed["state"]) == ("lib/datetime.py", "live")
    assert indexed["strategies"]["bm25"]["chunks"] > 0
    ignored = library.command("explain", library.docs / "some.log", "--json")
    assert ignored.returncode == 1
    answer = json.loads(ignored.stdout)
    assert answer["state"] == "skipped"
    assert (answer["rule"]["line"], answer["rule"]["pattern"]) == (2, "*.log")


def test_a_second_up_on_the_same_data_folder_is_refused(library: Library, running: RunningDocmill) -> None:
    second = library.command("up", library.configuration, "--port", "0")
    assert second.returncode == 3
    (line,) = second.stderr.strip().splitlines()
    assert str(running.process.pid) in line
    assert running.url in line
    assert "--data-dir" in line


def test_index_beside_a_running_one_asks_it_for_a_run(library: Library, running: RunningDocmill) -> None:
    running.wait_until_indexed()
    answer = library.command("index", "--json")
    assert answer.returncode == 0, answer.stderr
    run = json.loads(answer.stdout)["kb"]
    assert run["state"] == "complete"
    assert run["counters"]["seen"] > 30
    assert run["counters"].get("embedded", 0) == 0


def test_a_search_that_finds_nothing_says_so_by_its_exit_code(library: Library, running: RunningDocmill) -> None:
    answer = library.command("search", "zyxwvutsrq", "--strategy", "bm25")
    assert answer.returncode == 1
    assert answer.stdout == ""
    assert "no results" in answer.stderr


def test_the_port_of_another_program_is_refused_and_nothing_stays_behind(library: Library, running: RunningDocmill, tmp_path: Path) -> None:
    port = running.url.rpartition(":")[2]
    answer = docmill("up", library.configuration, "--data-dir", tmp_path / "other", "--port", port)
    assert answer.returncode == 3
    assert port in answer.stderr
    assert len(answer.stderr.strip().splitlines()) == 1


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> Library:
    """A small library that was indexed by a docmill that has ended; tests add files of their own."""
    base = tmp_path_factory.mktemp("stopped")
    (base / "lib").mkdir()
    library = Library.__new__(Library)
    library.docs = base / "lib"
    for name in ("first", "second", "third"):
        (library.docs / f"{name}.md").write_text(f"# {name}\n\nThe {name} note.\n")
    library.configuration = write_configuration(base / "docmill.yaml", library.docs)
    library.data_dir = base / "data"
    answer = library.command("index", library.configuration)
    assert answer.returncode == 0, answer.stderr
    return library


def test_without_a_running_one_commands_open_the_data_folder(stopped: Library) -> None:
    assert stopped.found("second")[0] == "lib/second.md"
    assert json.loads(stopped.command("status", "--json").stdout)["knowledge_bases"][0]["documents"]["live"] >= 3
    assert json.loads(stopped.command("explain", stopped.docs / "first.md", "--json").stdout)["state"] == "live"


def test_commands_that_open_the_data_folder_at_once_take_turns(stopped: Library) -> None:
    with ThreadPoolExecutor(2) as threads:
        answers = list(threads.map(lambda _: stopped.command("search", "second"), range(2)))
    assert [answer.returncode for answer in answers] == [0, 0], [answer.stderr for answer in answers]


def test_changes_while_it_was_stopped_are_picked_up_and_a_rename_embeds_nothing(stopped: Library) -> None:
    for name in ("kept", "edited", "removed", "renamed"):
        (stopped.docs / f"{name}.md").write_text(f"# {name}\n\nThe {name} file.\n")
    assert stopped.command("index", stopped.configuration).returncode == 0
    (stopped.docs / "removed.md").unlink()
    (stopped.docs / "renamed.md").rename(stopped.docs / "new name.md")
    (stopped.docs / "edited.md").write_text("# edited\n\nThe edited file, another one.\n")
    answer = stopped.command("index", stopped.configuration, "--json")
    assert answer.returncode == 0, answer.stderr
    counters = json.loads(answer.stdout)["kb"]["counters"]
    assert (counters["removed"], counters["indexed"]) == (2, 2)
    assert (counters["embedded"], counters["reused"]) == (1, 1)  # the edited one, and the renamed one
    nothing = json.loads(stopped.command("index", stopped.configuration, "--json").stdout)["kb"]["counters"]
    assert nothing["seen"] >= 6
    assert nothing.get("indexed", 0) == nothing.get("embedded", 0) == nothing.get("removed", 0) == 0
    assert disagreements(stopped.configuration, stopped.data_dir, documents_below(stopped.docs, stopped.docs.parent)) == []


def test_a_root_that_is_missing_or_empty_removes_nothing(stopped: Library) -> None:
    aside = stopped.docs.with_name("aside")
    stopped.docs.rename(aside)
    missing = stopped.command("index", stopped.configuration)
    assert missing.returncode == 2
    assert str(stopped.docs) in missing.stderr
    stopped.docs.mkdir()
    empty = stopped.command("index", stopped.configuration)
    assert empty.returncode == 3
    assert str(stopped.docs) in empty.stderr
    assert stopped.found("second")[0] == "lib/second.md"
    stopped.docs.rmdir()
    aside.rename(stopped.docs)


def test_a_wish_to_search_where_nothing_was_indexed_is_answered_with_what_to_do(tmp_path: Path) -> None:
    answer = docmill("search", "anything", "--data-dir", tmp_path / "none", cwd=tmp_path)
    assert answer.returncode == 2
    assert "docmill up" in answer.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="takes the right to read everything away from root with setpriv")
@pytest.mark.skipif(shutil.which("setpriv") is None, reason="setpriv is not installed")
def test_a_folder_that_cannot_be_read_keeps_its_documents(stopped: Library) -> None:
    closed = stopped.docs / "closed"
    closed.mkdir()
    (closed / "fourth.md").write_text("# fourth\n\nThe fourth note.\n")
    assert stopped.command("index", stopped.configuration).returncode == 0
    closed.chmod(0)
    try:
        without_rights = ("setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all")
        command = [*without_rights, PROGRAM, "index", stopped.configuration, "--data-dir", stopped.data_dir]
        answer = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=60, check=False)
        assert answer.returncode == 1, answer.stderr
        assert str(closed) in answer.stderr
    finally:
        closed.chmod(0o755)
    assert stopped.found("fourth")[0] == "lib/closed/fourth.md"


def test_a_changed_chunk_size_is_served_without_a_gap_and_leaves_nothing_of_the_old_chunks(stopped: Library) -> None:
    write_configuration(stopped.configuration, stopped.docs, size=500)
    with RunningDocmill(stopped.configuration, stopped.data_dir, "--no-watch", settings={"DOCMILL_GRACE_SECONDS": "1"}) as running:
        before = running.search("second", include_score=True)["freshness"]["index_set"]
        answers = set()

        def served() -> str:
            answers.add(tuple(running.found("second")))
            index_set: str = running.search("second")["freshness"]["index_set"]
            return index_set

        running.wait_until(lambda: served() != before, "the new index set to be served")
        assert answers == {("lib/second.md",)}
        assert running.stop() == 4
    assert disagreements(stopped.configuration, stopped.data_dir, documents_below(stopped.docs, stopped.docs.parent)) == []


def test_a_root_that_goes_and_comes_back_while_it_is_watched_loses_nothing(stopped: Library) -> None:
    aside = stopped.docs.with_name("aside")
    with RunningDocmill(stopped.configuration, stopped.data_dir) as running:
        running.wait_until_it_watches()
        running.wait_until_indexed()
        live = running.status()["documents"]["live"]
        stopped.docs.rename(aside)
        running.wait_until(lambda: not running.status()["watching"], "the loss of the folder to be noticed")
        assert running.status()["documents"]["live"] == live
        assert running.found("second") == ["lib/second.md"]
        (aside / "later.md").write_text("A wombat.\n")
        aside.rename(stopped.docs)
        running.wait_until_found("wombat", ["lib/later.md"])
        running.wait_until_it_watches()
        (stopped.docs / "later.md").write_text("A xerus.\n")
        running.wait_until_found("xerus", ["lib/later.md"])
        assert running.stop() == 4
    assert disagreements(stopped.configuration, stopped.data_dir, documents_below(stopped.docs, stopped.docs.parent)) == []


def test_once_indexes_with_the_default_model_and_ends(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "sea.md").write_text("# Tides\n\nThe moon pulls the water of the oceans towards itself.\n")
    (folder / "bread.md").write_text("# Bread\n\nYeast lets the dough rise before it is baked.\n")
    answer = docmill("up", folder, "--once", "--port", "0", "--data-dir", tmp_path / "data")
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout == ""
    found = docmill("search", "why does the ocean go up and down", "--data-dir", tmp_path / "data", "--json", cwd=tmp_path)
    assert json.loads(found.stdout)["results"][0]["path"] == "sea.md"
    assert disagreements(folder, tmp_path / "data", documents_below(folder, folder)) == []
