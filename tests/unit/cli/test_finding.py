"""Which configuration a command means."""

from pathlib import Path

import pytest

from docmill.domain.errors import ConfigurationNotFound, UsageError
from docmill_services.cli.finding import origin_to_ask, origin_to_index
from docmill_services.origin import Origin


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def indexed_before(here: Path) -> Origin:
    (here / "data").mkdir()
    origin = Origin(folder=here / "notes", name="notes")
    origin.save(here / "data")
    return origin


def test_indexing_without_a_path_takes_the_configuration_file_of_the_folder(here: Path) -> None:
    indexed_before(here)
    (here / "docmill.yaml").write_text("rag: {}")
    assert origin_to_index(None, None, here / "data", None) == Origin(config=here / "docmill.yaml")


def test_asking_is_about_what_was_indexed_last(here: Path) -> None:
    before = indexed_before(here)
    (here / "docmill.yaml").write_text("rag: {}")
    assert origin_to_ask(None, here / "data") == before


def test_each_falls_back_to_what_the_other_prefers(here: Path) -> None:
    before = indexed_before(here)
    assert origin_to_index(None, None, here / "data", None) == before
    (here / "docmill.yaml").write_text("rag: {}")
    assert origin_to_ask(None, here / "elsewhere") == Origin(config=here / "docmill.yaml")


def test_nothing_named_and_nothing_found_says_what_to_do(here: Path) -> None:
    with pytest.raises(ConfigurationNotFound, match="docmill up FOLDER"):
        origin_to_ask(None, here / "data")
    with pytest.raises(ConfigurationNotFound, match="docmill up FOLDER"):
        origin_to_index(None, None, here / "data", None)


def test_a_path_and_a_configuration_are_one_too_many(here: Path) -> None:
    with pytest.raises(UsageError):
        origin_to_index(here, here / "docmill.yaml", here / "data", None)
