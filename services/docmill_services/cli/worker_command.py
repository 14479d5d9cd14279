"""``docmill worker``."""

from contextlib import closing
from typing import Annotated

import typer

from docmill.domain.errors import ExitCode
from docmill_services.cli.options import ConfigToServe, HealthHost, HealthPort, LogLevel, LogLevelName
from docmill_services.cli.output import say
from docmill_services.cli.serving import engine_to_serve
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
    with engine_to_serve(config, log_level) as engine, stop_signal() as stopping:
        if threads is not None:
            engine.worker_threads = threads
        workers = start_worker_threads(engine)
        try:
            with closing(HealthServer(health_host, health_port, workers.check_progress)) as health:
                say(f"docmill works with {engine.worker_threads} threads; {health.url} says how it is; Ctrl-C stops it")
                while not stopping.wait(_LOOK_SECONDS):
                    workers.check()
        finally:
            workers.stop(_STOP_SECONDS)
    return ExitCode.OK
