"""``docmill producer``."""

from contextlib import closing
from typing import Annotated

import typer

from docmill.domain.errors import ExitCode
from docmill_services.cli.options import ConfigToServe, HealthHost, HealthPort, LogLevel, LogLevelName
from docmill_services.cli.output import say
from docmill_services.cli.serving import engine_to_serve
from docmill_services.cli.stopping import stop_signal
from docmill_services.health import HealthServer
from docmill_services.producer.standing import StandingProducer

DEFAULT_HEALTH_PORT = 8702


def producer(
    config: ConfigToServe = None,
    no_watch: Annotated[bool, typer.Option("--no-watch", help="Do not follow changes of files; scans find them.")] = False,
    health_host: HealthHost = "127.0.0.1",
    health_port: HealthPort = DEFAULT_HEALTH_PORT,
    log_level: LogLevel = LogLevelName.INFO,
) -> int:
    """Scan and watch the documents and plan the work for workers, on the servers that the environment names, until it is stopped."""
    with engine_to_serve(config, log_level) as engine, stop_signal() as stopping:
        standing = StandingProducer(engine, stopping, watch=not no_watch)
        with closing(HealthServer(health_host, health_port, standing.check)) as health:
            say(f"docmill scans; {health.url} says how it is; Ctrl-C stops it")
            standing.serve()
    return ExitCode.OK
