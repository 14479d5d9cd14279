"""One machine: what ``docmill up`` and ``docmill index`` do before anything runs, and the service that both run."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from docmill.adapters.embedded.data_folder import running_server
from docmill.bootstrap import Owner, open_engine
from docmill.config import missing_roots, roots_of
from docmill.config.loading import Configuration
from docmill.config.settings import Settings
from docmill.domain.errors import ConfigurationNotFound, DataFolderInUse
from docmill_services.cli.options import LogLevelName
from docmill_services.cli.output import say
from docmill_services.embedded import EmbeddedService
from docmill_services.origin import Origin
from docmill_services.producer_process import ProducerProcess

_PATIENCE_SECONDS: Final = 5.0
_LOOK_SECONDS: Final = 0.1


def readable_configuration(origin: Origin, settings: Settings) -> Configuration:
    """The configuration of ``origin``, with its warnings said, once its documents were looked for.

    Raises:
        ConfigurationError: it is not valid.
        ConfigurationNotFound: it is not there, or no document of a knowledge base is.
    """
    configuration = origin.configuration(scan_interval_seconds=settings.scan_interval_seconds, environ=os.environ)
    for warning in configuration.warnings:
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


def _opened(configuration: Configuration, settings: Settings, data_dir: Path) -> Owner:
    """The engine; waits a little for a command that holds the data folder to answer one question, as searches do."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            return open_engine(configuration, settings, data_dir, os.environ)
        except DataFolderInUse:
            running = running_server(data_dir)
            if (running is not None and running.url is not None) or time.monotonic() > deadline:
                raise
        time.sleep(_LOOK_SECONDS)


@contextmanager
def one_machine(
    configuration: Configuration, settings: Settings, origin: Origin, data_dir: Path, *, watch: bool, log_level: LogLevelName
) -> Iterator[EmbeddedService]:
    """The one-machine profile, opened and not started; the producer gets ready while the stores are opened."""
    producer = ProducerProcess(origin, data_dir, watch=watch, log_level=log_level)
    try:
        engine = _opened(configuration, settings, data_dir)
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
