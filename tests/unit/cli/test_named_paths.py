"""An empty path names nothing: it must not mean the current folder."""

import pytest
import typer
from typer.testing import CliRunner

from docmill_services.cli.app import app


@pytest.mark.parametrize(
    "arguments",
    [
        ["up", ""],
        ["up", "--config", ""],
        ["up", ".", "--data-dir", ""],
        ["index", ""],
        ["index", "--config", ""],
        ["search", "words", "--config", ""],
        ["search", "words", "--data-dir", ""],
        ["status", "--data-dir", ""],
        ["explain", ""],
        ["doctor", "--data-dir", ""],
        ["config", "check", ""],
        ["config", "show", ""],
    ],
    ids=" ".join,
)
def test_an_empty_path_is_a_usage_error(arguments: list[str]) -> None:
    with pytest.raises(typer.BadParameter, match="it is empty; name a path"):
        CliRunner().invoke(app, arguments, standalone_mode=False, catch_exceptions=False)
