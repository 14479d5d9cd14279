"""How far a sheet reaches: the library that reads workbooks makes room for every cell up to the last one, used or not."""

import re
from typing import Final

from docmill.documents.containers.office_package import OfficePackage
from docmill.domain.errors import DocumentSkipped, SkipReason

#: About 800 MiB.
_MOST_CELLS: Final = 24_000_000
_BEGINNING_BYTES: Final = 8192
#: What is said of the sheet, which counts cells that have nothing but a colour.
_DIMENSION: Final = re.compile(rb"<(?:\w+:)?dimension\s[^<>]*\bref=[\"'](?:[A-Z]+\d+:)?([A-Z]{1,3})(\d{1,7})[\"']")
#: A cell that has something in it.
_CELL: Final = re.compile(
    rb"<(?:\w{1,20}:)?c\s[^<>]{0,100}?\br=[\"']([A-Z]{1,3})(\d{1,7})[\"'][^<>]{0,200}(?<!/)>\s{0,20}<(?:\w{1,20}:)?(?:v|f|is)[\s/>]"
)


def require_near_cells(package: OfficePackage) -> None:
    """Raises ``DocumentSkipped`` when a cell of a sheet is so far away that the sheet cannot be held in memory."""
    for part in package.related(package.main, "worksheet"):
        said = _DIMENSION.search(package.archive.open(part).read(_BEGINNING_BYTES))
        if said is None or _column(said[1]) * int(said[2]) <= _MOST_CELLS:
            continue
        column = row = 0
        for cell in _CELL.finditer(package.archive.read(part)):
            column, row = max(column, _column(cell[1])), max(row, int(cell[2]))
        if column * row > _MOST_CELLS:
            raise DocumentSkipped(
                SkipReason.TOO_LARGE,
                f"a sheet of it reaches to row {row:,} and column {column:,}, which is too far; what stands there may be a mistake",
            )


def _column(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + letter - ord("A") + 1
    return number
