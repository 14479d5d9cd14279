"""Freezing: how long the interpreter that serves stands still while 50,000 chunks are indexed and searches go on."""

import argparse
import os
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from benchmarks.corpus import words, write_markdown
from benchmarks.indexing import wait_for_runs
from benchmarks.machine import machine, table
from docmill.adapters.memory.models import HashEmbeddingModel
from docmill.bootstrap import open_engine
from docmill.config import Settings, configuration_for_folder
from docmill.domain.chunks import ChunkFilter
from docmill.domain.errors import DocmillError
from docmill_services.embedded import EmbeddedService
from docmill_services.origin import Origin

GOAL_MS = 100.0
_TICK_SECONDS = 0.001
_SEARCH_SECONDS = 0.05
_IDLE_SECONDS = 5.0


@contextmanager
def gaps_between_ticks() -> Iterator[list[float]]:
    """The milliseconds between two turns of a thread that asks for one each millisecond, until the block ends."""
    gaps: list[float] = []
    ended = threading.Event()

    def tick() -> None:
        last = time.perf_counter()
        while not ended.is_set():
            time.sleep(_TICK_SECONDS)
            now = time.perf_counter()
            gaps.append((now - last) * 1000)
            last = now

    thread = threading.Thread(target=tick)
    thread.start()
    try:
        yield gaps
    finally:
        ended.set()
        thread.join()


def search_until(service: EmbeddedService, ended: threading.Event) -> None:
    """Asks for common words again and again, as a person who waits for the index to fill would."""
    opened = service.engine.knowledge_base("bench")
    common = words(4000)[:20]
    number = 0
    while not ended.wait(_SEARCH_SECONDS):
        number += 1
        query = f"{common[number % 20]} {common[number % 7]}"
        try:
            index = opened.index_sets.served().index("bm25")
            service.engine.lexical.search(index, query, 20, k1=1.5, b=0.75, threshold=0.0, chunk_filter=ChunkFilter())
        except DocmillError as error:
            print(f"search: {error}")


def row(what: str, gaps: Sequence[float], idle: Sequence[float], goal: str) -> tuple[str, ...]:
    """One line; the ratio is to the longest gap of the idle interpreter."""
    ordered = sorted(gaps)
    at = [ordered[min(len(ordered) - 1, int(len(ordered) * share))] for share in (0.99, 0.999)]
    ratio = f"{ordered[-1] / max(idle):.1f} x idle"
    return (what, *(f"{gap:.1f}" for gap in at), f"{ordered[-1]:.0f}", str(sum(gap > GOAL_MS for gap in gaps)), goal, ratio)


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--files", type=int, default=12_500, help="two chunks each, in two indexes")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="docmill-bench-") as scratch:
        folder, data = Path(scratch) / "notes", Path(scratch) / "data"
        write_markdown(folder, options.files)
        with gaps_between_ticks() as idle:
            time.sleep(_IDLE_SECONDS)
        model = HashEmbeddingModel(dimensions=384)
        configuration = configuration_for_folder(folder, name="bench")
        engine = open_engine(configuration, Settings.from_environment(os.environ), data, os.environ, model_of=lambda _: model)
        service = EmbeddedService(engine, Origin(folder=folder, name="bench"), watch=False, log_level="warning")
        service.start("127.0.0.1", 0)
        ended = threading.Event()
        searching = threading.Thread(target=search_until, args=(service, ended))
        searching.start()
        with gaps_between_ticks() as busy:
            wait_for_runs(service)
        ended.set()
        searching.join()
        service.stop()
        engine.close()
    print(machine())
    head = ("gaps between two turns of a thread, ms", "p99", "p99.9", "longest", f"over {GOAL_MS:.0f} ms", "goal", "longest against")
    what = f"indexing {options.files} files, searching"
    print(table([head, row("nothing to do", idle, idle, ""), row(what, busy, idle, f"longest {GOAL_MS:.0f}")]))


if __name__ == "__main__":
    main()
