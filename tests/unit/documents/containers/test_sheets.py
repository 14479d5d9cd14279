"""Workbooks: visible sheets under their names, tables with their headers, values as cells show them."""

import io
from datetime import date, datetime, time

import openpyxl
import pytest

from docmill.documents.containers import archive
from docmill.documents.containers.sheets import read_workbook
from docmill.domain.errors import DocumentSkipped, SkipReason
from support.extractions import blocks_of, headings_of
from support.made_archives import zipped


def saved(workbook: openpyxl.Workbook) -> bytes:
    buffer = io.BytesIO()
    workbook.save(buffer)
    return buffer.getvalue()


def sheet(*rows: list[object], name: str = "Blatt ä") -> openpyxl.Workbook:
    workbook = openpyxl.Workbook()
    workbook.active.title = name
    for row in rows:
        workbook.active.append(row)
    return workbook


def test_sheets_are_headings_and_the_header_row_is_that_of_its_table() -> None:
    workbook = sheet(["id", "name"], [1, "one"], [2, "two"])
    workbook.create_sheet("Other").append(["alone", "here"])
    extracted = read_workbook(saved(workbook))
    assert headings_of(extracted) == [(1, "Blatt ä"), (1, "Other")]
    assert blocks_of(extracted) == [("id | name\n", "1 | one\n2 | two\n"), ("", "alone | here\n")]
    assert extracted.title == ""


def test_hidden_sheets_are_left_out() -> None:
    workbook = sheet(["seen", "too"])
    for state in ("hidden", "veryHidden"):
        hidden = workbook.create_sheet(state)
        hidden.sheet_state = state
        hidden["A1"] = "unseen"
    extracted = read_workbook(saved(workbook))
    assert headings_of(extracted) == [(1, "Blatt ä")]
    assert "unseen" not in extracted.text


def test_an_empty_row_parts_tables_and_what_is_above_a_header_is_a_caption() -> None:
    extracted = read_workbook(saved(sheet(["Prices of May"], ["fruit", "price"], ["apple", 2], [], ["town", "people"], ["Ulm", 126000])))
    assert blocks_of(extracted) == [("fruit | price\n", "apple | 2\n"), ("town | people\n", "Ulm | 126000\n")]
    assert "Prices of May\n\nfruit" in extracted.text


def test_values_are_written_as_they_are_shown() -> None:
    row = [1.0, 0.1 + 0.2, 1e20, True, date(2026, 5, 4), datetime(2026, 5, 4, 3, 2, 1), time(3, 2), "two\nlines", None, "end"]
    assert (
        "1 | 0.3 | 1e+20 | TRUE | 2026-05-04 | 2026-05-04 03:02:01 | 03:02:00 | two lines |  | end" in read_workbook(saved(sheet(row))).text
    )


def test_formulas_are_their_values() -> None:
    content = saved(sheet([1, 2, "=A1+B1"]))
    assert "=A1" not in read_workbook(content).text


def test_a_cell_far_away_costs_only_itself() -> None:
    workbook = sheet(["near", "by"])
    workbook.active.cell(200_000, 3, "far")
    assert "far" in read_workbook(saved(workbook)).text


def test_a_value_in_the_farthest_corner_is_too_large_and_says_where() -> None:
    workbook = sheet(["near", "by"])
    workbook.active["XFD1048576"] = "far"
    with pytest.raises(DocumentSkipped, match="row 1,048,576 and column 16,384") as skipped:
        read_workbook(saved(workbook))
    assert skipped.value.reason is SkipReason.TOO_LARGE


def test_a_colour_in_the_farthest_corner_is_no_matter() -> None:
    workbook = sheet(["near", "by"])
    workbook.active["XFD1048576"].font = openpyxl.styles.Font(bold=True)
    assert "near | by" in read_workbook(saved(workbook)).text


def test_a_sheet_that_unpacks_to_too_much_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MOST_PART_BYTES", 1000)
    parts = {
        "_rels/.rels": '<Relationships><Relationship Id="a" Type="x/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": "<workbook/>",
        "xl/worksheets/sheet1.xml": b" " * 1001,
    }
    with pytest.raises(DocumentSkipped) as skipped:
        read_workbook(zipped(parts))
    assert skipped.value.reason is SkipReason.TOO_LARGE


@pytest.mark.parametrize("content", [saved(sheet(["a", "b"]))[:2000], zipped({"xl/workbook.xml": "<workbook>"}), b"\xd0\xcf\x11\xe0" * 100])
def test_a_damaged_file_says_so(content: bytes) -> None:
    with pytest.raises(DocumentSkipped) as skipped:
        read_workbook(content)
    assert skipped.value.reason is SkipReason.PARSER_FAILED
