"""Indexing: 10,000 Markdown files of 2 KB into both strategies with an instant embedding model, through Celery and the commit protocol."""

import argparse
import os
import resource
import tempfile
import threading
import time
from pathlib import Path

from benchmarks.corpus import write_markdown
from benchmarks.machine import machine, table
from docmill.adapters.memory.models import HashEmbeddingModel
from docmill.bootstrap import open_engine
from docmill.config import Settings, configuration_for_folder
from docmill.domain.chunks import ChunkFilter
from docmill_services.embedded import EmbeddedService
from docmill_services.origin import Origin
from docmill_services.producer_process import ProducerProcess

#: What docmill's peer in Go does on the same work on two idle cores: 10,000 files of 2 KB, both strategies, instant embeddings.
PEER_FILES_PER_SECOND = 375.0


def cpu_seconds() -> tuple[float, float]:
    """This process's, and that of its children that have ended."""
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime, children.ru_utime + children.ru_stime


def wait_for_runs(service: EmbeddedService) -> None:
    """Until every run of the start has ended."""
    while not all(run.state.final for run in service.runs_now().values()):
        service.check()
        time.sleep(0.1)


def indexing(folder: Path, data: Path, *, watch: bool = False) -> tuple[EmbeddedService, float]:
    """Starts and waits for the first run; returns the service and the seconds from start to complete."""
    model = HashEmbeddingModel(dimensions=384)
    configuration = configuration_for_folder(folder, name="bench")
    origin = Origin(folder=folder, name="bench")
    started = time.perf_counter()
    producer = ProducerProcess(origin, data, watch=watch, log_level="warning")
    engine = open_engine(configuration, Settings.from_environment(os.environ), data, os.environ, model_of=lambda _: model)
    service = EmbeddedService(engine, origin, watch=watch, log_level="warning", producer=producer)
    service.start("127.0.0.1", 0)
    wait_for_runs(service)
    return service, time.perf_counter() - started


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--files", type=int, default=10_000)
    options = parser.parse_args()
    rows: list[tuple[str, ...]] = [("what", "figure", "goal", "reached")]
    with tempfile.TemporaryDirectory(prefix="docmill-bench-") as scratch:
        folder, data = Path(scratch) / "notes", Path(scratch) / "data"
        write_markdown(folder, options.files)
        time.sleep(2.5)  # a file that was touched within two seconds of being read is read again by the next run
        before, _ = cpu_seconds()
        service, seconds = indexing(folder, data)
        own = cpu_seconds()[0] - before
        run = next(iter(service.runs_now().values()))
        in_run = (run.finished_at or 0) - run.started_at
        rate = options.files / in_run
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        rows.append(("cold, files/s (run)", f"{rate:.0f}", "500", f"{rate / PEER_FILES_PER_SECOND:.2f} x the Go peer"))
        rows.append(("cold, s from start to complete", f"{seconds:.1f}", "", ""))
        rows.append(("cold, ms of CPU per file (parent)", f"{own / options.files * 1000:.2f}", "", ""))
        rows.append(("peak memory of the parent, MB", f"{peak:.0f}", "400", ""))
        rows.append(("counters", str(dict(run.counters)), "", ""))
        _close(service)
        service, seconds = indexing(folder, data)
        run = next(iter(service.runs_now().values()))
        in_run = (run.finished_at or 0) - run.started_at
        rows.append(("nothing changed, s (run)", f"{in_run:.2f}", f"{0.5 * options.files / 10_000:.2f}", ""))
        rows.append(("nothing changed, counters", str(dict(run.counters)), "", ""))
        rows.append(("nothing changed, s from start to complete", f"{seconds:.2f}", "", ""))
        _close(service)
        service, _ = indexing(folder, data, watch=True)
        rows.append(("changed file searchable, s (median of 9)", f"{_time_to_searchable(service, folder):.2f}", "1.00", ""))
        _close(service)
    print(machine())
    print(table(rows))


def _close(service: EmbeddedService) -> None:
    service.stop()
    service.engine.close()


def _time_to_searchable(service: EmbeddedService, folder: Path) -> float:
    opened = service.engine.knowledge_base("bench")
    while opened.state.registry.noted("watching") is None:
        time.sleep(0.02)
    times = []
    for number in range(9):
        word = "fresh" + "abcdefghi"[number] * 6
        path = folder / "part000" / f"note{number:05}.md"
        time.sleep(0.5)
        path.write_text(f"# Changed\n\nIt says {word} now.\n", encoding="utf-8")
        saved = time.perf_counter()
        target = opened.index_sets.served()
        while not service.engine.lexical.search(target.index("bm25"), word, 1, k1=1.5, b=0.75, threshold=0.0, chunk_filter=ChunkFilter()):
            if time.perf_counter() - saved > 30:
                raise SystemExit(f"{path} was not indexed within 30 s")
            threading.Event().wait(0.005)
        times.append(time.perf_counter() - saved)
    return sorted(times)[len(times) // 2]


if __name__ == "__main__":
    main()
