"""A text with a secret in it is neither indexed nor shown, unless its knowledge base allows it or the file is named itself."""

from pathlib import Path
from typing import Final

import pytest

from docmill.adapters.files import FileSource
from docmill.domain.errors import DocumentSkipped, SkipReason
from support.trees import knowledge_base, plant

TEXT: Final = "use np" + "m_" + "q7Zt1mVx9bKc4RwE2yHn8sLp5dGf3jAu6TkY" + " to publish\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    plant(tmp_path, {"a.md": TEXT, "b.md": "pears\n"})
    return tmp_path


def source_of(folder: Path, *roots: Path, allow_secrets: bool = False) -> FileSource:
    return FileSource(knowledge_base(folder, *roots, allow_secrets=allow_secrets), folder / "data")


def check(source: FileSource, name: str) -> None:
    content = source.read(name)
    assert content is not None
    source.require_allowed(name, source.load(name, content.content))


def test_it_is_withheld(folder: Path) -> None:
    with pytest.raises(DocumentSkipped) as skipped:
        check(source_of(folder), "a.md")
    assert skipped.value.reason is SkipReason.SECRET
    with pytest.raises(DocumentSkipped):
        source_of(folder).text_of("a.md")


def test_other_texts_are_not(folder: Path) -> None:
    check(source_of(folder), "b.md")
    assert source_of(folder).text_of("b.md") == "pears\n"


def test_a_knowledge_base_may_allow_it(folder: Path) -> None:
    check(source_of(folder, allow_secrets=True), "a.md")
    assert source_of(folder, allow_secrets=True).text_of("a.md") == TEXT


def test_a_file_that_is_named_itself_is_meant(folder: Path) -> None:
    check(source_of(folder, folder, folder / "a.md"), "a.md")
