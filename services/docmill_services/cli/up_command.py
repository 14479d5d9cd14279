"""``docmill up``."""

import os
import threading
from collections.abc import Mapping
from typing import Annotated

import typer

from docmill.config.settings import Settings
from docmill.domain.errors import ExitCode
from docmill.domain.runs import Run
from docmill.telemetry.logs import configure_logs
from docmill_services.cli.finding import origin_to_index
from docmill_services.cli.one_machine import one_machine, readable_configuration
from docmill_services.cli.options import DEFAULT_DATA_DIR, ConfigToIndex, DataDir, LogLevel, LogLevelName, Target, TargetName
from docmill_services.cli.output import say
from docmill_services.cli.progress import follow, say_summaries
from docmill_services.cli.run_endings import exit_code_of_runs
from docmill_services.cli.stopping import stop_signal

DEFAULT_PORT = 8700
_LOOK_SECONDS = 0.2


def up(
    target: Target = None,
    name: TargetName = None,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes a free one.")] = DEFAULT_PORT,
    once: Annotated[bool, typer.Option("--once", help="Index, and end when the run is complete.")] = False,
    no_watch: Annotated[bool, typer.Option("--no-watch", help="Do not follow changes of files.")] = False,
    config: ConfigToIndex = None,
    data_dir: DataDir = DEFAULT_DATA_DIR,
    log_level: LogLevel = LogLevelName.WARNING,
) -> int:
    """Index a folder or what a configuration names, keep it true while files change, and answer searches."""
    configure_logs(level=log_level)
    origin = origin_to_index(target, config, data_dir, name)
    settings = Settings.from_environment(os.environ)
    configuration = readable_configuration(origin, settings)
    watch = not (no_watch or once)
    with stop_signal() as stopping, one_machine(configuration, settings, origin, data_dir, watch=watch, log_level=log_level) as service:
        if once:
            service.engine.require_room()
        url = service.start(host, port)
        say(f'docmill answers at {url} (data in {data_dir}); docmill search "..." asks it, Ctrl-C stops it')
        if once:
            follow(service.runs_now, stopping.wait, service.check_progress)
            service.finish(stopping)
            runs = service.runs_now()  # what was in work when a run ended early has been counted since
            _say(runs, stopping)
            return exit_code_of_runs(runs.values(), interrupted=stopping.is_set())
        _say(follow(service.runs_going_on, stopping.wait, service.check), stopping)
        if no_watch and not stopping.is_set():
            say("not watching for changes")
        watching, said = no_watch, ""
        while not stopping.wait(_LOOK_SECONDS):
            service.check()
            trouble = service.watching_trouble()
            if trouble is not None and trouble != said:
                say(f"changes: {trouble}")
                said = trouble
            if not watching and service.watching():
                say("watching for changes")
                watching = True
    return ExitCode.INTERRUPTED


def _say(runs: Mapping[str, Run], stopping: threading.Event) -> None:
    if not stopping.is_set():
        say_summaries(runs)
