"""Saving: how long after a file is saved a search finds what it says, in ``docmill up`` with the local model and BM25."""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import httpx

from benchmarks.corpus import words, write_markdown
from benchmarks.machine import machine, table
from docmill.adapters.embedded.data_folder import running_server

FILES = 20
SAVES = 20
_DEADLINE_SECONDS = 180.0
_LOOK_SECONDS = 0.01


def write(path: Path, text: str) -> None:
    """Saves in place."""
    path.write_text(text, encoding="utf-8")


def replace(path: Path, text: str) -> None:
    """Saves as editors do: beside the file, and then over it."""
    beside = path.with_name(f".{path.name}.swp")
    beside.write_text(text, encoding="utf-8")
    os.replace(beside, path)


class Searches:
    """Asks a docmill that runs."""

    def __init__(self, client: httpx.Client) -> None:
        self._client = client

    def finds(self, word: str) -> bool:
        """Whether a document holds a word."""
        answer = self._client.post("/v1/knowledge-bases/bench/search", json={"query": word, "strategies": ["bm25"]})
        return bool(answer.raise_for_status().json()["results"])

    def misses(self, word: str) -> bool:
        """Whether none does."""
        return not self.finds(word)

    def is_watching(self) -> bool:
        """Whether changes are followed, and the first run has ended."""
        state = self._client.get("/v1/knowledge-bases/bench").json()
        return bool(state["watching"]) and state["state"] == "ready"

    def seconds_until(self, condition: Callable[[], bool]) -> float:
        """How long it takes from now."""
        begun = time.perf_counter()
        while not condition():
            if time.perf_counter() - begun > _DEADLINE_SECONDS:
                raise SystemExit(f"nothing within {_DEADLINE_SECONDS:.0f} s")
            time.sleep(_LOOK_SECONDS)
        return time.perf_counter() - begun


def measure(folder: Path, searches: Searches, saves: int) -> dict[str, list[float]]:
    """Seconds for each kind of change."""
    found: dict[str, list[float]] = {}
    marks = iter(words(3 * saves, seed=3))

    def time_of(kind: str, condition: Callable[[], bool]) -> None:
        found.setdefault(kind, []).append(searches.seconds_until(condition))

    target = folder / "part000" / "note00000.md"
    for kind, save in (("edit in place", write), ("atomic save", replace)):
        for _ in range(saves):
            mark = f"zqx{next(marks)}"
            save(target, f"# Note\n\nIt says {mark} now.\n")
            time_of(kind, partial(searches.finds, mark))
    for number in range(saves):
        mark, new = f"zqx{next(marks)}", folder / "part000" / f"new{number:03}.md"
        write(new, f"# New\n\nIt says {mark} now.\n")
        time_of("new file", partial(searches.finds, mark))
        new.unlink()
        time_of("removed file", partial(searches.misses, mark))
    return found


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=FILES)
    parser.add_argument("--saves", type=int, default=SAVES)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="docmill-bench-") as scratch:
        folder, data = Path(scratch) / "notes", Path(scratch) / "data"
        write_markdown(folder, options.files)
        command = [str(Path(sys.executable).with_name("docmill")), "up", str(folder), "--data-dir", str(data), "--port", "0"]
        process = subprocess.Popen([*command, "--name", "bench"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            begun = time.perf_counter()
            while (running := running_server(data)) is None or running.url is None:
                if process.poll() is not None or time.perf_counter() - begun > _DEADLINE_SECONDS:
                    raise SystemExit("docmill up did not start")
                time.sleep(_LOOK_SECONDS)
            with httpx.Client(base_url=running.url, timeout=30.0, trust_env=False) as client:
                searches = Searches(client)
                searches.seconds_until(searches.is_watching)
                found = measure(folder, searches, options.saves)
        finally:
            process.terminate()
            process.wait(20)
    rows: list[tuple[str, ...]] = [("from the change to the search that shows it", "p50 s", "slowest s", "goal s")]
    rows += [(kind, f"{statistics.median(seconds):.2f}", f"{max(seconds):.2f}", "1") for kind, seconds in found.items()]
    print(machine())
    print(table(rows))


if __name__ == "__main__":
    main()
