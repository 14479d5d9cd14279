"""Starts: from ``docmill up`` on a folder that was never seen to the first answer, and again when nothing has changed."""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx

from benchmarks.corpus import write_markdown
from benchmarks.machine import machine, table
from docmill.adapters.embedded.data_folder import running_server

FILES = 100
#: What any process of this kind must load; none of it is docmill's.
BARE_IMPORTS = "import celery, fastapi, numpy, onnxruntime, qdrant_edge, redis, tokenizers, uvicorn"
_DEADLINE_SECONDS = 120.0


def seconds_until(begun: float, condition: Callable[[], bool]) -> float:
    """Seconds since ``begun`` when ``condition`` became true."""
    while not condition():
        if time.perf_counter() - begun > _DEADLINE_SECONDS:
            raise SystemExit(f"nothing within {_DEADLINE_SECONDS:.0f} s")
        time.sleep(0.01)
    return time.perf_counter() - begun


def start(folder: Path, data: Path, last_run: str = "") -> tuple[dict[str, float], str]:
    """Starts ``docmill up`` and ends it.

    Args:
        folder: what is indexed.
        data: the data folder.
        last_run: the id of the run before this start.

    Returns:
        Seconds until the server answers, the first search finds something, and a run that began with this start is complete; and its id.
    """
    command = [str(Path(sys.executable).with_name("docmill")), "up", str(folder), "--data-dir", str(data), "--port", "0", "--name", "bench"]
    begun = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        found = {"server answers": seconds_until(begun, lambda: _url(data, process) is not None)}
        with httpx.Client(base_url=_url(data, process) or "", timeout=30.0, trust_env=False) as client:
            path = "/v1/knowledge-bases/bench"

            def finds() -> bool:
                answer = client.post(f"{path}/search", json={"query": "the mark of this note"})
                return answer.status_code == 200 and bool(answer.json()["results"])

            def run() -> dict[str, Any]:
                return client.get(path).json()["run"] or {}

            found["first result"] = seconds_until(begun, finds)
            found["run complete"] = seconds_until(begun, lambda: run().get("state") == "complete" and run()["id"] != last_run)
            return found, str(run()["id"])
    finally:
        process.terminate()
        process.wait(20)


def _url(data: Path, process: "subprocess.Popen[bytes]") -> str | None:
    if process.poll() is not None:
        raise SystemExit(f"docmill up ended with exit code {process.returncode}")
    running = running_server(data)
    return running.url if running is not None and running.pid == process.pid else None


def bare_imports() -> float:
    """Seconds that a Python process takes to load the libraries and end."""
    begun = time.perf_counter()
    subprocess.run([sys.executable, "-c", BARE_IMPORTS], check=True, env=os.environ.copy())
    return time.perf_counter() - begun


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=FILES)
    options = parser.parse_args()
    goals = {"first result": "15"}
    with tempfile.TemporaryDirectory(prefix="docmill-bench-") as scratch:
        folder, data = Path(scratch) / "notes", Path(scratch) / "data"
        write_markdown(folder, options.files)
        bare_imports()
        bare = sorted(bare_imports() for _ in range(3))[1]
        rows: list[tuple[str, ...]] = [("docmill up, seconds until", "s", "goal s", "against bare imports")]
        cold, run = start(folder, data)
        again, _ = start(folder, data, run)
        rows += [
            (f"cold, {options.files} files: {what}", f"{seconds:.2f}", goals.get(what, ""), f"{seconds / bare:.1f} x")
            for what, seconds in cold.items()
        ]
        rows += [(f"nothing changed: {what}", f"{seconds:.2f}", "", f"{seconds / bare:.1f} x") for what, seconds in again.items()]
        rows.append(("bare imports of the same libraries", f"{bare:.2f}", "", "1"))
    print(machine())
    print(table(rows))


if __name__ == "__main__":
    main()
