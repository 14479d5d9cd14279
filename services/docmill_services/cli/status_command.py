"""``docmill status``."""

import time
from collections.abc import Iterator
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Final

import typer
from rich.text import Text

from docmill.domain.errors import ExitCode
from docmill_services.cli.api import Api, open_api
from docmill_services.cli.finding import configuration_of, knowledge_base_meant, origin_to_ask
from docmill_services.cli.options import DEFAULT_DATA_DIR, AsJson, Config, DataDir
from docmill_services.cli.output import counted, out, print_json, print_rows, say

_PAGE: Final = 500


class ListedState(StrEnum):
    """The states whose documents can be listed."""

    FAILED = "failed"
    SKIPPED = "skipped"
    QUARANTINED = "quarantined"
    PENDING = "pending"
    EMPTY = "empty"
    LIVE = "live"


def status(
    state: Annotated[
        ListedState | None,
        typer.Option(case_sensitive=False, help=f"List the files in this state, each with its reason: {', '.join(ListedState)}."),
    ] = None,
    kb: Annotated[str | None, typer.Option("--kb", help="Only this knowledge base.")] = None,
    config: Config = None,
    data_dir: DataDir = DEFAULT_DATA_DIR,
    as_json: AsJson = False,
) -> int:
    """Show how every knowledge base stands, or list its failed, skipped or waiting files."""
    origin = origin_to_ask(config, data_dir)
    names = None if kb is None else [knowledge_base_meant(configuration_of(origin), kb).name]
    with open_api(origin, data_dir) as api:
        found = api.get("/v1/knowledge-bases")
        if names is not None:
            found = {"knowledge_bases": [one for one in found["knowledge_bases"] if one["name"] in names]}
        if state is not None:
            _list([one["name"] for one in found["knowledge_bases"]], state, api, as_json=as_json)
            return ExitCode.OK
    if as_json:
        print_json(found)
    else:
        for knowledge_base in found["knowledge_bases"]:
            print_rows(knowledge_base["name"], rows_of(knowledge_base, time.time()))
    unwell = any(one["state"] == "failed" or not all(s["ok"] for s in one["stores"].values()) for one in found["knowledge_bases"])
    return ExitCode.FINDINGS if unwell else ExitCode.OK


def documents_in(api: Api, name: str, state: ListedState) -> Iterator[dict[str, Any]]:
    """The documents of a knowledge base in ``state``, page after page, as HTTP lists them; raises ``ApiError`` or ``ServiceDown``."""
    cursor: str | None = None
    while True:
        page = api.get(f"/v1/knowledge-bases/{name}/documents", state=state.value, limit=_PAGE, cursor=cursor)
        yield from page["documents"]
        cursor = page["next"]
        if cursor is None:
            return


def _list(names: list[str], state: ListedState, api: Api, *, as_json: bool) -> None:
    if as_json:
        print_json({name: list(documents_in(api, name, state)) for name in names})
        return
    count = 0
    for name in names:
        for document in documents_in(api, name, state):
            count += 1
            where = f"{name}: " if len(names) > 1 else ""
            reason = document.get("reason")
            out.print(f"{where}{document['document_id']}{f': {reason}' if reason else ''}", markup=False)
    say(f"{count} {'file is' if count == 1 else 'files are'} {state.value}")


def rows_of(one: dict[str, Any], now: float) -> list[tuple[str, str | Text]]:
    """How a knowledge base stands, as HTTP says it, for people; ``now`` in seconds since 1970."""
    rows: list[tuple[str, str | Text]] = [
        ("state", one["state"]),
        ("documents", ", ".join(f"{count} {state}" for state, count in one["documents"].items() if count) or "none"),
        ("chunks", ", ".join(f"{count} {name}" for name, count in one["chunks"].items()) or "none"),
    ]
    for index_set in one["index_sets"][1:]:  # the first one is what the rows above show
        done = sum(index_set["documents"].values())
        rows.append(("being built", f"{counted(done, 'document')}, in the form that the configuration has now ({index_set['id']})"))
    run = one["run"]
    if run is not None:
        until = _until(run.get("retry_at"), now, "and tries its provider again")
        rows.append(("run", f"{run['state']}{until}, started {run['started_at']}; {_counters(run)}"))
        if run.get("error"):
            rows.append(("", Text(run["error"], style="red")))
    for gate in one["gate"]:
        said = f"{gate['provider']} {gate['state']}{_until(gate.get('opens_at'), now, 'to be tried by the next request')}"
        rows.append(("provider", Text(said, style="" if gate["state"] == "open" else "yellow")))
    for reranker in one["reranking"]:
        if not reranker["ok"]:
            rows.append(("reranking", Text(f"without {reranker['model']}: {reranker['detail']}", style="yellow")))
    rows.append(("stores", ", ".join(f"{name} {'ok' if s['ok'] else s.get('detail')}" for name, s in one["stores"].items())))
    rows.append(("watching", "yes" if one["watching"] else "no"))
    if one.get("watching_trouble"):
        rows.append(("", Text(one["watching_trouble"], style="yellow")))
    held = one.get("removals_held")
    if held:
        said = f"{counted(held['documents'], 'document')} kept since {held['since']}: {held['reason']}"
        rows.append(("removals", Text(f"{said}; docmill approve-removals, if they are gone for good", style="yellow")))
    if run is not None and run["finished_at"] is None and not one["producer"]:
        rows.append(("producer", Text("none: nobody plans the run (docmill producer)", style="yellow")))
    return rows


def _counters(run: dict[str, Any]) -> str:
    counted_so_far = sorted(run["counters"].items())
    return ", ".join(f"{value} {name.replace('.', ' ', 1)}" for name, value in counted_so_far if value) or "nothing counted"


def _until(moment: str | None, now: float, then: str) -> str:
    """Until when a provider is left alone; after that its gate is closed all the same until somebody asks, who tries it."""
    if moment is None:
        return ""
    return f" until {moment}" if datetime.fromisoformat(moment).timestamp() > now else f", {then}"
