"""Formats whose reader is not installed are skipped with what installs it."""

import io
import sys

import openpyxl
import pytest

from docmill.documents.loading import load
from docmill.domain.errors import DocumentSkipped, SkipReason
from support.made_archives import open_document, paragraph, word
from support.made_pdfs import lines, pdf


def workbook() -> bytes:
    buffer = io.BytesIO()
    openpyxl.Workbook().save(buffer)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "packages"),
    [("a.pdf", pdf(lines("text")), ["pypdfium2", "pypdfium2.raw"]), ("a.xlsx", workbook(), ["python_calamine"])],
)
def test_the_reason_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch, name: str, content: bytes, packages: list[str]) -> None:
    for package in packages:
        monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(DocumentSkipped, match=r"pip install 'docmill\[formats\]'") as skipped:
        load(name, content)
    assert skipped.value.reason is SkipReason.NOT_INSTALLED


def test_other_formats_need_none(monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ("pypdfium2", "python_calamine", "lxml", "docx", "pptx"):
        monkeypatch.setitem(sys.modules, package, None)
    assert load("a.docx", word(paragraph("text"))).text == "text\n"
    assert load("a.odt", open_document("text", "<text:p>text</text:p>")).text == "text\n"
