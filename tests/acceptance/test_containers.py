"""Files that are taken apart, as a user has them: found with their pages, and each that does harm costs only itself."""

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import docx
import openpyxl
import pptx
import pytest

from support.deadly_contents import KILLS, LEAVES, STARTUP
from support.made_archives import book, open_document, paragraph, relationships, word, zipped
from support.made_pdfs import lines, pdf, picture
from support.running_docmill import RunningDocmill, docmill, write_configuration

SETTINGS = {"PYTHONPATH": str(STARTUP)}
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def saved(document: Any) -> bytes:
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def report() -> bytes:
    document = docx.Document()
    document.add_heading("Findings", 1)
    document.add_paragraph("The quagga population recovers.")
    return saved(document)


def talk() -> bytes:
    presentation = pptx.Presentation()
    for title in ("Opening", "Zeppelin numbers"):
        presentation.slides.add_slide(presentation.slide_layouts[5]).shapes.title.text = title
    return saved(presentation)


def ledger() -> bytes:
    workbook = openpyxl.Workbook()
    workbook.active.title = "Ledger"
    for row in (["item", "cost"], ["tourmaline", 12]):
        workbook.active.append(row)
    return saved(workbook)


FOUND = {
    "manual.pdf": pdf(lines("First page of it."), lines("Second page.", "The marmot is described here.")),
    "report.docx": report(),
    "talk.pptx": talk(),
    "ledger.xlsx": ledger(),
    "letter.odt": open_document("text", "<text:p>The basilisk is mentioned.</text:p>"),
    "novel.epub": book({"1.xhtml": "<h1>One</h1><p>A pangolin appears.</p>"}, ["1.xhtml"]),
    "plain.md": b"# Plain\n\nThe hoopoe sings.\n",
}
_BOMB = {"_rels/.rels": relationships(a_officeDocument="word/document.xml"), "word/document.xml": b"<w>" + b"A" * 80_000_000 + b"</w>"}
SKIPPED = {
    "locked.pdf": ("encrypted", pdf(lines("secret"), password="xyzzy")),
    "scan.pdf": ("scanned", pdf(picture)),
    "locked.docx": ("encrypted", OLE + b"\0" * 504 + "EncryptedPackage".encode("utf-16-le")),
    "old.doc": ("binary", OLE + b"\0" * 504 + "WordDocument".encode("utf-16-le")),
    "half.docx": ("parser_failed", report()[:5000]),
    "bomb.docx": ("too_large", zipped(_BOMB)),
    "archive.zip": ("binary", zipped({"a.txt": "text"})),
    "killer.docx": ("parser_failed", word(paragraph("text")) + KILLS),
    "leaver.pdf": ("parser_failed", pdf(lines("text")) + LEAVES),
}


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningDocmill]:
    base = tmp_path_factory.mktemp("containers")
    folder = base / "files"
    folder.mkdir()
    for name, content in FOUND.items():
        (folder / name).write_bytes(content)
    for name, (_, content) in SKIPPED.items():
        (folder / name).write_bytes(content)
    configuration = write_configuration(base / "docmill.yaml", folder)
    with RunningDocmill(configuration, base / "data", settings=SETTINGS) as docmill_up:
        docmill_up.wait_until_indexed()
        yield docmill_up
        assert docmill_up.stop() == 4


@pytest.mark.parametrize(
    ("query", "name", "page", "headings"),
    [
        ("marmot", "manual.pdf", 2, []),
        ("quagga", "report.docx", None, ["Findings"]),
        ("zeppelin", "talk.pptx", 2, ["Zeppelin numbers"]),
        ("tourmaline", "ledger.xlsx", None, ["Ledger"]),
        ("basilisk", "letter.odt", None, []),
        ("pangolin", "novel.epub", None, ["One"]),
        ("hoopoe", "plain.md", None, ["Plain"]),
    ],
)
def test_text_is_found_with_its_page_and_its_headings(
    running: RunningDocmill, query: str, name: str, page: int | None, headings: list[str]
) -> None:
    (result,) = running.search(query, strategies=["bm25"])["results"]
    assert (result["document_id"], result.get("page"), result["headings"]) == (f"files/{name}", page, headings)


@pytest.mark.parametrize(("name", "reason"), [(name, reason) for name, (reason, _) in SKIPPED.items()])
def test_what_cannot_be_read_is_skipped_with_its_reason(running: RunningDocmill, name: str, reason: str) -> None:
    document = running.get(f"/kb/documents/files/{name}")
    assert document["state"] == "skipped"
    assert document["reason"].startswith(f"{reason}: ")


def test_files_that_do_harm_cost_no_other(running: RunningDocmill) -> None:
    documents = running.status()["documents"]
    assert (documents["live"], documents["skipped"]) == (len(FOUND), len(SKIPPED))
    assert (documents["failed"], documents["quarantined"], documents["pending"]) == (0, 0, 0)
    assert "it was ended by SIGKILL" in running.get("/kb/documents/files/killer.docx")["reason"]
    assert "it ended with exit code 7" in running.get("/kb/documents/files/leaver.pdf")["reason"]


def test_a_search_names_the_page(running: RunningDocmill) -> None:
    ended = docmill("search", "marmot", "--data-dir", running.data_dir, settings=SETTINGS)
    assert "manual.pdf, p. 2" in ended.stdout


def test_a_whole_document_is_read_where_it_harms_nobody(running: RunningDocmill) -> None:
    (result,) = running.search("quagga", strategies=["bm25"], return_full_content=True)["results"]
    assert "Findings" in result["text"]


def test_a_dry_run_takes_files_apart_too(tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    for name in ("manual.pdf", "report.docx"):
        (folder / name).write_bytes(FOUND[name])
    for name in ("killer.docx", "scan.pdf"):
        (folder / name).write_bytes(SKIPPED[name][1])
    configuration = write_configuration(tmp_path / "docmill.yaml", folder)
    ended = docmill("index", "--dry-run", "--config", configuration, "--data-dir", tmp_path / "data", "--json", settings=SETTINGS)
    dry = json.loads(ended.stdout)["kb"]
    assert dry["to_index"] == 2, ended.stderr
    assert dry["skipped"] == {"parser_failed": 1, "scanned": 1}


def test_a_file_that_is_not_indexed_yet_is_explained_as_it_will_be(tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / "scan.pdf").write_bytes(SKIPPED["scan.pdf"][1])
    configuration = write_configuration(tmp_path / "docmill.yaml", folder)
    ended = docmill("explain", folder / "scan.pdf", "--config", configuration, "--data-dir", tmp_path / "data", "--json", settings=SETTINGS)
    assert json.loads(ended.stdout)["reason"].startswith("scanned: "), ended.stderr
