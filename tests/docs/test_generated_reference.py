"""The pages that are made from the code are what the code makes now."""

from pathlib import Path

import pytest

from docmill_services.cli.reference import main, pages

FOLDER = Path(__file__).parents[2] / "docs" / "reference"


@pytest.mark.parametrize("name", pages())
def test_a_committed_page_equals_what_make_docs_writes(name: str) -> None:
    assert (FOLDER / name).read_text(encoding="utf-8") == pages()[name], f"docs/reference/{name} is out of date; run: make docs"


def test_the_pages_are_written_to_the_folder_that_is_named(tmp_path: Path) -> None:
    main([str(tmp_path)])
    assert {path.name: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()} == pages()
