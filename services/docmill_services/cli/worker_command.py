"""``docmill worker``."""

import os
from typing import Annotated

import typer

from docmill.bootstrap import connect_engine
from docmill.config.settings import Settings
from docmill.domain.errors import ExitCode
from docmill.telemetry.logs import configure_logs
from docmill_services.cli.finding import configuration_to_serve
from docmill_services.cli.options import ConfigToServe, HealthHost, HealthPort, LogLevel, LogLevelName
from docmill_services.cli.output import say
from docmill_services.cli.stopping import stop_signal
from docmill_services.health import HealthServer
from docmill_services.worker_threads import start_worker_threads

DEFAULT_HEALTH_PORT = 8701
_LOOK_SECONDS = 0.5
_STOP_SECONDS = 10.0


def worker(
    config: ConfigToServe = None,
    threads: Annotated[int | None, typer.Option(min=1, max=256, help="Threads that index; fitted to the cores when not given.")] = None,
    health_host: HealthHost = "127.0.0.1",
    health_port: HealthPort = DEFAULT_HEALTH_PORT,
    log_level: LogLevel = LogLevelName.INFO,
) -> int:
    """Index what the producer plans, on the servers that the environment names, until it is stopped."""
    configure_logs(level=log_level)
    settings = Settings.from_environment(os.environ)
    engine = connect_engine(configuration_to_serve(config, settings), settings, os.environ)
    try:
        if threads is not None:
            engine.worker_threads = threads
        with stop_signal() as stopping:
            workers = start_worker_threads(engine)
            health = HealthServer(health_host, health_port, workers.check_progress)
            try:
                say(f"docmill works with {engine.worker_threads} threads; {health.url} says how it is; Ctrl-C stops it")
                while not stopping.wait(_LOOK_SECONDS):
                    workers.check()
            finally:
                workers.stop(_STOP_SECONDS)
                health.close()
    finally:
        engine.close()
    return ExitCode.OK
