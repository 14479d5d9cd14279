"""The verbs of ``docmill``."""

from typing import Annotated

import typer

from docmill import __version__
from docmill_services.cli.api_command import api
from docmill_services.cli.approve_command import approve_removals
from docmill_services.cli.ask_command import ask
from docmill_services.cli.config_command import config_app
from docmill_services.cli.doctor_command import doctor
from docmill_services.cli.eval_command import evaluate_searches
from docmill_services.cli.explain_command import explain
from docmill_services.cli.index_command import index
from docmill_services.cli.keys_command import keys_app
from docmill_services.cli.mcp_command import mcp
from docmill_services.cli.output import out
from docmill_services.cli.producer_command import producer
from docmill_services.cli.retry_command import retry
from docmill_services.cli.search_command import search
from docmill_services.cli.status_command import status
from docmill_services.cli.up_command import up
from docmill_services.cli.verify_command import verify
from docmill_services.cli.worker_command import worker

app = typer.Typer(
    name="docmill",
    help="Keeps folders of files searchable while they change.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.command(short_help="Index, follow changes and answer searches.")(up)
app.command(short_help="Index once and end.")(index)
app.command(short_help="Search what is indexed.")(search)
app.command(short_help="Answer a question, with citations.")(ask)
app.command(short_help="Show how every knowledge base stands.")(status)
app.command(short_help="Say why a file is found, or is not.")(explain)
app.command(short_help="Compare files, registry and stores.")(verify)
app.command(name="eval", short_help="Measure how well searches find what was judged relevant.")(evaluate_searches)
app.command(short_help="Try failed and quarantined files again.")(retry)
app.command(short_help="Remove what is missing and was kept.")(approve_removals)
app.command(short_help="Check this machine and docmill's parts.")(doctor)
app.command(short_help="Serve MCP on standard input and output.")(mcp)
app.command(short_help="Scan and plan, as a process of its own.")(producer)
app.command(short_help="Index what is planned, as a process of its own.")(worker)
app.command(short_help="Answer searches, as a process of its own.")(api)
app.add_typer(keys_app, name="keys", help="Make, list and revoke API keys.")
app.add_typer(config_app, name="config", help="Check and show the configuration.")


def _version(wanted: bool) -> None:
    if wanted:
        out.print(f"docmill {__version__}")
        raise typer.Exit


@app.callback()
def docmill(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")] = False,
) -> None:
    """Keeps folders of files searchable while they change."""
