"""Options that several verbs share."""

from pathlib import Path
from typing import Annotated

import typer

from docmill_services.cli.finding import DEFAULT_DATA_DIR

Config = Annotated[
    Path | None, typer.Option("--config", help="Configuration file; else what was indexed last, else docmill.yaml here or above.")
]
DataDir = Annotated[Path, typer.Option("--data-dir", help="Where the indexes are kept.")]
KnowledgeBaseName = Annotated[str | None, typer.Option("--kb", help="Knowledge base; needed where several are configured.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON on standard output.")]
LogLevel = Annotated[str, typer.Option("--log-level", help="debug, info, warning or error.")]

__all__ = ["DEFAULT_DATA_DIR", "AsJson", "Config", "DataDir", "KnowledgeBaseName", "LogLevel"]
