"""``docmill up`` and ``docmill index``."""

import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from docmill.adapters.embedded.data_folder import running_server
from docmill.bootstrap import names_servers, open_engine
from docmill.config import missing_roots, roots_of, unavailable_parts
from docmill.config.loading import Configuration
from docmill.config.settings import Settings
from docmill.domain.errors import ConfigurationNotFound, DataFolderInUse, ExitCode
from docmill.domain.runs import Run, RunState
from docmill.telemetry.logs import configure_logs
from docmill_services.cli.api import open_api
from docmill_services.cli.finding import origin_to_index
from docmill_services.cli.index_over_http import index_over_http
from docmill_services.cli.options import DEFAULT_DATA_DIR, AsJson, ConfigToIndex, DataDir, LogLevel, LogLevelName, named_path
from docmill_services.cli.output import print_json, say
from docmill_services.cli.progress import follow, summary_of
from docmill_services.cli.stopping import stop_signal
from docmill_services.embedded import EmbeddedService
from docmill_services.origin import Origin
from docmill_services.producer_process import ProducerProcess

DEFAULT_PORT = 8700
_LOOK_SECONDS = 0.2

Target = Annotated[
    Path | None,
    typer.Argument(parser=named_path, metavar="TARGET", help="A folder to index, or a configuration file.", show_default=False),
]


def up(
    target: Target = None,
    name: Annotated[str | None, typer.Option(help="Name of a folder's knowledge base.")] = None,
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
    configuration = _readable(origin, settings)
    watch = not (no_watch or once)
    with stop_signal() as stopping, _service(configuration, settings, origin, data_dir, watch=watch, log_level=log_level) as service:
        if once:
            service.engine.require_room()
        url = service.start(host, port)
        say(f'docmill answers at {url} (data in {data_dir}); docmill search "..." asks it, Ctrl-C stops it')
        if once:
            runs = _follow_service(service.runs_now, stopping, service.check_progress)
        else:
            runs = _follow_service(service.runs_going_on, stopping, service.check)
        if once:
            service.finish(stopping)
            return _exit_code(runs)
        if no_watch and not stopping.is_set():
            say("not watching for changes")
        watching = no_watch
        while not stopping.wait(_LOOK_SECONDS):
            service.check()
            if not watching and service.watching():
                say("watching for changes")
                watching = True
    return ExitCode.INTERRUPTED


def index(
    target: Target = None,
    name: Annotated[str | None, typer.Option(help="Name of a folder's knowledge base.")] = None,
    config: ConfigToIndex = None,
    data_dir: DataDir = DEFAULT_DATA_DIR,
    as_json: AsJson = False,
    log_level: LogLevel = LogLevelName.WARNING,
) -> int:
    """Index once and end; the exit code says how the run ended. Beside a running docmill it asks that one for a run.

    Where the environment names servers it asks the producer for one.
    """
    configure_logs(level=log_level)
    origin = origin_to_index(target, config, data_dir, name)
    settings = Settings.from_environment(os.environ)
    configuration = _readable(origin, settings)
    with stop_signal() as stopping:
        running = running_server(data_dir)
        if running is not None and running.url is None:
            raise DataFolderInUse(f"process {running.pid} is indexing into {data_dir}; wait for it, or use another --data-dir")
        if running is not None or names_servers(settings):
            with open_api(origin, data_dir) as api:
                if running is None:
                    say("asking for a run: docmill producer plans it, docmill worker does it")
                runs = index_over_http(api, [one.name for one in configuration.knowledge_bases], stopping)
        else:
            with _service(configuration, settings, origin, data_dir, watch=False, log_level=log_level) as service:
                service.engine.require_room()
                service.start(None, 0)
                runs = _follow_service(service.runs_now, stopping, service.check_progress)
                service.finish(stopping)
    if as_json:
        print_json({name: {"state": run.state.value, "counters": dict(run.counters), "error": run.error} for name, run in runs.items()})
    return _exit_code(runs)


def _readable(origin: Origin, settings: Settings) -> Configuration:
    """The configuration, with its warnings said, once its documents were looked for."""
    configuration = origin.configuration(scan_interval_seconds=settings.scan_interval_seconds, environ=os.environ)
    left_out = [str(part) for part in unavailable_parts(configuration) if not part.blocks_indexing]
    for warning in (*configuration.warnings, *left_out):
        say(f"warning: {warning}")
    for note in configuration.notes:
        say(f"note: {note}")
    for kb in configuration.knowledge_bases:
        missing = missing_roots(kb)
        if missing and missing == roots_of(kb):
            raise ConfigurationNotFound(f"{missing[0]} does not exist (docs of {kb.name}); what was indexed before is kept")
        for root in missing:
            say(f"warning: {root} does not exist (docs of {kb.name}); what was indexed of it before is kept")
    return configuration


@contextmanager
def _service(
    configuration: Configuration, settings: Settings, origin: Origin, data_dir: Path, *, watch: bool, log_level: LogLevelName
) -> Iterator[EmbeddedService]:
    """The one-machine profile, opened and not started; the producer gets ready while the stores are opened."""
    producer = ProducerProcess(origin, data_dir, watch=watch, log_level=log_level)
    try:
        engine = open_engine(configuration, settings, data_dir, os.environ)
    except BaseException:
        producer.end(0.0)
        raise
    service = EmbeddedService(engine, origin, watch=watch, log_level=log_level, producer=producer)
    try:
        yield service
    finally:
        try:
            service.stop()
        finally:
            engine.close()


def _follow_service(read: Callable[[], Mapping[str, Run]], stopping: threading.Event, check: Callable[[], None]) -> Mapping[str, Run]:
    runs = follow(read, stopping.wait, check)
    if not stopping.is_set():
        for name, run in runs.items():
            for line in summary_of(name, run):
                say(line)
    return runs


def _exit_code(runs: Mapping[str, Run]) -> ExitCode:
    states = {run.state for run in runs.values()}
    if any(not state.final for state in states) or RunState.CANCELLED in states:
        return ExitCode.INTERRUPTED
    if states & {RunState.FAILED, RunState.TIMED_OUT}:
        return ExitCode.SERVICE_DOWN
    return ExitCode.FINDINGS if RunState.COMPLETE_WITH_ERRORS in states else ExitCode.OK
