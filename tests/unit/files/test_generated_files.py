"""Generated files are left out, unless somebody names one."""

from pathlib import Path

import pytest

from docmill.adapters.files import FileSource
from docmill.domain.errors import DocumentSkipped, SkipReason
from docmill.domain.knowledge_bases import KnowledgeBase, StrategyKind, StrategySpec


def source_of(folder: Path, *roots: Path) -> FileSource:
    specification = KnowledgeBase("kb", folder, tuple(map(str, roots)), (StrategySpec("words", StrategyKind.BM25, 0.0),))
    return FileSource(specification, folder / ".docmill")


def test_a_lock_file_in_a_folder_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "yarn.lock").write_text("a@1:\n")
    with pytest.raises(DocumentSkipped) as skipped:
        source_of(tmp_path, tmp_path).read("yarn.lock")
    assert skipped.value.reason is SkipReason.GENERATED


def test_a_lock_file_that_is_named_in_docs_is_read(tmp_path: Path) -> None:
    (tmp_path / "yarn.lock").write_text("a@1:\n")
    content = source_of(tmp_path, tmp_path, tmp_path / "yarn.lock").read("yarn.lock")
    assert content is not None
    assert content.content == b"a@1:\n"
