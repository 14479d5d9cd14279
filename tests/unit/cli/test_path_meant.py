"""Which file a path on the command line means."""

import os
from pathlib import Path

import pytest

from docmill.documents.identity import document_id_of
from docmill_services.cli.finding import path_meant


@pytest.mark.parametrize("name", [b"plain.md", b"caf\xe9.md", b"two\nlines.md", b"100%25.md", b"a%20b.md"])
@pytest.mark.parametrize("is_there", [True, False])
def test_a_document_can_be_named_by_its_id(tmp_path: Path, name: bytes, is_there: bool) -> None:
    path = os.fsencode(tmp_path) + b"/" + name
    if is_there:
        Path(os.fsdecode(path)).touch()
    assert path_meant(Path(document_id_of(path, tmp_path)), tmp_path) == path


def test_a_file_that_is_there_is_meant_before_one_whose_id_reads_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    literal = tmp_path / "a%0Ab.md"
    literal.touch()
    (tmp_path / "a\nb.md").touch()
    assert path_meant(Path("a%0Ab.md"), tmp_path) == os.fsencode(literal)
    monkeypatch.chdir(tmp_path)
    assert path_meant(Path("a%0Ab.md"), tmp_path / "elsewhere") == os.fsencode(literal)


def test_what_is_neither_there_nor_an_id_is_seen_from_the_base_folder(tmp_path: Path) -> None:
    assert path_meant(Path("x/../gone.md"), tmp_path) == os.fsencode(tmp_path / "gone.md")
    assert path_meant(Path(os.fsdecode(b"caf\xe9.md")), tmp_path) == os.fsencode(tmp_path) + b"/caf\xe9.md"
