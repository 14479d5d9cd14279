"""The reference pages that are made from the code: ``python -m docmill_services.cli.reference FOLDER`` writes them."""

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from pathlib import Path
from typing import Any, Final

from typer.main import get_command

from docmill.domain.errors import DocmillError, ExitCode, SkipReason
from docmill.domain.registry import DocumentState
from docmill_services.cli.app import app
from docmill_services.cli.format_reference import format_page
from docmill_services.cli.provider_reference import provider_page
from docmill_services.query.app import make_app
from docmill_services.skip_reasons import SKIP_REASONS

_EXIT_CODES: Final[Mapping[ExitCode, str]] = {
    ExitCode.OK: "Done; a search found something.",
    ExitCode.FINDINGS: "Done, with something to look at: no results, a file that is not indexed, failed documents, a failed check; also a "
    "run that took longer than `indexing_timeout`.",
    ExitCode.USAGE: "The call or the configuration is wrong. Nothing was changed.",
    ExitCode.SERVICE_DOWN: "Something that is needed does not answer or has no room; also a run that failed of that, or of its provider, "
    "and one that `--no-wait` left while its provider asked to be called later.",
    ExitCode.INTERRUPTED: "Stopped by Ctrl-C or SIGTERM, or the run was cancelled. What was committed stays, and the next start goes on "
    "from there. `docmill producer`, `worker` and `api`, which run until they are stopped, end with 0 then.",
}
_GENERATED: Final = "<!-- Made by `make docs` from the code; edits here are lost. -->"


def pages() -> dict[str, str]:
    """Every generated page by its file name."""
    return {page: write() for page, write in _PAGES.items()}


def command_page() -> str:
    """``cli.md``: every verb with its arguments and options."""
    root = get_command(app)
    lines = [
        "# Command line",
        "",
        _GENERATED,
        "",
        "Data goes to standard output, everything else to standard error. `search --json` and `status --json` print what HTTP answers.",
        "`index --json` prints each knowledge base's run as HTTP shows it; what `index --dry-run --json` prints is in",
        "[providers](../providers.md#costs), and `status --state STATE --json` prints each knowledge base's documents as HTTP lists",
        "them. `explain --json` prints `{document_id, state, reason?, rule?: {file, line, pattern}, indexed_at?, strategies: {<name>:",
        "{chunks, generation}}, knowledge_base}`, of a folder also `documents`, by state. Where several knowledge bases are asked, it is",
        "the answer of the first in which the file is indexed, with all of them under `knowledge_bases`; `note` says that nothing could be",
        "asked. `state` is one of HTTP's, or `unknown` (not there, or not indexed yet), or `folder`.",
        "An error is one line, and the exit code says what kind it is: see [errors.md](errors.md).",
        "",
    ]
    for name, command in _verbs(root, "docmill"):
        lines += [f"## `{name}`", "", *_description(command), "", *_call(name, command), *_parameters(command)]
    return "\n".join(lines).rstrip() + "\n"


def error_page() -> str:
    """``errors.md``: exit codes, error codes, and the reasons of files that are not indexed."""
    lines = [
        "# Errors",
        "",
        _GENERATED,
        "",
        "Every error has a code that stays the same between versions. The command line prints its message after `docmill: `; HTTP",
        "answers with the code in a problem document (the statuses are in [http.md](http.md#errors)). What to do about the common ones",
        "is in [troubleshooting](../troubleshooting.md).",
        "",
        "## Exit codes",
        "",
        "| exit code | meaning |",
        "| --- | --- |",
        *(f"| {code.value} | {_EXIT_CODES[code]} |" for code in ExitCode),
        "",
        "## Error codes",
        "",
        "| code | exit code | meaning |",
        "| --- | --- | --- |",
        *(f"| `{kind.code}` | {kind.exit_code.value} | {_meaning(kind)} |" for kind in _error_kinds(DocmillError)),
        "",
        "## Why a file is not indexed",
        "",
        "`docmill explain PATH` prints `<reason>: <sentence>`, with the rule where one decided.",
        "",
        "| reason | meaning |",
        "| --- | --- |",
        *(f"| `{reason.value}` | {SKIP_REASONS[reason]} |" for reason in SkipReason),
        f"| `{DocumentState.QUARANTINED}` | Its content has ended the process in which it was worked on alone three times in a row. |",
    ]
    return "\n".join(lines) + "\n"


def api_description() -> str:
    """``openapi.json``: what ``GET /openapi.json`` answers."""
    return json.dumps(make_app({}).openapi(), indent=1, ensure_ascii=False) + "\n"


_PAGES: Final[Mapping[str, Callable[[], str]]] = {
    "cli.md": command_page,
    "errors.md": error_page,
    "formats.md": lambda: format_page(_GENERATED),
    "providers.md": lambda: provider_page(_GENERATED),
    "openapi.json": api_description,
}


def _verbs(command: Any, name: str) -> Iterator[tuple[str, Any]]:
    """The verbs below ``command``; their class is Typer's and differs between its versions."""
    for part, below in getattr(command, "commands", {}).items():
        if getattr(below, "commands", None):
            yield from _verbs(below, f"{name} {part}")
        else:
            yield f"{name} {part}", below


def _description(command: Any) -> list[str]:
    return [" ".join(line.split()) for line in (command.help or "").strip().split("\n\n")]


def _is_option(parameter: Any) -> bool:
    return bool(parameter.opts[0].startswith("-"))


def _call(name: str, command: Any) -> list[str]:
    arguments = [parameter for parameter in command.params if not _is_option(parameter)]
    words = [parameter.name.upper() if parameter.required else f"[{parameter.name.upper()}]" for parameter in arguments]
    return [f"    {' '.join([name, *words, *(['[OPTIONS]'] if len(arguments) < len(command.params) else [])])}", ""]


def _parameters(command: Any) -> list[str]:
    rows = [f"| {_written(parameter)} | {_default(parameter)} | {_help(parameter)} |" for parameter in command.params]
    return ["| argument or option | default | meaning |", "| --- | --- | --- |", *rows, ""] if rows else []


def _written(parameter: Any) -> str:
    if not _is_option(parameter):
        return f"`{parameter.name.upper()}`"
    value = "" if parameter.is_flag else f" {parameter.opts[0].removeprefix('--').replace('-', '_').upper()}"
    return f"`{parameter.opts[0]}{value}`"


def _default(parameter: Any) -> str:
    if parameter.required:
        return "**required**"
    return "" if parameter.default is None or parameter.default is False else f"`{parameter.default}`"


def _help(parameter: Any) -> str:
    choices = [f"`{choice.value}`" for choice in type(parameter.default)] if isinstance(parameter.default, Enum) else []
    return " ".join([parameter.help or "", *([f"One of {', '.join(choices)}."] if choices else [])])


def _error_kinds(kind: type[DocmillError]) -> Iterator[type[DocmillError]]:
    """``kind`` and all below it that the error tree has, in the tree's order."""
    if kind.__module__ == DocmillError.__module__:
        yield kind
        for below in kind.__subclasses__():
            yield from _error_kinds(below)


def _meaning(kind: type[DocmillError]) -> str:
    if kind is DocmillError:
        return "A defect of docmill; please report it with the log."
    return " ".join((kind.__doc__ or "").strip().split("\n\n")[0].split()).replace("``", "`")


def main(arguments: list[str]) -> None:
    """Writes every page into the folder that ``arguments`` names."""
    (folder,) = arguments
    for name, text in pages().items():
        (Path(folder) / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
