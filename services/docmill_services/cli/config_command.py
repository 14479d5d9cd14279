"""`docmill config`: checks and shows configuration files, and prints their schema."""

import json
import os
from pathlib import Path
from typing import Annotated

import typer
import yaml

from docmill.config import (
    Configuration,
    configuration_schema,
    describe,
    find_configuration,
    load_configuration,
    missing_roots,
    unavailable_parts,
)
from docmill.config.loading import CONFIGURATION_FILE
from docmill.config.settings import Settings
from docmill.domain.errors import ConfigurationNotFound
from docmill.domain.knowledge_bases import KnowledgeBase
from docmill_services.cli.options import named_path

config_app = typer.Typer(name="config", help="Check and show configuration files.", no_args_is_help=True)

_File = Annotated[
    Path | None,
    typer.Argument(parser=named_path, metavar="FILE", help=f"The file; {CONFIGURATION_FILE} here or in a folder above when not given."),
]
_Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@config_app.command()
def check(file: _File = None, as_json: _Json = False) -> None:
    """Check a configuration file: one line for each knowledge base, warnings on standard error."""
    configuration = _load(file)
    warnings = _warnings(configuration)
    if as_json:
        report = {
            "file": str(configuration.path),
            "ok": True,
            "knowledge_bases": [_summary(kb) for kb in configuration.knowledge_bases],
            "warnings": warnings,
            "notes": list(configuration.notes),
        }
        typer.echo(json.dumps(report, indent=2, ensure_ascii=False))
        return
    for warning in warnings:
        typer.echo(f"warning: {warning}", err=True)
    for note in configuration.notes:
        typer.echo(f"note: {note}", err=True)
    for kb in configuration.knowledge_bases:
        typer.echo(_line(kb))


@config_app.command()
def show(file: _File = None, as_json: _Json = False) -> None:
    """Print the configuration as it takes effect, with every default."""
    described = describe(_load(file))
    if as_json:
        typer.echo(json.dumps(described, indent=2, ensure_ascii=False))
    else:
        typer.echo(yaml.dump(described, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120), nl=False)


@config_app.command()
def schema() -> None:
    """Print the JSON Schema of configuration files."""
    typer.echo(json.dumps(configuration_schema(), indent=2))


class _Dumper(yaml.SafeDumper):
    """Writes text of several lines as it reads."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _text)


def _load(file: Path | None) -> Configuration:
    found = find_configuration(Path.cwd()) if file is None else file
    if found is None:
        raise ConfigurationNotFound(f"there is no {CONFIGURATION_FILE} here or in a folder above; name a file, or write one")
    settings = Settings.from_environment(os.environ)
    return load_configuration(found, scan_interval_seconds=settings.scan_interval_seconds, environ=os.environ)


def _warnings(configuration: Configuration) -> list[str]:
    missing = [
        f"rag.{kb.name}.docs: {root}: there is no such file or folder" for kb in configuration.knowledge_bases for root in missing_roots(kb)
    ]
    return [*configuration.warnings, *missing, *(str(part) for part in unavailable_parts(configuration))]


def _summary(kb: KnowledgeBase) -> dict[str, object]:
    return {
        "name": kb.name,
        "strategies": [{"name": strategy.name, "type": strategy.kind.value} for strategy in kb.strategies],
        "docs": _docs(kb),
        "index_set": kb.pipeline_hash,
    }


def _line(kb: KnowledgeBase) -> str:
    strategies = ", ".join(
        f"{strategy.name} ({strategy.embedding.name})" if strategy.embedding else strategy.name for strategy in kb.strategies
    )
    fusion = f"; {kb.results.fusion.kind.value}" if len(kb.strategies) > 1 else ""
    return f"{kb.name}: {strategies}{fusion}; docs: {', '.join(_docs(kb)) or 'pushed ones only'}"


def _docs(kb: KnowledgeBase) -> list[str]:
    return list(dict.fromkeys(root for roots in (kb.roots, *(strategy.roots for strategy in kb.strategies)) for root in roots))
