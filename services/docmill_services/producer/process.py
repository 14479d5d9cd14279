"""The producer's process: scans, watches and pumps for every knowledge base until its parent ends or it is told to stop."""

import argparse
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import structlog

from docmill.bootstrap import DATA_FOLDER_NAME, connect, gates_by_name
from docmill.config.settings import Settings
from docmill.documents.selection import Selection
from docmill.domain.errors import DocmillError, NotLeader
from docmill.domain.knowledge_bases import KnowledgeBase
from docmill.ports.gate import Gate
from docmill.ports.queue import TaskQueue
from docmill.ports.state import KnowledgeBaseState
from docmill.telemetry.logs import configure_logs
from docmill_services.origin import Origin
from docmill_services.producer.knowledge_base_loop import KnowledgeBaseLoop, Window
from docmill_services.producer.leadership import Leadership, prolong_until_stopped
from docmill_services.producer.outages import Outages
from docmill_services.producer.pump import Pump
from docmill_services.producer_process import NO_EMBEDDED_SERVER

_log = structlog.get_logger(__name__)
_PUMP_SECONDS = 1.0
#: For all threads together, when the process stops.
_JOIN_SECONDS = 2.0


def _nothing() -> None:
    """Done where nothing is to be done."""


def _no_gates(_: str) -> Mapping[str, Gate]:
    """Of a knowledge base whose models run inside docmill."""
    return {}


def produce(
    knowledge_bases: Mapping[str, KnowledgeBase],
    states: Mapping[str, KnowledgeBaseState],
    tasks: TaskQueue,
    settings: Settings,
    data_folder: Path | None,
    stopping: threading.Event,
    *,
    watch: bool,
    force_polling: bool,
    holder: str,
    open_state: Mapping[str, Callable[[], object]] | None = None,
    prepare: Mapping[str, Callable[[], None]] | None = None,
    turned: Callable[[], None] = _nothing,
    gates_of: Callable[[str], Mapping[str, Gate]] = _no_gates,
) -> None:
    """Serves every knowledge base until ``stopping`` is set.

    Args:
        knowledge_bases: by name.
        states: of each of them.
        tasks: the queue.
        settings: of the process.
        data_folder: never indexed; where there is none, nothing that lies where one would be by default.
        stopping: ends it.
        watch: whether changes are followed.
        force_polling: as for a ``Watcher``.
        holder: names this process, and a successor that may go on in its place at once.
        open_state: by name, what a knowledge base's loop does before each look for work, whether it leads or not.
        prepare: by name, what it does before each look for work while it leads.
        turned: called about once a second, also while a server is out: to start this process again would help nobody.
        gates_of: the gates of the providers that the documents of a knowledge base, by its name, need now.
    """
    window = Window(settings.window_documents, states, knowledge_bases)
    outages = Outages()
    leaderships = {name: Leadership(name, states[name], holder) for name in knowledge_bases}
    loops = [
        KnowledgeBaseLoop(
            specification,
            states[name],
            tasks,
            Selection(specification, data_folder or specification.base_folder / DATA_FOLDER_NAME),
            window,
            leaderships[name],
            stopping,
            watch=watch,
            force_polling=force_polling,
            open_state=(open_state or {}).get(name, _nothing),
            prepare=(prepare or {}).get(name, _nothing),
            gates=partial(gates_of, name),
            outages=outages,
        )
        for name, specification in knowledge_bases.items()
    ]
    threads = [threading.Thread(target=loop.serve, name=f"docmill-{loop.name}", daemon=True) for loop in loops]
    prolonging = threading.Thread(
        target=prolong_until_stopped, args=(list(leaderships.values()), stopping, outages), name="docmill-leadership", daemon=True
    )
    for thread in (*threads, prolonging):
        thread.start()
    pump = Pump(states, tasks, lambda: {name: led for name, one in leaderships.items() if (led := one.led) is not None}, gates_of=gates_of)
    while not stopping.wait(_PUMP_SECONDS):
        turned()
        try:
            pump.turn()
            outages.over("queue")
        except NotLeader as error:
            _log.debug("not_leader", error=str(error))  # the loops notice it too, and say so
        except DocmillError as error:
            outages.began("queue", error)
    until = time.monotonic() + _JOIN_SECONDS
    for thread in threads:
        thread.join(max(0.0, until - time.monotonic()))
    for leadership in leaderships.values():
        if not leadership.give_up():
            break  # each of the others would wait for a server that is out


def main(arguments: Sequence[str] | None = None) -> None:
    """``python -m docmill_services.producer``: a child of the process that owns the stores.

    Its standard input has one line, the path of the embedded server's socket or ``NO_EMBEDDED_SERVER``, and ends when the parent does or
    wants it to end.
    """
    parser = argparse.ArgumentParser(prog="docmill-producer")
    parser.add_argument("--origin", required=True)
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--no-watch", action="store_true")
    parser.add_argument("--log-level", default="info")
    options = parser.parse_args(arguments)
    configure_logs(level=options.log_level)
    stopping = threading.Event()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal's Ctrl-C goes to the parent, which ends this process in its turn
    signal.signal(signal.SIGTERM, lambda *_: stopping.set())
    told = sys.stdin.buffer.readline().decode().rstrip("\n")
    if not told:
        return  # the parent ended before it could say
    threading.Thread(target=_stop_with_parent, args=(stopping,), daemon=True).start()
    try:
        settings = Settings.from_environment(os.environ)
        configuration = Origin.from_json(options.origin).configuration(
            scan_interval_seconds=settings.scan_interval_seconds, environ=os.environ
        )
    except DocmillError as error:  # the configuration was changed since the parent read it
        print(f"docmill: the producer cannot start: {error}", file=sys.stderr)  # noqa: T201
        sys.exit(error.exit_code)
    specifications = {one.name: one for one in configuration.knowledge_bases}
    connections = connect(specifications, settings, None if told == NO_EMBEDDED_SERVER else Path(told))
    produce(
        specifications,
        connections.states,
        connections.tasks,
        settings,
        options.data_dir,
        stopping,
        watch=not options.no_watch,
        force_polling=forces_polling(os.environ),
        holder=f"{socket.gethostname()}:child of {os.getppid()}",
        gates_of=gates_by_name(configuration, settings, connections.client, os.environ),
    )
    connections.close()


def forces_polling(environ: Mapping[str, str]) -> bool:
    """What the watching library's own variable says."""
    return environ.get("WATCHFILES_FORCE_POLLING", "").lower() not in ("", "false", "disable", "disabled")


def _stop_with_parent(stopping: threading.Event) -> None:
    while os.read(sys.stdin.fileno(), 4096):  # the stream itself would be locked when the interpreter ends
        pass
    stopping.set()
