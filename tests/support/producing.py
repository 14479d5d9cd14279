"""A producer as a process of its own on a Redis server: ``python -m support.producing REDIS_URL FOLDER``."""

import os
import signal
import sys
import threading
from pathlib import Path

from docmill.bootstrap import connect
from docmill.config.settings import Settings
from docmill.telemetry.logs import configure_logs
from docmill_services.producer.process import produce
from support.trees import bm25, knowledge_base


def main() -> None:
    """Serves one knowledge base, ``kb``, until it is told to stop."""
    configure_logs(level="info")
    stopping = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stopping.set())
    specifications = {"kb": knowledge_base(Path(sys.argv[2]), strategies=(bm25("words"),))}
    settings = Settings.from_environment({**os.environ, "DOCMILL_REDIS_URL": sys.argv[1]})
    connections = connect(specifications, settings, None)
    produce(
        specifications,
        connections.states,
        connections.tasks,
        settings,
        None,
        stopping,
        watch=True,
        force_polling=False,
        holder=f"process {os.getpid()}",
    )
    connections.close()


if __name__ == "__main__":
    main()
