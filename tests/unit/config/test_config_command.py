import json
from pathlib import Path

import pytest
import yaml
from click.testing import Result
from typer.testing import CliRunner

from docmill.config import load_configuration
from docmill.domain.errors import ConfigurationError, ConfigurationNotFound
from docmill_services.cli.config_command import config_app
from support.configuration_files import knowledge_base, write

HYBRID = knowledge_base(
    "{type: chunked-embeddings, embedding_model: local/all-minilm-l6-v2, batch_size: 10}",
    "      - {type: bm25, database: ./x.db}\n    answer: {model: openai/x}\n",
)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(config_app, list(arguments))


def test_check_prints_a_line_for_each_knowledge_base_and_warns_on_standard_error(tmp_path: Path) -> None:
    path = write(tmp_path, HYBRID)
    result = run("check", str(path))
    assert result.exit_code == 0
    assert result.stdout == f"notes: chunked-embeddings (local/all-minilm-l6-v2), bm25; rrf; docs: {tmp_path}/notes\n"
    assert result.stderr.splitlines() == [
        f"warning: {path}:5:77: rag.notes.strategies[0].batch_size: is read as `embedding_batch_size`",
        f"warning: rag.notes.docs: {tmp_path}/notes: there is no such file or folder",
        f"note: {path}:6:22: rag.notes.strategies[1].database: is not used; the index is kept in the data folder, "
        "or in the servers that are set",
    ]


def test_check_prints_json(tmp_path: Path) -> None:
    result = run("check", str(write(tmp_path, HYBRID)), "--json")
    report = json.loads(result.stdout)
    assert report["ok"] is True
    assert report["knowledge_bases"][0]["name"] == "notes"
    assert report["knowledge_bases"][0]["strategies"][1] == {"name": "bm25", "type": "bm25"}
    assert len(report["warnings"]) == 2
    assert result.stderr == ""


def test_check_finds_the_file_upwards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, HYBRID)
    (tmp_path / "notes").mkdir()
    monkeypatch.chdir(tmp_path / "notes")
    assert run("check").stdout.startswith("notes: ")


def test_without_a_file_anywhere_nothing_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")
    assert isinstance(run("check").exception, ConfigurationNotFound)


def test_a_bad_file_raises_what_is_wrong_with_it(tmp_path: Path) -> None:
    path = write(tmp_path, knowledge_base("{type: bm25, limit: 0}"))
    error = run("check", str(path)).exception
    assert isinstance(error, ConfigurationError)
    assert str(error) == f"{path}:5:29: rag.notes.strategies[0].limit: must be at least 1, not `0`"


def test_show_prints_a_file_that_means_the_same(tmp_path: Path) -> None:
    path = write(tmp_path, HYBRID)
    shown = run("show", str(path)).stdout
    again = tmp_path / "shown.yaml"
    again.write_text(shown, encoding="utf-8")
    assert load_configuration(again).knowledge_bases == load_configuration(path).knowledge_bases
    assert json.loads(run("show", str(path), "--json").stdout) == yaml.safe_load(shown)


def test_schema_prints_json() -> None:
    assert json.loads(run("schema").stdout)["title"] == "docmill configuration"


def test_show_takes_the_settings_of_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCMILL_SCAN_INTERVAL_SECONDS", "120")
    shown = yaml.safe_load(run("show", str(write(tmp_path, HYBRID))).stdout)
    assert shown["rag"]["notes"]["scan_interval"] == "2m"
