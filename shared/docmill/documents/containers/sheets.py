"""Workbooks (XLSX, XLSB, XLS): sheets as headings, tables with their header rows, values as they were computed last."""

import io
from collections.abc import Iterator, Sequence
from datetime import date, datetime, time, timedelta
from typing import Any, Final

from docmill.documents.containers.guarding import guarded, not_installed
from docmill.documents.containers.office_package import OfficePackage
from docmill.documents.containers.properties import Properties
from docmill.documents.containers.sheet_extent import require_near_cells
from docmill.documents.containers.tables import add_table
from docmill.documents.containers.text_builder import TextBuilder
from docmill.documents.extracted import Extracted
from docmill.domain.errors import DocumentSkipped, SkipReason

_ZIP: Final = b"PK"


@guarded
def read_workbook(content: bytes) -> Extracted:
    """The sheets of a workbook, without those that are hidden.

    Raises:
        DocumentSkipped: it needs a password, is damaged, or has very much text.
    """
    known = Properties()
    if content.startswith(_ZIP):
        package = OfficePackage(content, "xl/workbook.xml")
        package.archive.require_bounded()
        require_near_cells(package)
        known = package.properties()
    try:
        import python_calamine
    except ImportError as error:
        raise not_installed("Workbooks", "python-calamine") from error
    try:
        workbook = python_calamine.CalamineWorkbook.from_filelike(io.BytesIO(content))
    except python_calamine.PasswordError as error:
        raise DocumentSkipped(SkipReason.ENCRYPTED, "it is protected by a password") from error
    builder = TextBuilder()
    for sheet in workbook.sheets_metadata:
        if sheet.visible is python_calamine.SheetVisibleEnum.Visible and sheet.typ is python_calamine.SheetTypeEnum.WorkSheet:
            builder.heading(1, sheet.name)
            add_table(builder, _rows(workbook.get_sheet_by_name(sheet.name)))
    return builder.built(known, title="")


def _rows(sheet: Any) -> Iterator[Sequence[str]]:
    for row in sheet.iter_rows():
        yield [_shown(value) for value in row]


def _shown(value: object) -> str:
    """A cell as text; dates as ISO 8601, numbers without needless digits."""
    match value:
        case str():
            return value
        case bool():
            return "TRUE" if value else "FALSE"
        case float():
            return str(int(value)) if value.is_integer() and abs(value) < 1e15 else f"{value:.15g}"
        case datetime():
            return value.date().isoformat() if value.time() == time() else value.isoformat(" ", "seconds")
        case date() | time():
            return value.isoformat()
        case timedelta():
            return str(value)
        case None:
            return ""
        case _:
            return str(value)
