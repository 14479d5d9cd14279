"""``docmill keys``."""

from typing import Annotated
from urllib.parse import quote

import typer

from docmill.config.quantities import parse_duration
from docmill.domain.access import Right
from docmill.domain.errors import ExitCode, UsageError
from docmill_services.cli.api import open_api
from docmill_services.cli.finding import origin_to_ask
from docmill_services.cli.options import DEFAULT_DATA_DIR, AsJson, Config, DataDir
from docmill_services.cli.output import out, print_json, printable, say, valid_text

keys_app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@keys_app.command("create")
def create(
    name: Annotated[str, typer.Argument(help="What the key is for, for people.")],
    kb: Annotated[list[str] | None, typer.Option("--kb", help="Only this knowledge base; may be repeated.")] = None,
    right: Annotated[Right, typer.Option(case_sensitive=False, help="What it may do; admin is everything.")] = Right.READ,
    expires: Annotated[str | None, typer.Option(help="After this time it is void, such as 720h.")] = None,
    requests_per_minute: Annotated[int | None, typer.Option(min=1, help="How many requests are answered in a minute.")] = None,
    config: Config = None,
    data_dir: DataDir = DEFAULT_DATA_DIR,
    as_json: AsJson = False,
) -> int:
    """Make a key and print it, this once; from the first key on, every request needs one."""
    body: dict[str, object] = {"name": valid_text(name), "right": right.value}
    if kb:
        body["knowledge_bases"] = [valid_text(one) for one in kb]
    if expires is not None:
        body["expires_in_seconds"] = _seconds(expires)
    if requests_per_minute is not None:
        body["requests_per_minute"] = requests_per_minute
    with open_api(origin_to_ask(config, data_dir), data_dir) as api:
        made = api.post("/v1/keys", body)
    if as_json:
        print_json(made)
    else:
        out.print(made["key"], markup=False, highlight=False)
        say(f"key {made['id']}: keep it now, it is not shown again; it goes into the header Authorization: Bearer KEY")
    return ExitCode.OK


@keys_app.command("list")
def list_keys(config: Config = None, data_dir: DataDir = DEFAULT_DATA_DIR, as_json: AsJson = False) -> int:
    """List the keys, without the keys themselves."""
    with open_api(origin_to_ask(config, data_dir), data_dir) as api:
        found = api.get("/v1/keys")
    if as_json:
        print_json(found)
        return ExitCode.OK
    for key in found["keys"]:
        bases = "all knowledge bases" if key["knowledge_bases"] is None else ", ".join(key["knowledge_bases"])
        limit = f", {key['requests_per_minute']} requests a minute" if key["requests_per_minute"] else ""
        end = f", until {key['expires_at']}" if key["expires_at"] else ""
        out.print(printable(f"{key['id']}  {key['name']}: {key['right']}, {bases}{limit}{end}"), markup=False, highlight=False)
    if not found["keys"]:
        say("there are no keys: everybody on this machine may ask")
    return ExitCode.OK


@keys_app.command("revoke")
def revoke(
    key_id: Annotated[str, typer.Argument(help="The id that list shows.")],
    config: Config = None,
    data_dir: DataDir = DEFAULT_DATA_DIR,
) -> int:
    """Revoke a key: within two seconds it is refused everywhere."""
    with open_api(origin_to_ask(config, data_dir), data_dir) as api:
        api.delete(f"/v1/keys/{quote(valid_text(key_id), safe='')}")
    say(f"key {key_id} is revoked")
    return ExitCode.OK


def _seconds(text: str) -> float:
    try:
        seconds = parse_duration(text)
    except ValueError as error:
        raise UsageError(f"--expires: {error}") from error
    if seconds <= 0:
        raise UsageError("--expires: must be longer than nothing")
    return seconds
