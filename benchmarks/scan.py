"""Scans: many small files beside as many ignored ones, found for the first time, and again when nothing has changed.

The producer is the real one, in a process of its own, on an embedded server. The worker commits what is planned without looking at it.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.machine import machine, table
from docmill.adapters.embedded.valkey import ValkeyServer
from docmill.bootstrap import connect
from docmill.config import Settings
from docmill.documents.reading import signature_of
from docmill.domain.documents import fingerprint_of
from docmill.domain.registry import Attempt, Commit, DocumentState
from docmill.domain.runs import Run, RunState
from docmill.ports.queue import TaskQueue
from docmill.ports.state import KnowledgeBaseState
from docmill_services.origin import Origin

FILES = 300_000
_IN_A_FOLDER = 100
_SET = "set"
_LEASE_SECONDS = 600.0


def write_tree(folder: Path, files: int) -> None:
    """``files`` small files in folders of 100, and as many in an ignored ``node_modules``."""
    folder.mkdir(parents=True)
    (folder / ".gitignore").write_text("node_modules/\n", encoding="utf-8")
    for place, suffix in ((folder / "notes", "md"), (folder / "node_modules", "js")):
        for number in range(files):
            if number % _IN_A_FOLDER == 0:
                part = place / f"part{number // _IN_A_FOLDER:05}"
                part.mkdir(parents=True)
            descriptor = os.open(part / f"file{number:07}.{suffix}", os.O_WRONLY | os.O_CREAT)
            os.write(descriptor, b"# File %d\n\nA few words.\n" % number)
            os.close(descriptor)


@dataclass(slots=True)
class CommittingWorker:
    """Commits every planned document as it is on disk, without chunks, so that the producer alone is measured."""

    folder: Path
    state: KnowledgeBaseState
    tasks: TaskQueue
    committed: int = 0

    def work(self) -> None:
        """Takes what waits now."""
        attempts = [
            attempt
            for message in self.state.ledger.oldest_waiting(1000)
            if (attempt := self.state.ledger.begin(message, _LEASE_SECONDS)) is not None
        ]
        self.tasks.purge()
        self.state.registry.commit([self._commit(attempt) for attempt in attempts])
        self.committed += len(attempts)
        if not attempts:
            time.sleep(0.01)

    def _commit(self, attempt: Attempt) -> Commit:
        status = os.stat(self.folder / attempt.document_id)
        return Commit(
            attempt,
            DocumentState.EMPTY,
            fingerprint_of(attempt.document_id.encode()),
            {_SET: {"bm25": 0}},
            stat=signature_of(status).packed(),
            size_bytes=status.st_size,
        )


@dataclass(frozen=True, slots=True)
class Scanned:
    """What one run of the producer came to.

    Attributes:
        first_seconds: until the run's counters said that files were seen, the start of the process included.
        first_cpu_seconds: what the process computed until then, however busy the machine is.
        seconds: until the run was complete.
        said: by the producer when it ended.
    """

    first_seconds: float
    first_cpu_seconds: float
    seconds: float
    run: Run
    said: dict[str, Any]


def scan(folder: Path, data: Path, socket: Path, worker: CommittingWorker, *, watch: bool) -> Scanned:
    """Starts a producer, lets one run end, and ends it."""
    command = [sys.executable, "-m", "benchmarks.audited_producer", str(folder), "--origin", Origin(folder=folder, name="kb").as_json()]
    command += ["--data-dir", str(data), "--log-level", "warning", *([] if watch else ["--no-watch"])]
    wanted, _ = worker.state.ledger.start_run()
    begun = time.perf_counter()
    first = first_cpu = 0.0
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(f"{socket}\n".encode())
        child.stdin.flush()
        while True:
            run = worker.state.ledger.run(wanted.id)
            assert run is not None
            if not first and run.counters.get("seen"):
                first, first_cpu = time.perf_counter() - begun, cpu_seconds_of(child.pid)
            if run.state.final:
                break
            if child.poll() is not None:
                raise SystemExit(f"the producer ended with {child.returncode}")
            worker.work()
        seconds = time.perf_counter() - begun
        child.stdin.close()
        said = json.loads(child.stdout.read().splitlines()[-1])
    if run.state is not RunState.COMPLETE:
        raise SystemExit(f"the run ended as {run.state}: {run.error}")
    return Scanned(first, first_cpu, seconds, run, said)


def cpu_seconds_of(pid: int) -> float:
    """What a process has computed so far (proc_pid_stat(5)); 0 where the system does not say."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def found_by_find(folder: Path) -> float:
    """Seconds that find takes to list the same files with what stat says of them."""
    command = ["find", str(folder), "-name", "node_modules", "-prune", "-o", "-type", "f", "-printf", "%s %T@ %C@ %i %p\\n"]
    begun = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begun


@contextmanager
def tree_of(path: Path | None, files: int) -> Iterator[Path]:
    """The folder to scan: one that is kept, or one for the moment."""
    if path is not None:
        if not path.exists():
            write_tree(path, files)
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="docmill-bench-") as scratch:
        write_tree(Path(scratch) / "tree", files)
        yield Path(scratch) / "tree"


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=FILES)
    parser.add_argument("--tree", type=Path, help="a folder to keep the files in, for the next time")
    parser.add_argument("--watch", action="store_true", help="follow changes too")
    options = parser.parse_args()
    with tree_of(options.tree, options.files) as folder, tempfile.TemporaryDirectory(prefix="docmill-bench-") as scratch:
        server = ValkeyServer(Path(scratch) / "valkey")
        server.start()
        data = Path(scratch) / "data"
        configuration = Origin(folder=folder, name="kb").configuration(scan_interval_seconds=900.0, environ={})
        connections = connect({one.name: one for one in configuration.knowledge_bases}, Settings(), server.socket)
        state = connections.states["kb"]
        state.registry.raise_epoch(1)
        state.registry.serve(_SET)
        time.sleep(2.5)  # younger files are read again: they may have changed since without a sign of it
        try:
            worker = CommittingWorker(folder, state, connections.tasks)
            passes = {name: scan(folder, data, server.socket, worker, watch=options.watch) for name in ("first", "nothing changed")}
        finally:
            connections.close()
            server.stop()
            shutil.rmtree(data, ignore_errors=True)
        find = found_by_find(folder)
    rows: list[tuple[str, ...]] = [
        (
            "scan",
            "files",
            "planned",
            "first progress s",
            "goal",
            "CPU until then s",
            "whole s",
            "against find",
            "opened",
            "peak MB",
            "goal",
            "CPU s",
        )
    ]
    for name, one in passes.items():
        counters = one.run.counters
        rows.append(
            (
                name,
                str(counters["seen"]),
                str(counters.get("planned", 0)),
                f"{one.first_seconds:.2f}",
                "2",
                f"{one.first_cpu_seconds:.2f}",
                f"{one.seconds:.1f}",
                f"{one.seconds / find:.1f} x",
                str(one.said["opened"]),
                str(one.said["peak_mb"]),
                "150",
                f"{one.said['cpu_seconds']:.1f}",
            )
        )
    print(machine())
    print(f"beside {options.files} ignored files; find lists the others in {find:.2f} s; the first scan waits for the committing worker")
    print(table(rows))


if __name__ == "__main__":
    main()
