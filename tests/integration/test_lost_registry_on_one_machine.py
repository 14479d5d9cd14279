"""A data folder whose registry was lost: the next command rebuilds it from the stores."""

import json
import shutil
from pathlib import Path

import pytest

from docmill_services.cli.index_command import index
from docmill_services.cli.verify_command import verify
from support.running_docmill import write_configuration

FILES = 12


@pytest.fixture
def configuration(tmp_path: Path) -> Path:
    docs = tmp_path / "docs"
    docs.mkdir()
    for number in range(FILES):
        (docs / f"{number}.md").write_text(f"# Title {number}\n\nText of file {number}.\n", encoding="utf-8")
    return write_configuration(tmp_path / "docmill.yaml", docs, name="library")


def verified(
    configuration: Path, data_dir: Path, capsys: pytest.CaptureFixture[str], *, repair: bool = False
) -> tuple[int, dict[str, object]]:
    capsys.readouterr()
    code = verify(repair=repair, config=configuration, data_dir=data_dir, as_json=True)
    return code, json.loads(capsys.readouterr().out)


def test_nothing_is_indexed_again_after_the_registry_was_lost(
    configuration: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data_dir = tmp_path / "data"
    assert index(config=configuration, data_dir=data_dir) == 0
    shutil.rmtree(data_dir / "valkey")
    assert verified(configuration, data_dir, capsys) == (0, {"ok": True, "documents": FILES, "findings": [], "pending": 0})
    capsys.readouterr()
    assert index(config=configuration, data_dir=data_dir, as_json=True) == 0
    counters = json.loads(capsys.readouterr().out)["library"]["counters"]
    assert (counters["unchanged"], counters.get("embedded", 0)) == (FILES, 0)


def test_a_repair_does_the_work_when_nothing_runs(configuration: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data_dir = tmp_path / "data"
    assert index(config=configuration, data_dir=data_dir) == 0
    docs = tmp_path / "docs"
    (docs / "new.md").write_text("New.\n", encoding="utf-8")
    (docs / "0.md").write_text("Changed.\n", encoding="utf-8")
    (docs / "1.md").unlink()
    code, found = verified(configuration, data_dir, capsys)
    assert code == 1
    expected = [("stale", "docs/0.md"), ("orphan", "docs/1.md"), ("missing", "docs/new.md")]
    assert isinstance(found["findings"], list)
    assert [(finding["kind"], finding["document_id"]) for finding in found["findings"]] == expected
    code, repaired = verified(configuration, data_dir, capsys, repair=True)
    assert (code, repaired["ok"]) == (1, False)
    assert verified(configuration, data_dir, capsys) == (0, {"ok": True, "documents": FILES, "findings": [], "pending": 0})
