"""``docmill explain`` as a user calls it: every path has an answer, whether docmill runs, has run, or never did."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from support.one_line import run_each
from support.running_docmill import RunningDocmill

TOKEN: Final = "np" + "m_" + "q7Zt1mVx9bKc4RwE2yHn8sLp5dGf3jAu6TkY"
CONFIGURATION: Final = """
rag:
  notes: {docs: [notes], strategies: [{type: bm25}]}
  both: {docs: [notes/a.md, other], strategies: [{type: bm25}]}
"""
FILES: Final = {
    "notes/a.md": "# Apples\n\nThey are round.\n",
    "notes/.docmillignore": "*.log\nbuild/\n",
    "notes/b.log": "x",
    "notes/build/c.md": "x",
    "notes/empty.md": "",
    "notes/.env": "A=b",
    "notes/token.md": f"# Publish\n\nuse {TOKEN}\n",
    "notes/goes.md": "x",
    "notes/later.md": "x",
    "other/d.md": "pears",
    "elsewhere.md": "plums",
}


def plant(folder: Path) -> None:
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (folder / "docmill.yaml").write_text(CONFIGURATION, encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    plant(tmp_path / "place")
    return tmp_path / "place"


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with docmill on it, which follows no changes."""
    base = tmp_path_factory.mktemp("indexed")
    plant(base)
    with RunningDocmill(base / "docmill.yaml", base / ".docmill", "--no-watch") as running:
        for kb in ("notes", "both"):
            running.wait_until_indexed(kb, seconds=90)
        yield base


def explained(folder: Path, *paths: str, kb: str | None = "notes") -> list[tuple[int, dict[str, Any]]]:
    named = ("--kb", kb) if kb else ()
    return [
        (done.returncode, json.loads(done.stdout)) for done in run_each([("explain", path, "--json", *named) for path in paths], folder)
    ]


def test_an_indexed_file_has_its_chunks_its_generation_and_when(indexed: Path) -> None:
    ((code, answer),) = explained(indexed, "notes/a.md")
    assert (code, answer["document_id"], answer["state"]) == (0, "notes/a.md", "live")
    assert (answer["strategies"]["bm25"]["chunks"], answer["strategies"]["bm25"]["generation"] > 0) == (1, True)
    assert re.fullmatch(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", answer["indexed_at"])


@pytest.mark.parametrize("is_indexed", [True, False])
def test_what_is_left_out_has_its_reason_and_its_rule(request: pytest.FixtureRequest, is_indexed: bool) -> None:
    folder: Path = request.getfixturevalue("indexed" if is_indexed else "folder")
    expected = [
        ("notes/b.log", f"ignored: {folder}/notes/.docmillignore:1 ignores it (*.log)", (f"{folder}/notes/.docmillignore", 1, "*.log")),
        ("notes/build/c.md", f"ignored: {folder}/notes/.docmillignore:2 ignores it (build/)", None),
        ("notes/build", f"ignored: {folder}/notes/.docmillignore:2 ignores it (build/)", None),
        ("notes/.env", "secret: its name looks like a secret's (.env)", ("", 0, ".env")),
        ("notes/token.md", "secret: it holds what looks like an npm token, line 3; to index it, name", None),
        ("elsewhere.md", "ignored: it is not under any of the configured docs", None),
    ]
    for (_, reason, rule), (code, answer) in zip(expected, explained(folder, *(path for path, _, _ in expected)), strict=True):
        assert (code, answer["state"], answer["reason"][: len(reason)]) == (1, "skipped", reason)
        assert rule is None or tuple(answer["rule"].values()) == rule
        assert TOKEN not in answer["reason"]
        assert ("note" in answer) == (not is_indexed)


def test_an_empty_file_is_known_as_such(indexed: Path) -> None:
    ((code, answer),) = explained(indexed, "notes/empty.md")
    assert (code, answer["state"], answer["reason"]) == (0, "empty", "empty: it has no text that could be searched")


@pytest.mark.parametrize("place", ["indexed", "folder"])
def test_a_file_that_is_not_there_is_said_not_to_be_there(request: pytest.FixtureRequest, place: str) -> None:
    for code, answer in explained(request.getfixturevalue(place), "notes/gone.md", "notes/gone/deep.md", "nowhere/x.md"):
        assert (code, answer["state"], answer["reason"]) == (1, "unknown", "there is no such file")


def test_a_file_that_went_is_what_is_found_until_the_next_scan(indexed: Path) -> None:
    (indexed / "notes" / "goes.md").unlink()
    ((code, answer),) = explained(indexed, "notes/goes.md")
    assert (code, answer["state"], answer["stale"]) == (0, "live", True)


def test_what_is_ignored_since_it_was_indexed_is_said_to_be_found_still(indexed: Path) -> None:
    with (indexed / "notes" / ".docmillignore").open("a", encoding="utf-8") as rules:
        rules.write("later.md\n")
    ((code, answer),) = explained(indexed, "notes/later.md")
    assert (code, answer["state"]) == (1, "skipped")
    assert answer["reason"].endswith("ignores it (later.md); what was indexed of it before goes with the next scan")
    assert answer["strategies"]["bm25"]["chunks"] == 1


def test_a_new_file_waits_for_the_next_scan_or_will_not_be_indexed(indexed: Path) -> None:
    (indexed / "notes" / "new.md").write_text("new", encoding="utf-8")
    (indexed / "notes" / "new.bin").write_bytes(bytes(range(256)) * 40)
    (_, waits), (_, binary) = explained(indexed, "notes/new.md", "notes/new.bin")
    assert (waits["state"], waits["reason"]) == ("unknown", "not indexed yet: the next scan takes it up")
    assert (binary["state"], binary["reason"][:8]) == ("skipped", "binary: ")


def test_without_an_index_the_rules_and_the_file_decide_and_it_says_so(folder: Path) -> None:
    calls = [("explain", "notes/a.md", "--kb", "notes"), ("explain", "notes/a.md", "--kb", "notes", "--json")]
    shown, as_json = run_each(calls, folder)
    assert shown.returncode == as_json.returncode == 3
    assert "the rules let it be indexed; whether it is indexed now cannot be asked" in shown.stdout
    assert "nothing was indexed into .docmill yet" in shown.stderr
    assert "nothing was indexed into .docmill yet" in json.loads(as_json.stdout)["note"]


def test_a_folder_has_its_documents_counted(indexed: Path) -> None:
    (_, notes), (_, everything), (_, part) = [
        *explained(indexed, "notes", "."),
        *explained(indexed, "notes", kb="both"),
    ]
    assert (notes["document_id"], notes["state"], notes["documents"]) == ("notes/", "folder", {"live": 4, "empty": 1, "skipped": 1})
    assert everything["documents"] == notes["documents"]
    assert (part["state"], part["documents"]) == ("folder", {"live": 1})
    assert "some of the configured docs lie in it" in part["reason"]


def test_of_several_knowledge_bases_each_has_its_answer(indexed: Path) -> None:
    (_, in_both), (code, in_one) = explained(indexed, "notes/a.md", "other/d.md", kb=None)
    assert {name: one["state"] for name, one in in_both["knowledge_bases"].items()} == {"notes": "live", "both": "live"}
    assert (code, in_one["knowledge_base"], in_one["state"]) == (0, "both", "live")
    assert in_one["knowledge_bases"]["notes"]["reason"] == "ignored: it is not under any of the configured docs"
    (shown,) = run_each([("explain", "other/d.md")], indexed)
    assert "notes: other/d.md: skipped" in shown.stdout
    assert "both: other/d.md: live" in shown.stdout


def test_secrets_that_are_allowed_are_indexed_and_forbidden_again_they_go(folder: Path) -> None:
    configuration = folder / "docmill.yaml"
    allowed, forbidden = "docs: [notes], allow_secrets: true,", "docs: [notes],"
    for line, state in ((allowed, "live"), (forbidden, "skipped")):
        configuration.write_text(CONFIGURATION.replace("docs: [notes],", line, 1), encoding="utf-8")
        run_each([("index",)], folder)
        (_, token), (_, env) = explained(folder, "notes/token.md", "notes/.env")
        assert (token["state"], env["state"]) == (state, state)
        (found,) = run_each([("search", "Publish", "--kb", "notes", "--json")], folder)
        assert bool(json.loads(found.stdout)["results"]) == (state == "live")


@pytest.mark.parametrize(
    ("before", "after", "path"),
    [
        ("docs: [notes], max_file_size: 8,", "docs: [notes],", "notes/a.md"),
        ("docs: [notes],", "docs: [notes, notes/token.md],", "notes/token.md"),
    ],
)
def test_a_file_that_is_allowed_now_is_indexed_though_it_is_the_same(folder: Path, before: str, after: str, path: str) -> None:
    states = []
    for line in (before, after):
        (folder / "docmill.yaml").write_text(CONFIGURATION.replace("docs: [notes],", line, 1), encoding="utf-8")
        run_each([("index",)], folder)
        ((_, answer),) = explained(folder, path)
        states.append(answer["state"])
    assert states == ["skipped", "live"]
