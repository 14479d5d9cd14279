"""Options that several verbs share."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from docmill_services.cli.finding import DEFAULT_DATA_DIR


class LogLevelName(StrEnum):
    """From which level on the log is written."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


Config = Annotated[
    Path | None, typer.Option("--config", help="Configuration file; else what was indexed last, else docmill.yaml here or above.")
]
ConfigToIndex = Annotated[
    Path | None, typer.Option("--config", help="Configuration file; else docmill.yaml here or above, else what was indexed last.")
]
DataDir = Annotated[Path, typer.Option("--data-dir", help="Where the indexes are kept.")]
KnowledgeBaseName = Annotated[str | None, typer.Option("--kb", help="Knowledge base; needed where several are configured.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON on standard output.")]
LogLevel = Annotated[LogLevelName, typer.Option("--log-level", case_sensitive=False, help="From which level on the log is written.")]

__all__ = ["DEFAULT_DATA_DIR", "AsJson", "Config", "ConfigToIndex", "DataDir", "KnowledgeBaseName", "LogLevel", "LogLevelName"]
