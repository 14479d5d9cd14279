"""The awkward files that ``DOCMILL_TEST_CASES`` names: each is indexed, or left out with a reason, as its manifest says.

One docmill indexes them all in one go, with the folder of the ignore rules beside them; a file that hangs it fails every test here.
"""

import json
import os
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import httpx
import pytest

from docmill.documents.identity import document_id_of
from support.case_files import (
    RULES,
    VARIABLE,
    Case,
    cases_folder,
    expected_by_git,
    headings_of,
    joined,
    plain,
    read_cases,
    symbols_of,
)
from support.one_line import run_each
from support.running_docmill import RunningDocmill

FOLDER: Final = cases_folder()
CASES: Final = [] if FOLDER is None else read_cases(FOLDER)
SIZE: Final = 1500
SECONDS: Final = 240.0
STRATEGIES: Final = ("chunked-embeddings", "bm25")

pytestmark = pytest.mark.skipif(FOLDER is None, reason=f"{VARIABLE} names no folder with awkward files")
CONFIGURATION: Final = f"""
rag:
  cases: &kb
    docs: [tree]
    strategies:
      - type: chunked-embeddings
        embedding_model: local/wordllama-256
        limit: 20
        chunking: {{size: {SIZE}, overlap: 0, code_aware: true}}
      - {{type: bm25, limit: 20, chunking: {{size: {SIZE}, overlap: 0, code_aware: true}}}}
  torture:
    docs: [gitignore_torture]
    strategies: [{{type: bm25}}]
"""


class Indexed:
    """The files, and docmill on them."""

    def __init__(self, base: Path, running: RunningDocmill) -> None:
        self.base = base
        self.running = running
        self._documents: dict[bytes, dict[str, Any] | None] = {}

    def path(self, case: Case) -> bytes:
        return os.fsencode(self.base) + b"/tree/" + case.path

    def id_of(self, case: Case) -> str:
        return document_id_of(self.path(case), self.base)

    def document(self, case: Case) -> dict[str, Any] | None:
        """What is known of a file, with its chunks; None where it is no document."""
        if case.path not in self._documents:
            url = f"{self.running.url}/v1/knowledge-bases/cases/documents/{quote(self.id_of(case), safe='')}?chunks=true"
            response = httpx.get(url, timeout=30)
            assert response.status_code in (200, 404), response.text
            self._documents[case.path] = response.json() if response.is_success else None
        return self._documents[case.path]

    def live(self, case: Case) -> dict[str, Any]:
        """A file that is indexed; skips the test of one that is not and need not be."""
        document = self.document(case)
        if (document is None or document["state"] != "live") and case.may_be("skipped"):
            pytest.skip("it is not indexed, as it may be")
        assert document is not None, "it is no document"
        assert document["state"] == "live", document.get("reason")
        return document


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Indexed]:
    assert FOLDER is not None
    base = tmp_path_factory.mktemp("cases")
    subprocess.run(["cp", "-a", FOLDER / "tree", FOLDER / "gitignore_torture", base], check=True)
    configuration = base / "docmill.yaml"
    configuration.write_text(CONFIGURATION, encoding="utf-8")
    with RunningDocmill(configuration, base / "data") as running:
        for kb in ("cases", "torture"):
            running.wait_until_indexed(kb, seconds=SECONDS)
        yield Indexed(base, running)
        assert "Traceback" not in running.said


def cases(*fields: str, every: bool = False) -> pytest.MarkDecorator:
    """The cases that have one of these fields."""
    chosen = [case for case in CASES if every or set(fields) & set(case.expect)]
    return pytest.mark.parametrize("case", chosen, ids=[case.name for case in chosen])


def chunks_of(document: dict[str, Any], strategy: str = STRATEGIES[0]) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = document["strategies"].get(strategy, {}).get("items", [])
    return items


def test_the_run_ends_and_nothing_fails(indexed: Indexed) -> None:
    status = indexed.running.status("cases")
    assert status["run"]["state"] == "complete"
    assert (status["documents"]["failed"], status["documents"]["quarantined"], status["documents"]["pending"]) == (0, 0, 0)


@cases(every=True)
def test_a_file_is_in_the_state_that_is_expected(indexed: Indexed, case: Case) -> None:
    if case.expect["status"] == "rule":
        pytest.skip("a test of its own")
    document = indexed.document(case)
    if document is None:
        if os.geteuid() == 0 and "permission denied" in case.expect.get("reason", ""):
            pytest.skip("nothing is unreadable for root")
        assert case.may_be("skipped"), "it is no document"
    elif document["state"] == "live":
        if os.geteuid() == 0 and "permission denied" in case.expect.get("reason", ""):
            pytest.skip("nothing is unreadable for root")
        assert case.may_be("indexed"), "it is indexed"
    else:
        assert document["state"] in ("skipped", "empty"), document
        assert case.may_be("skipped"), document.get("reason")
        assert document["reason"].startswith(case.reasons()), document["reason"]


def test_explain_says_why_a_file_is_not_indexed(indexed: Indexed) -> None:
    left_out = [case for case in CASES if (known := indexed.document(case)) is None or known["state"] != "live"]
    calls = [["explain", "--json", "--kb", "cases", "--data-dir", "data", "--", os.fsdecode(indexed.path(case))] for case in left_out]
    for case, done in zip(left_out, run_each(calls, indexed.base), strict=True):
        answer = json.loads(done.stdout)
        assert answer["state"] in ("skipped", "empty"), (case.name, answer)
        assert answer["reason"].startswith(case.reasons()), (case.name, answer)


@cases("must_contain", "must_not_contain", "must_contain_across_join")
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_text_is_what_it_should_be(indexed: Indexed, case: Case, strategy: str) -> None:
    chunks = chunks_of(indexed.live(case), strategy)
    text = joined(chunks)
    assert [word for word in case.expect.get("must_contain", ()) if word not in text] == []
    assert [word for word in case.expect.get("must_not_contain", ()) if word in text] == []
    assert case.expect.get("must_contain_across_join", "") in "".join(chunk["text"] for chunk in chunks)


@cases("good", "good_not")
def test_what_would_be_good_is_so(indexed: Indexed, case: Case) -> None:
    text = joined(chunks_of(indexed.live(case)))
    assert [word for word in case.expect.get("good", ()) if word not in text] == []
    assert [word for word in case.expect.get("good_not", ()) if word in text] == []


@cases("must_contain")
def test_a_file_is_found_by_its_words_under_its_own_path(indexed: Indexed, case: Case) -> None:
    indexed.live(case)
    for word in case.expect["must_contain"]:
        if word.isalnum():
            results = indexed.running.search(word, "cases", strategies=["bm25"], limit=20)["results"]
            assert indexed.id_of(case) in {result["document_id"] for result in results}, word


@cases("query_must_find")
def test_a_query_finds_the_file(indexed: Indexed, case: Case) -> None:
    indexed.live(case)
    found = indexed.running.found(case.expect["query_must_find"], "cases", strategies=None, limit=10)
    assert indexed.id_of(case) in found


@cases("headings", "not_headings")
def test_headings_are_those_of_the_format(indexed: Indexed, case: Case) -> None:
    found = headings_of(chunks_of(indexed.live(case)))
    expected = {plain(heading) for heading in case.expect.get("headings", ())}
    assert (expected - found, found & {plain(heading) for heading in case.expect.get("not_headings", ())}) == (set(), set())


@cases("symbols", "not_symbols")
def test_symbols_of_code_are_named(indexed: Indexed, case: Case) -> None:
    found = symbols_of(chunks_of(indexed.live(case)))
    assert [symbol for symbol in case.expect.get("symbols", ()) if symbol not in found] == [], found
    assert [symbol for symbol in case.expect.get("not_symbols", ()) if symbol in found] == []


@cases("title")
def test_the_title_is_the_one_of_the_file(indexed: Indexed, case: Case) -> None:
    assert indexed.live(case)["title"] == case.expect["title"]


@cases("min_chunks", "max_chunks", "chunks")
def test_there_are_as_many_chunks_as_expected(indexed: Indexed, case: Case) -> None:
    if "chunks" in case.expect:
        document = indexed.document(case)
        assert (document["chunks"] if document else 0) == case.expect["chunks"]
        return
    count = len(chunks_of(indexed.live(case)))
    assert case.expect.get("min_chunks", 1) <= count <= case.expect.get("max_chunks", count)


@cases(every=True)
def test_no_chunk_is_longer_than_it_may_be_or_holds_what_is_no_text(indexed: Indexed, case: Case) -> None:
    for chunk in chunks_of(indexed.live(case)) if case.expect["status"] != "rule" else ():
        assert len(chunk["text"]) <= SIZE
        assert "\0" not in chunk["text"]
        chunk["text"].encode()  # no half of a pair


@pytest.mark.parametrize("path", RULES)
def test_rules_that_the_manifest_has_in_words_hold(indexed: Indexed, path: str) -> None:
    case = next((case for case in CASES if case.path == path.encode()), None)
    if case is None:
        pytest.skip("these cases have no such file")
    chunks = chunks_of(indexed.live(case))
    assert [rule.__name__ for rule in RULES[path] if not rule(chunks)] == []


def test_links_lead_nowhere_and_nothing_but_files_is_a_document(indexed: Indexed) -> None:
    documents = all_documents(indexed, "cases")
    for document_id in documents:
        path = os.fsencode(indexed.base) + b"/" + os.fsencode(document_id)
        assert not os.path.islink(path)
    others = [path for path in paths_below(indexed.base / "tree") if not stat.S_ISREG(os.lstat(path).st_mode)]
    ids = {document_id_of(path, indexed.base) for path in others}
    assert ids & documents == set()
    assert any("links/real/" in document_id for document_id in documents) or not (indexed.base / "tree" / "links").exists()


def test_the_files_of_a_repository_are_those_that_git_does_not_ignore(indexed: Indexed) -> None:
    assert FOLDER is not None
    expected = {name for name, is_indexed in expected_by_git(FOLDER).items() if is_indexed}
    found = {document_id.removeprefix("gitignore_torture/") for document_id in all_documents(indexed, "torture")}
    assert found == {document_id_of(os.fsencode(indexed.base) + b"/" + name, indexed.base) for name in expected}


def test_a_file_that_goes_takes_its_own_chunks_with_it_and_no_others(indexed: Indexed) -> None:
    named = [case for case in CASES if case.path.startswith(b"names/") and "must_contain" in case.expect]
    if len(named) < 2:
        pytest.skip("these cases have no odd names")
    gone, kept = named[::2], named[1::2]
    for case in gone:
        os.unlink(indexed.path(case))
    ids = {indexed.id_of(case) for case in gone}
    indexed.running.wait_until(lambda: not ids & all_documents(indexed, "cases"), "the deletions to be noticed", seconds=60)
    for case in named:
        word = case.expect["must_contain"][0]
        results = indexed.running.search(word, "cases", strategies=["bm25"], limit=50)["results"]
        found = {result["document_id"] for result in results if word in result["text"]}
        assert found == ({indexed.id_of(case)} if case in kept else set())


def all_documents(indexed: Indexed, kb: str) -> set[str]:
    found: set[str] = set()
    cursor = ""
    while True:
        page = indexed.running.get(f"/{kb}/documents?limit=1000" + (f"&cursor={cursor}" if cursor else ""))
        found |= {document["document_id"] for document in page["documents"]}
        cursor = page["next"]
        if not cursor:
            return found


def paths_below(folder: Path) -> list[bytes]:
    found: list[bytes] = []
    for current, folders, files in os.walk(os.fsencode(folder)):
        if len(current) < 3000:  # a longer path cannot be named in one call
            found += [current + b"/" + name for name in (*folders, *files)]
    return [path for path in found if not os.path.isdir(path) or os.path.islink(path)]
