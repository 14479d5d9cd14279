"""A document is gone only if the folder that should hold it is the one that was scanned."""

import json
from pathlib import Path

import pytest

from docmill.adapters.files import FileSource
from docmill.domain.errors import RootUnavailable
from docmill.domain.knowledge_bases import KnowledgeBase, StrategyKind, StrategySpec


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    documents = tmp_path / "documents"
    documents.mkdir()
    (documents / "there.md").write_text("text")
    return documents


def source_of(folder: Path, noted: dict[str, int] | None) -> FileSource:
    specification = KnowledgeBase("kb", folder.parent, (str(folder),), (StrategySpec("words", StrategyKind.BM25, 0.0),))
    return FileSource(specification, folder.parent / ".docmill", lambda: None if noted is None else json.dumps(noted))


def test_what_is_missing_in_the_folder_that_was_scanned_is_gone(folder: Path) -> None:
    assert source_of(folder, {"documents": folder.stat().st_ino}).read("documents/gone.md") is None


def test_what_is_missing_is_gone_while_nobody_has_scanned(folder: Path) -> None:
    assert source_of(folder, None).read("documents/gone.md") is None


def test_what_is_missing_in_another_folder_is_kept(folder: Path) -> None:
    with pytest.raises(RootUnavailable, match="another folder than the one that was scanned"):
        source_of(folder, {"documents": folder.stat().st_ino + 1}).read("documents/gone.md")


def test_a_file_that_is_there_needs_no_comparison(folder: Path) -> None:
    content = source_of(folder, {"documents": folder.stat().st_ino + 1}).read("documents/there.md")
    assert content is not None
    assert content.content == b"text"
