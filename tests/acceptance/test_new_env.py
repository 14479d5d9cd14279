"""``new_env.py`` makes a .env that Compose accepts, and never touches one that is there."""

import json
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from support.compose_file import EXAMPLE, REPOSITORY, read_variables, run_compose

SECRETS: Final = ("REDIS_PASSWORD", "QDRANT_API_KEY", "ELASTIC_PASSWORD", "API_KEY", "FLOWER_PASSWORD")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder with what the script needs that makes .env."""
    script = tmp_path / "deploy" / "docker" / "new_env.py"
    script.parent.mkdir(parents=True)
    shutil.copy(REPOSITORY / "deploy" / "docker" / "new_env.py", script)
    shutil.copy(EXAMPLE, tmp_path)
    return tmp_path


def new_env(checkout: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, str(checkout / "deploy" / "docker" / "new_env.py"), *arguments]
    return subprocess.run(command, cwd=checkout, capture_output=True, text=True, timeout=30, check=False)


def test_a_new_env_has_the_folder_and_a_secret_of_its_own_for_everything(checkout: Path) -> None:
    documents = checkout / "my documents"
    documents.mkdir()
    assert new_env(checkout, "my documents").returncode == 0
    made = read_variables(checkout / ".env")
    assert made.keys() == read_variables(EXAMPLE).keys()
    assert len({made[name] for name in SECRETS}) == len(SECRETS)
    assert all(re.fullmatch(r"[0-9a-f]{48}", made[name]) for name in SECRETS)
    assert (checkout / ".env").stat().st_mode & 0o777 == 0o600
    ended = run_compose("--env-file", str(checkout / ".env"), "config", "--format", "json", variables={})
    assert ended.returncode == 0, ended.stderr
    sources = {mount["source"] for mount in json.loads(ended.stdout)["services"]["worker"]["volumes"]}
    assert str(documents) in sources


def test_a_new_env_lets_docmill_run_as_the_owner_of_the_files_but_never_as_root(checkout: Path) -> None:
    module = runpy.run_path(str(checkout / "deploy" / "docker" / "new_env.py"))
    assert "RUN_AS=1000:100\n" in module["filled"]("RUN_AS=10001:10001\n", checkout, 1000, 100)
    assert "RUN_AS=10001:10001\n" in module["filled"]("RUN_AS=10001:10001\n", checkout, 0, 0)


def test_an_env_that_is_there_is_kept(checkout: Path) -> None:
    (checkout / ".env").write_text("REDIS_PASSWORD=old\n", encoding="utf-8")
    ended = new_env(checkout, str(checkout))
    assert ended.returncode == 2
    assert ended.stderr.startswith("new_env.py: .env is there already")
    assert (checkout / ".env").read_text(encoding="utf-8") == "REDIS_PASSWORD=old\n"


@pytest.mark.parametrize("arguments", [(), ("no such folder",), ("docs", "more")])
def test_a_new_env_needs_one_folder(checkout: Path, arguments: tuple[str, ...]) -> None:
    ended = new_env(checkout, *arguments)
    assert ended.returncode == 2
    assert ended.stderr == "new_env.py: name the folder to index: python3 deploy/docker/new_env.py FOLDER\n"
    assert not (checkout / ".env").exists()
