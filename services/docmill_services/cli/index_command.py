"""``docmill index``."""

import os
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from docmill.adapters.embedded.data_folder import running_server
from docmill.bootstrap import names_servers
from docmill.config.loading import Configuration
from docmill.config.settings import Settings
from docmill.domain.errors import DataFolderInUse, ExitCode, UsageError
from docmill.domain.runs import Run
from docmill.telemetry.logs import configure_logs
from docmill_services.cli.api import open_api
from docmill_services.cli.dry_run import show_dry_run
from docmill_services.cli.finding import origin_to_index
from docmill_services.cli.index_over_http import cancel_over_http, index_over_http, say_left
from docmill_services.cli.one_machine import one_machine, readable_configuration
from docmill_services.cli.options import DEFAULT_DATA_DIR, AsJson, ConfigToIndex, DataDir, LogLevel, LogLevelName, Target, TargetName
from docmill_services.cli.output import print_json, say
from docmill_services.cli.progress import follow, has_ended, has_ended_or_backs_off, say_summaries
from docmill_services.cli.run_endings import exit_code_of_runs
from docmill_services.cli.stopping import stop_signal
from docmill_services.origin import Origin
from docmill_services.query.render import run_reply


def index(
    target: Target = None,
    name: TargetName = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what a run would index, embed and cost; change nothing.")] = False,
    no_wait: Annotated[bool, typer.Option("--no-wait", help="End with 3 where a provider asked to be called later.")] = False,
    cancel: Annotated[bool, typer.Option("--cancel", help="End the run that is going on in a running docmill.")] = False,
    config: ConfigToIndex = None,
    data_dir: DataDir = DEFAULT_DATA_DIR,
    as_json: AsJson = False,
    log_level: LogLevel = LogLevelName.WARNING,
) -> int:
    """Index once and end; the exit code says how the run ended. Beside a running docmill it asks that one for a run.

    Where the environment names servers it asks the producer for one. While a provider asks to be called later it waits, and goes on then.
    """
    configure_logs(level=log_level)
    if sum((dry_run, no_wait, cancel)) > 1:
        raise UsageError("--dry-run, --no-wait and --cancel exclude each other")
    origin = origin_to_index(target, config, data_dir, name)
    settings = Settings.from_environment(os.environ)
    configuration = readable_configuration(origin, settings)
    if dry_run:
        return show_dry_run(configuration, settings, data_dir, as_json=as_json)
    if cancel:
        runs, code = _cancel(configuration, settings, origin, data_dir), ExitCode.OK
    else:
        with stop_signal() as stopping:
            runs = _index(configuration, settings, origin, data_dir, stopping, no_wait=no_wait, log_level=log_level)
            code = exit_code_of_runs(runs.values(), interrupted=stopping.is_set())
    if as_json:
        print_json({name: run_reply(run).model_dump(mode="json", exclude_unset=True) for name, run in runs.items()})
    return code


def _index(
    configuration: Configuration,
    settings: Settings,
    origin: Origin,
    data_dir: Path,
    stopping: threading.Event,
    *,
    no_wait: bool,
    log_level: LogLevelName,
) -> Mapping[str, Run]:
    is_over = has_ended_or_backs_off if no_wait else has_ended
    if _is_asked_for(data_dir, settings):
        with open_api(origin, data_dir) as api:
            runs = index_over_http(api, _names(configuration), stopping, is_over=is_over)
        _say(runs, stopping)
        say_left(runs)
        return runs
    with one_machine(configuration, settings, origin, data_dir, watch=False, log_level=log_level) as service:
        service.engine.require_room()
        service.start(None, 0)
        runs = follow(service.runs_now, stopping.wait, service.check_progress, is_over=is_over)
        if _have_ended(runs):
            service.finish(stopping)
            runs = service.runs_now()  # what was in work when a run ended early has been counted since
        _say(runs, stopping)
    return runs


def _say(runs: Mapping[str, Run], stopping: threading.Event) -> None:
    if _have_ended(runs) or not stopping.is_set():
        say_summaries(runs)


def _have_ended(runs: Mapping[str, Run]) -> bool:
    return all(run.state.final for run in runs.values())


def _is_asked_for(data_dir: Path, settings: Settings) -> bool:
    """Whether another process does the work: the one that holds the data folder, or those on the servers that are named.

    Raises:
        DataFolderInUse: a process indexes into the data folder, and does not answer over HTTP.
    """
    running = running_server(data_dir)
    if running is not None and running.url is None:
        raise DataFolderInUse(f"process {running.pid} is indexing into {data_dir}; wait for it, or use another --data-dir")
    if running is None and names_servers(settings):
        say("asking for a run: docmill producer plans it, docmill worker does it")
        return True
    return running is not None


def _cancel(configuration: Configuration, settings: Settings, origin: Origin, data_dir: Path) -> Mapping[str, Run]:
    running = running_server(data_dir)
    if (running is None or running.url is None) and not names_servers(settings):
        raise UsageError(f"no docmill answers for {data_dir}; where docmill index or docmill up --once runs, Ctrl-C ends it")
    with open_api(origin, data_dir) as api:
        runs = cancel_over_http(api, _names(configuration))
    for name, run in runs.items():
        say(f"{name}: {run.state.value}; what was indexed stays")
    if not runs:
        say("no run is going on")
    return runs


def _names(configuration: Configuration) -> Sequence[str]:
    return [one.name for one in configuration.knowledge_bases]
