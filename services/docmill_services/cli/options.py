"""Options that several verbs share."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final

import typer

from docmill_services.cli.finding import DEFAULT_DATA_DIR


class LogLevelName(StrEnum):
    """From which level on the log is written."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


def named_path(text: str | Path) -> Path:
    """A path of the command line. An empty one names nothing: ``Path`` alone would take it for the current folder."""
    if not str(text):
        raise typer.BadParameter("it is empty; name a path (an unset variable in a script?)")
    return Path(text)


_CONFIG_HELP: Final = "Configuration file; else what was indexed last, else docmill.yaml here or above."
_CONFIG_TO_INDEX_HELP: Final = "Configuration file; else docmill.yaml here or above, else what was indexed last."

Config = Annotated[Path | None, typer.Option("--config", parser=named_path, metavar="<Path>", help=_CONFIG_HELP)]
ConfigToIndex = Annotated[Path | None, typer.Option("--config", parser=named_path, metavar="<Path>", help=_CONFIG_TO_INDEX_HELP)]
DataDir = Annotated[Path, typer.Option("--data-dir", parser=named_path, metavar="<Path>", help="Where the indexes are kept.")]
Target = Annotated[
    Path | None,
    typer.Argument(parser=named_path, metavar="TARGET", help="A folder to index, or a configuration file.", show_default=False),
]
TargetName = Annotated[str | None, typer.Option("--name", help="Name of a folder's knowledge base.")]
KnowledgeBaseName = Annotated[str | None, typer.Option("--kb", help="Knowledge base; needed where several are configured.")]
ConfigToServe = Annotated[
    Path | None, typer.Option("--config", parser=named_path, metavar="<Path>", help="Configuration file; else docmill.yaml here or above.")
]
HealthHost = Annotated[str, typer.Option(help="Address on which it says whether it is well.")]
HealthPort = Annotated[int, typer.Option(min=0, max=65535, help="Port for that; 0 takes a free one.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON on standard output.")]
LogLevel = Annotated[LogLevelName, typer.Option("--log-level", case_sensitive=False, help="From which level on the log is written.")]

__all__ = [
    "DEFAULT_DATA_DIR",
    "AsJson",
    "Config",
    "ConfigToIndex",
    "ConfigToServe",
    "DataDir",
    "HealthHost",
    "HealthPort",
    "KnowledgeBaseName",
    "LogLevel",
    "LogLevelName",
    "Target",
    "TargetName",
    "named_path",
]
