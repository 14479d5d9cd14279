"""``docmill search``."""

import re
from typing import Annotated, Any

import typer
from rich.text import Text

from docmill.domain.errors import ExitCode
from docmill_services.cli.api import open_api
from docmill_services.cli.finding import configuration_of, knowledge_base_meant, origin_to_ask
from docmill_services.cli.options import DEFAULT_DATA_DIR, AsJson, Config, DataDir, KnowledgeBaseName
from docmill_services.cli.output import out, print_json, printable, say, valid_text

_SHOWN_CHARACTERS = 300
_WORTH_SHOWING = 4


def search(
    query: Annotated[str, typer.Argument(help="What to look for: words, identifiers or a question.")],
    kb: KnowledgeBaseName = None,
    limit: Annotated[int | None, typer.Option(help="How many results.")] = None,
    strategy: Annotated[list[str] | None, typer.Option(help="Only this strategy; may be repeated.")] = None,
    path: Annotated[str | None, typer.Option(help="Only documents whose path matches this glob.")] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show where each strategy placed a result.")] = False,
    full: Annotated[bool, typer.Option("--full", help="Show whole documents.")] = False,
    config: Config = None,
    data_dir: DataDir = DEFAULT_DATA_DIR,
    as_json: AsJson = False,
) -> int:
    """Search what is indexed; asks a running docmill, else the servers that the environment names, else opens the data folder."""
    origin = origin_to_ask(config, data_dir)
    name = knowledge_base_meant(configuration_of(origin), kb).name
    body: dict[str, Any] = {"query": valid_text(query), "include_score": True, "explain": explain}
    if limit is not None:
        body["limit"] = limit
    if strategy:
        body["strategies"] = [valid_text(name) for name in strategy]
    if path is not None:
        body["filter"] = {"path_glob": valid_text(path)}
    if full:
        body["return_full_content"] = True
    with open_api(origin, data_dir) as api:
        found = api.post(f"/v1/knowledge-bases/{name}/search", body)
    if as_json:
        print_json(found)
    else:
        _show(found, query, full=full)
    return ExitCode.OK if found["results"] else ExitCode.FINDINGS


def _show(found: dict[str, Any], query: str, *, full: bool) -> None:
    for result in found["results"]:
        page = result.get("page")
        place = f"{result['path']}, p. {page}" if page else f"{result['path']}:{result['start_line']}-{result['end_line']}"
        line = Text(f"{result['rank']:>2}. ")
        line.append(printable(place), style="bold cyan")
        headings = " › ".join(result["headings"])
        if headings:
            line.append(printable(f"  {headings}"), style="green")
        if result.get("score") is not None:
            line.append(f"  {result['score']:.4f}", style="dim")
        if result["stale"]:
            line.append("  changed since", style="yellow")
        out.print(line)
        text = result["text"] if full else excerpt_of(result["text"], query)
        out.print(Text("    " + printable(text).replace("\n", "\n    ")))
        for name, trace in (result.get("strategies") or {}).items():
            out.print(Text(f"    {name}: rank {trace['rank']}, score {trace['score']:.4f}", style="dim"))
    if not found["results"]:
        say("no results")
    for degraded in found["degraded"]:
        say(f"without {degraded['strategy']}: {degraded['reason']}")
    pending, complete = found["freshness"]["pending"], found["freshness"]["last_complete_run"]
    if found["freshness"]["unverified"]:
        say("the registry does not answer: a document may be shown as it was before its last change")
    elif not pending and not complete:
        say("not everything was indexed once yet; docmill status shows how it stands")
    if pending:
        wait = "1 document waits or is" if pending == 1 else f"{pending} documents wait or are"
        say(f"{wait} in work{'' if complete else ', and not everything was indexed once yet'}")


def excerpt_of(text: str, query: str) -> str:
    """The beginning of ``text``, or what follows the first line with a word of ``query`` where the beginning has none."""
    text = text.strip("\n")
    if len(text) <= _SHOWN_CHARACTERS:
        return text
    words = [word for word in re.findall(r"\w+", query.lower()) if len(word) >= _WORTH_SHOWING]
    before = ""
    if not any(word in _beginning_of(text).lower() for word in words):
        lines = text.splitlines(keepends=True)
        first = next((place for place, line in enumerate(lines) if any(word in line.lower() for word in words)), 0)
        text, before = "".join(lines[first:]), "… " if first else ""
    if len(text) <= _SHOWN_CHARACTERS:
        return before + text
    return f"{before}{_beginning_of(text)} …"


def _beginning_of(text: str) -> str:
    """Its first lines, as many as are shown whole; of a longer line its beginning."""
    return text[:_SHOWN_CHARACTERS].rsplit("\n", 1)[0].rstrip()
