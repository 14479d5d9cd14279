"""The tables of a sheet: groups of rows that an empty row parts, each with its header."""

from collections.abc import Iterable, Sequence

from docmill.documents.containers.cleaning import table_line
from docmill.documents.containers.text_builder import TextBuilder


def add_table(builder: TextBuilder, rows: Iterable[Sequence[str]]) -> None:
    """Adds the rows of a sheet, each group as a block whose first row with several texts and no number is its header."""
    group: list[Sequence[str]] = []
    for row in rows:
        if any(row):
            group.append(row)
        elif group:
            _add_group(builder, group)
            group = []
    if group:
        _add_group(builder, group)


def _add_group(builder: TextBuilder, group: Sequence[Sequence[str]]) -> None:
    header = next((place for place, row in enumerate(group[:-1][:5]) if _is_header(row)), None)
    if header is None:
        builder.block([table_line(row) for row in group])
        return
    for row in group[:header]:
        builder.paragraph(table_line(row))  # what stands above a table is its caption
    builder.block([table_line(row) for row in group[header:]], 1)


def _is_header(row: Sequence[str]) -> bool:
    filled = [cell for cell in row if cell]
    return len(filled) > 1 and not any(_is_number(cell) for cell in filled)


def _is_number(cell: str) -> bool:
    return cell.strip("-+$€£%. ").replace(",", "").replace(".", "").replace(" ", "").isdigit()
