"""What `code_aware` comes to with and without the packages that it needs."""

from pathlib import Path

import pytest

from docmill.config import code_grammars
from docmill.config.loading import configuration_for_folder
from support.configuration_files import knowledge_base, load


@pytest.fixture(params=[True, False])
def installed(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    found: bool = request.param
    monkeypatch.setattr(code_grammars, "find_spec", lambda name: object() if found else None)
    return found


def test_code_aware_is_what_can_be_done_and_a_missing_package_is_said(tmp_path: Path, installed: bool) -> None:
    configuration = load(tmp_path, knowledge_base("{type: bm25, chunking: {code_aware: true}}"))
    (strategy,) = configuration.knowledge_bases[0].strategies
    assert (strategy.chunking.code_aware, strategy.chunking.size) == (installed, 4000)
    warnings = [str(warning) for warning in configuration.warnings if "code_aware" in str(warning)]
    assert [warning.split("code_aware: ")[1] for warning in warnings] == ([] if installed else [code_grammars.WITHOUT_CODE_GRAMMARS])


def test_nothing_is_said_where_code_aware_is_not_wanted(tmp_path: Path, installed: bool) -> None:
    configuration = load(tmp_path, knowledge_base("{type: bm25}"))
    assert not [warning for warning in configuration.warnings if "code_aware" in str(warning)]


def test_a_folder_is_cut_by_syntax_where_that_can_be_done(tmp_path: Path, installed: bool) -> None:
    (kb,) = configuration_for_folder(tmp_path).knowledge_bases
    assert [strategy.chunking.code_aware for strategy in kb.strategies] == [installed, installed]


def test_an_index_that_is_cut_otherwise_is_another_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hashes = set()
    for found in (True, False):
        monkeypatch.setattr(code_grammars, "find_spec", lambda name, found=found: object() if found else None)
        hashes.add(configuration_for_folder(tmp_path).knowledge_bases[0].pipeline_hash)
    assert len(hashes) == 2


@pytest.mark.parametrize(
    "chunking",
    ["size: 1000", "overlap: 10", "code_aware: true", "respect_word_boundaries: false", "prepend_headings: false", "strategy: text"],
)
def test_every_key_of_chunking_changes_the_index(tmp_path: Path, chunking: str) -> None:
    plain, changed = (
        load(tmp_path, knowledge_base(f"{{type: bm25, chunking: {{{keys}}}}}")).knowledge_bases[0].pipeline_hash for keys in ("", chunking)
    )
    assert plain != changed


def test_a_strategy_overrides_what_its_knowledge_base_says_of_headings(tmp_path: Path) -> None:
    strategies = "{type: bm25, chunking: {prepend_headings: true}}"
    (kb,) = load(tmp_path, knowledge_base(strategies, extra="    prepend_headings: false\n")).knowledge_bases
    assert kb.strategies[0].chunking.prepend_headings is True
