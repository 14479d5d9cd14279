"""``docmill status``."""

from typing import Any

from rich.table import Table
from rich.text import Text

from docmill.domain.errors import ExitCode
from docmill_services.cli.api import open_api
from docmill_services.cli.finding import origin_to_ask
from docmill_services.cli.options import DEFAULT_DATA_DIR, AsJson, Config, DataDir
from docmill_services.cli.output import out, print_json


def status(config: Config = None, data_dir: DataDir = DEFAULT_DATA_DIR, as_json: AsJson = False) -> int:
    """Show how every knowledge base stands."""
    with open_api(origin_to_ask(config, data_dir), data_dir) as api:
        found = api.get("/v1/knowledge-bases")
    if as_json:
        print_json(found)
    else:
        for knowledge_base in found["knowledge_bases"]:
            out.print(_table(knowledge_base))
    unwell = any(one["state"] == "failed" or not all(s["ok"] for s in one["stores"].values()) for one in found["knowledge_bases"])
    return ExitCode.FINDINGS if unwell else ExitCode.OK


def _table(one: dict[str, Any]) -> Table:
    table = Table(title=Text(one["name"]), title_justify="left", show_header=False, box=None, pad_edge=False)
    table.add_column(style="dim")
    table.add_column()
    table.add_row("state", one["state"])
    table.add_row("documents", ", ".join(f"{count} {state}" for state, count in one["documents"].items() if count) or "none")
    table.add_row("chunks", ", ".join(f"{count} {name}" for name, count in one["chunks"].items()) or "none")
    for index_set in one["index_sets"][1:]:  # the first one is what the rows above show
        done = sum(index_set["documents"].values())
        table.add_row("being built", f"{done} documents, in the form that the configuration has now ({index_set['id']})")
    run = one["run"]
    if run is not None:
        counters = ", ".join(f"{value} {name}" for name, value in sorted(run["counters"].items()) if value)
        table.add_row("run", f"{run['state']}, started {run['started_at']}; {counters}")
        if run.get("error"):
            table.add_row("", Text(run["error"], style="red"))
    table.add_row("stores", ", ".join(f"{name} {'ok' if s['ok'] else s.get('detail')}" for name, s in one["stores"].items()))
    table.add_row("watching", "yes" if one["watching"] else "no")
    return table
