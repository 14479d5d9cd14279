"""Serving: the beginning and the end of the commands that are processes of the distributed profile."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from docmill.bootstrap import Engine, connect_engine
from docmill.config.settings import Settings
from docmill.telemetry.logs import configure_logs
from docmill_services.cli.finding import configuration_to_serve
from docmill_services.cli.options import LogLevelName


@contextmanager
def engine_to_serve(config: Path | None, log_level: LogLevelName) -> Iterator[Engine]:
    """What the process works with, on the servers that the environment names, until the context ends.

    Raises:
        ConfigurationError: the configuration or a setting cannot be used.
        ServiceDown: a server does not answer, or is not what docmill needs.
    """
    configure_logs(level=log_level)
    settings = Settings.from_environment(os.environ)
    engine = connect_engine(configuration_to_serve(config, settings), settings, os.environ)
    try:
        yield engine
    finally:
        engine.close()
