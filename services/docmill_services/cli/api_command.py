"""``docmill api``."""

import threading
from collections.abc import Callable
from typing import Annotated

import typer

from docmill.domain.errors import ExitCode, ServiceDown
from docmill_services.cli.options import ConfigToServe, LogLevel, LogLevelName
from docmill_services.cli.output import say
from docmill_services.cli.serving import engine_to_serve
from docmill_services.cli.stopping import stop_signal
from docmill_services.cli.up_command import DEFAULT_PORT
from docmill_services.engine_backend import serve_engine

_LOOK_SECONDS = 0.5


def api(
    config: ConfigToServe = None,
    host: Annotated[
        str, typer.Option(help="Address to listen on; another one than this machine's own needs DOCMILL_API_KEY.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes a free one.")] = DEFAULT_PORT,
    log_level: LogLevel = LogLevelName.INFO,
) -> int:
    """Answer searches over what is indexed on the servers that the environment names, until it is stopped."""
    with engine_to_serve(config, log_level) as engine, stop_signal() as stopping:
        server = serve_engine(engine, host, port)
        try:
            say(f"docmill answers at {server.url}; Ctrl-C stops it")
            _wait(stopping, lambda: server.running)
        finally:
            engine.stop_calls()  # nobody waits for a provider: open requests are answered without it
            server.stop()
    return ExitCode.OK


def _wait(stopping: threading.Event, is_running: Callable[[], bool]) -> None:
    while not stopping.wait(_LOOK_SECONDS):
        if not is_running():
            raise ServiceDown("the HTTP server has ended by itself; the log says why")
