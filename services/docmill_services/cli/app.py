"""The verbs of ``docmill``."""

from typing import Annotated

import typer

from docmill import __version__
from docmill_services.cli.config_command import config_app
from docmill_services.cli.doctor_command import doctor
from docmill_services.cli.explain_command import explain
from docmill_services.cli.output import out
from docmill_services.cli.search_command import search
from docmill_services.cli.status_command import status
from docmill_services.cli.up_command import index, up

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
app.command(short_help="Show how every knowledge base stands.")(status)
app.command(short_help="Say why a file is found, or is not.")(explain)
app.command(short_help="Check this machine and docmill's parts.")(doctor)
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
