"""Data folders and configurations that cannot be used: one line that says what, where and what to do; what was indexed is kept."""

import json
import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

import pytest

from support.one_line import one_line, run_each
from support.running_docmill import RunningDocmill, write_configuration
from support.waiting import wait_until

#: Runs a program as root without root's right to read and write everything.
UNPRIVILEGED: Final = ("setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-dac_override,-dac_read_search")
may_drop_rights = pytest.mark.skipif(os.geteuid() == 0 and shutil.which("setpriv") is None, reason="root, and setpriv is not installed")


class Place:
    """A folder with two documents, a configuration of it, and a data folder ``data`` into which they were indexed."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.docs = base / "docs"
        self.data = base / "data"

    def run(self, *calls: Sequence[str]) -> "list[subprocess.CompletedProcess[str]]":
        """Runs each call on the data folder."""
        return run_each([[*call, "--data-dir", "data"] for call in calls], self.base)

    def refusal(self, code: int, *call: str) -> str:
        """What a call says that is refused with ``code``."""
        (done,) = self.run(call)
        assert (done.returncode, done.stdout) == (code, ""), done.stderr
        return one_line(done)

    def found(self, query: str) -> list[str]:
        """The documents that a search finds by words."""
        (done,) = self.run(("search", query, "--strategy", "bm25", "--json"))
        assert done.stderr == ""
        return [result["path"] for result in json.loads(done.stdout)["results"]]

    def index(self, code: int = 0) -> str:
        """Indexes; returns what that said."""
        (done,) = self.run(("index", "docmill.yaml"))
        assert done.returncode == code, done.stderr
        return done.stderr


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Place:
    place = Place(tmp_path_factory.mktemp("indexed"))
    place.docs.mkdir()
    (place.docs / "a.md").write_text("# Apple\n\napple pie\n", encoding="utf-8")
    (place.docs / "b.md").write_text("# Zebra\n\nzebra crossing\n", encoding="utf-8")
    write_configuration(place.base / "docmill.yaml", Path("docs"))
    place.index()
    return place


@pytest.fixture
def place(indexed: Place, tmp_path: Path) -> Place:
    """A copy that a test may damage."""
    copied = Place(tmp_path / "place")
    shutil.copytree(indexed.base, copied.base)
    origin = copied.data / "origin.json"
    origin.write_text(origin.read_text(encoding="utf-8").replace(str(indexed.base), str(copied.base)), encoding="utf-8")
    return copied


def test_a_data_folder_of_a_newer_version_is_refused_by_every_verb_and_kept(place: Place) -> None:
    (place.data / "format.json").write_text('{"format": 99}', encoding="utf-8")
    verbs = [("up", "docmill.yaml"), ("index", "docmill.yaml"), ("search", "apple"), ("status",), ("explain", "docs/a.md")]
    for done in place.run(*verbs):
        assert done.returncode == 2
        assert "has format 99, and this version of docmill knows formats up to 1: use the newer version" in one_line(done)
    (doctor,) = place.run(("doctor", "--json"))
    (finding,) = [one for one in json.loads(doctor.stdout)["findings"] if one["check"] == "data folder"]
    assert (doctor.returncode, finding["state"]) == (1, "failed")
    (place.data / "format.json").write_text('{"format": 1}', encoding="utf-8")
    assert place.found("apple") == ["docs/a.md"]


def test_an_index_of_other_dimensions_is_refused(place: Place) -> None:
    (settings,) = (place.data / "vectors").glob("*/index.json")
    settings.write_text(settings.read_text(encoding="utf-8").replace("256", "8"), encoding="utf-8")
    says = place.refusal(2, "index", "docmill.yaml")
    assert "has 8 dimensions, not the 256 that its configuration says; use another --data-dir, or remove this one" in says


def test_another_model_makes_another_index_and_the_old_one_answers_until_then(place: Place) -> None:
    text = (place.base / "docmill.yaml").read_text(encoding="utf-8")
    (place.base / "docmill.yaml").write_text(text.replace("local/wordllama-256", "local/all-minilm-l6-v2"), encoding="utf-8")
    assert place.found("apple") == ["docs/a.md"]
    assert "2 indexed" in place.index()
    assert place.found("apple") == ["docs/a.md"]
    assert len(list((place.data / "vectors").glob("*/index.json"))) in (1, 2)


@pytest.mark.parametrize(
    ("file", "content", "says"),
    [
        ("format.json", "{", "format.json is broken"),
        ("format.json", "[]", "format.json is broken"),
        ("origin.json", "{", "origin.json cannot be read (it is damaged): name the folder or the configuration once more"),
        ("origin.json", "[1]", "origin.json cannot be read"),
        ("origin.json", '{"config": 5, "name": []}', "origin.json cannot be read"),
        ("origin.json", '{"config": "/no/such.yaml"}', "/no/such.yaml: there is no such file"),
        ("vectors/identity.json", "{", "identity.json is damaged"),
        ("lexical/identity.json", "{}", "identity.json is damaged"),
        ("vectors/*/index.json", "{", "index.json is damaged"),
        ("vectors/*/index.json", "{}", "index.json is damaged"),
        ("lexical/*/shard/edge_config.json", "x", "to index everything again"),
        ("valkey/appendonlydir/*.manifest", "x", "cannot read its append-only file"),
    ],
)
def test_a_damaged_file_is_named(place: Place, file: str, content: str, says: str) -> None:
    (path,) = place.data.glob(file)
    path.write_text(content, encoding="utf-8")
    assert says in place.refusal(2, "search", "apple")


@pytest.mark.parametrize("content", ['{"pid": 1, "url": "http://127.0.0.1:9"}', "{", "", "[]"])
def test_what_a_dead_process_announced_is_not_believed(place: Place, content: str) -> None:
    (place.data / "server.json").write_text(content, encoding="utf-8")
    assert place.found("apple") == ["docs/a.md"]


def test_a_damaged_origin_is_made_good_by_naming_the_configuration(place: Place) -> None:
    (place.data / "origin.json").write_text("{", encoding="utf-8")
    place.index()
    assert place.found("apple") == ["docs/a.md"]


@pytest.mark.parametrize("part", ["vectors", "lexical", "valkey"])
def test_a_part_that_was_removed_is_made_again(place: Place, part: str) -> None:
    shutil.rmtree(place.data / part)
    made, *found = place.run(("index", "docmill.yaml"), *(("search", word, "--strategy", "bm25") for word in ("apple", "zebra")))
    assert made.returncode == 0, made.stderr
    assert [done.stdout.split()[1] for done in found] == ["docs/a.md:1-3", "docs/b.md:1-3"]


@pytest.mark.parametrize(
    ("name", "make"),
    [
        ("a file", lambda path: path.touch()),
        ("a file/below", lambda path: path.parent.touch()),
        ("a dangling link", lambda path: path.symlink_to("nowhere")),
        ("x" * 300, lambda path: None),
        ("docs of mine", lambda path: (path.mkdir(), (path / "thesis.md").touch())),
    ],
    ids=lambda value: value[:20] if isinstance(value, str) else "",
)
def test_what_cannot_be_a_data_folder_is_refused_and_left_as_it_is(tmp_path: Path, name: str, make: Callable[[Path], object]) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("apple", encoding="utf-8")
    make(tmp_path / name)
    before = sorted(tmp_path.rglob("*"))
    (done,) = run_each([("index", "docs", "--data-dir", str(tmp_path / name))], tmp_path)
    assert done.returncode == 2
    assert "--data-dir" in one_line(done)
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    "name",
    ["with spaces ünïcödé 名前", "/".join(["p" * 100] * 3), "new\nline", "-x", "a?b#c%41&d", "quote'\"\\`$(id)", os.fsdecode(b"\xff")],
    ids=ascii,
)
def test_a_data_folder_may_be_called_anything(indexed: Place, tmp_path: Path, name: str) -> None:
    where = str(tmp_path / name)
    made, found = run_each(
        [("index", "docmill.yaml", "--data-dir", where), ("search", "apple", "--strategy", "bm25", "--data-dir", where)], indexed.base
    )
    assert (made.returncode, found.returncode) == (0, 0), made.stderr + found.stderr
    assert "docs/a.md" in found.stdout


def test_a_data_folder_among_the_documents_is_never_indexed(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("apple", encoding="utf-8")
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    calls = []
    for data_dir in ("data", "link"):
        calls += [
            ("index", ".", "--data-dir", data_dir),
            ("index", ".", "--data-dir", data_dir),
            ("status", "--json", "--data-dir", data_dir),
        ]
    for place, done in enumerate(run_each(calls, tmp_path)):
        assert done.returncode == 0, done.stderr
        if place % 3 == 2:
            (status,) = json.loads(done.stdout)["knowledge_bases"]
            assert {state: count for state, count in status["documents"].items() if count} == {"live": 1}


@may_drop_rights
@pytest.mark.parametrize(
    ("part", "says"),
    [
        (".", "cannot be written (Permission denied): allow it, or name another one with --data-dir"),
        ("valkey", "Permission denied): allow it, or name another "),  # a long path has its socket, and its message, elsewhere
        ("origin.json", "origin.json cannot be read (Permission denied)"),
        ("../docmill.yaml", "docmill.yaml: cannot be read: Permission denied"),
    ],
)
def test_what_may_not_be_used_is_named(place: Place, part: str, says: str) -> None:
    path = place.data / part
    mode = path.stat().st_mode
    path.chmod(0o500 if path.is_dir() else 0)
    (done,) = run_each([("search", "apple", "--data-dir", "data")], place.base, prefix=UNPRIVILEGED if os.geteuid() == 0 else ())
    path.chmod(mode)
    assert done.returncode == 2
    assert says in one_line(done)
    assert place.found("apple") == ["docs/a.md"]


@may_drop_rights
def test_documents_that_may_not_be_read_are_named_and_kept_when_they_were_indexed(place: Place) -> None:
    for name in ("open", "closed", "ruled"):
        (place.docs / name).mkdir()
        (place.docs / name / "x.md").write_text(f"{name} quince", encoding="utf-8")
    (place.docs / "ruled" / ".gitignore").touch()
    place.index()
    (place.docs / "b.md").chmod(0)
    (place.docs / "closed").chmod(0)
    (place.docs / "ruled" / ".gitignore").chmod(0)
    names = ("a.md", "b.md", "closed/x.md", "ruled/x.md")
    calls = [["index", "docmill.yaml"], *(["explain", f"docs/{name}", "--json"] for name in names), ["search", "quince", "--json"]]
    prefix = UNPRIVILEGED if os.geteuid() == 0 else ()
    made, *explained, found = run_each([[*call, "--data-dir", "data"] for call in calls], place.base, prefix=prefix)
    (place.docs / "closed").chmod(0o755)
    assert made.returncode == 1
    assert "Traceback" not in made.stderr
    assert "failed unreadable" in made.stderr
    answers = [json.loads(done.stdout) for done in explained]
    assert [answer["state"] for answer in answers] == ["live", "skipped", "skipped", "skipped"]
    assert all("unreadable: " in answer["reason"] for answer in answers[1:])
    # What lies in a folder that nobody may look into may be there still, so it stays in the index.
    assert {"docs/open/x.md", "docs/closed/x.md"} <= {result["path"] for result in json.loads(found.stdout)["results"]}


def test_a_missing_folder_among_others_is_said_and_does_not_stop_the_rest(place: Place) -> None:
    text = (place.base / "docmill.yaml").read_text(encoding="utf-8")
    (place.base / "docmill.yaml").write_text(text.replace('["docs"]', '["docs", "moved"]'), encoding="utf-8")
    said = place.index(code=1)
    assert "moved does not exist (docs of kb); what was indexed of it before is kept" in said
    assert place.found("apple") == ["docs/a.md"]


@pytest.mark.parametrize("exchange", ["removed", "emptied"])
def test_documents_of_a_folder_that_went_away_stay_indexed(place: Place, exchange: str) -> None:
    shutil.rmtree(place.docs)
    if exchange == "emptied":
        place.docs.mkdir()
        assert "docs is empty; if its files were moved or are not mounted yet, nothing of it is removed" in place.index(code=3)
    else:
        assert "docs does not exist (docs of kb); what was indexed before is kept" in place.refusal(2, "index", "docmill.yaml")
    assert place.found("apple") == ["docs/a.md"]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"rag: [", ":1:7: this is not YAML"),
        (b"", ":1:1: the file is empty"),
        (b"rag: {}", "must have at least one knowledge base"),
        (b"- a", ":1:1: the file must be a mapping"),
        (b"\xff\xfe\x00", "docmill.yaml"),
        (b"rag: {kb: {docs: [docs]}}", "strategies"),
        (b"rag: {kb: {docs: [docs], strategies: [{type: bm52}]}}", "did you mean `bm25`?"),
        (b"rag: {kb: {doc: [docs], strategies: [{type: bm25}]}}", "did you mean `docs`?"),
        (b"rag: {kb: {docs: [docs], strategies: [{type: bm25}], indexing_timeout: -5m}}", "must not be negative"),
    ],
)
def test_a_broken_configuration_is_refused_with_the_place_and_nothing_is_lost(place: Place, content: bytes, says: str) -> None:
    before = (place.base / "docmill.yaml").read_bytes()
    (place.base / "docmill.yaml").write_bytes(content)
    for done in place.run(("up", "docmill.yaml"), ("index", "docmill.yaml"), ("search", "apple")):
        assert done.returncode == 2
        assert says in one_line(done)
    (place.base / "docmill.yaml").write_bytes(before)
    assert place.found("apple") == ["docs/a.md"]


def test_a_port_in_use_is_refused_with_3(place: Place) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        says = place.refusal(3, "up", "docmill.yaml", "--port", str(port))
    assert f"127.0.0.1:{port} is taken by another program; stop that, or choose another port" in says


def test_a_data_folder_that_is_removed_while_it_is_used_ends_docmill_with_one_line(place: Place) -> None:
    with RunningDocmill(place.base / "docmill.yaml", place.data) as running:
        running.wait_until_it_watches()
        shutil.rmtree(place.data)
        assert running.wait() == 2
        assert "was removed or replaced while docmill used it: start docmill again" in running.said
        assert "Traceback" not in running.said


def test_a_configuration_that_breaks_while_docmill_runs_is_said_when_it_is_needed(place: Place) -> None:
    with RunningDocmill(place.base / "docmill.yaml", place.data) as running:
        running.wait_until_it_watches()
        (place.base / "docmill.yaml").write_text("rag: [", encoding="utf-8")
        os.kill(running.producer(), signal.SIGKILL)
        wait_until(lambda: "the producer cannot start" in running.said, "the reason")
        assert "docmill.yaml:1:7: this is not YAML" in running.said
        assert "Fatal Python error" not in running.said
        assert running.found("apple") == ["docs/a.md"]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=400m", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("a small disk cannot be mounted here, which a CI machine may not permit either")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_a_disk_that_fills_up_fails_what_is_new_and_loses_nothing(place: Place, small_disk: Path) -> None:
    data = small_disk / "data"
    for number in range(20):
        (place.docs / f"{number:03}.md").write_text(f"quince{number} text\n" * 50, encoding="utf-8")
    run_each([("index", "docmill.yaml", "--data-dir", str(data))], place.base)
    filler = small_disk / "filler"
    with RunningDocmill(place.base / "docmill.yaml", data) as running:
        running.wait_until_it_watches()
        free = shutil.disk_usage(small_disk).free
        with filler.open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, free - 100 * 2**20)
        (place.docs / "new.md").write_text("medlar", encoding="utf-8")
        running.wait_until(lambda: running.get("/kb/documents?state=failed")["documents"], "the document to fail")
        (failed,) = running.get("/kb/documents?state=failed")["documents"]
        assert (failed["document_id"], failed["reason"].partition(":")[0]) == ("docs/new.md", "disk.full")
        assert running.found("quince7")[0] == "docs/007.md"
        filler.unlink()
        (place.docs / "new.md").write_text("medlar again", encoding="utf-8")
        running.wait_until_found("medlar", ["docs/new.md"])
        assert "Traceback" not in running.said


def test_a_disk_without_room_is_refused_with_3(place: Place, small_disk: Path) -> None:
    with (small_disk / "filler").open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, 300 * 2**20)
    (done,) = run_each([("index", "docmill.yaml", "--data-dir", str(small_disk / "data"))], place.base)
    assert done.returncode == 3
    assert "free some and try again" in one_line(done)
