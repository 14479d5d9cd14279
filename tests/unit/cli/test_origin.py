"""An origin leads to the configuration it stands for, with what the settings say."""

from pathlib import Path

import pytest

from docmill_services.cli.finding import configuration_of
from docmill_services.origin import Origin
from support.configuration_files import knowledge_base, write


@pytest.fixture(params=["a folder", "a file"])
def origin(request: pytest.FixtureRequest, tmp_path: Path) -> Origin:
    if request.param == "a folder":
        return Origin(folder=tmp_path)
    return Origin(config=write(tmp_path, knowledge_base()))


def test_the_scan_interval_of_the_settings_holds_where_the_configuration_has_none(origin: Origin) -> None:
    (kb,) = origin.configuration(scan_interval_seconds=42.0, environ={}).knowledge_bases
    assert kb.scan_interval_seconds == 42.0


def test_commands_take_the_scan_interval_from_the_environment(origin: Origin, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCMILL_SCAN_INTERVAL_SECONDS", "43")
    (kb,) = configuration_of(origin).knowledge_bases
    assert kb.scan_interval_seconds == 43.0
