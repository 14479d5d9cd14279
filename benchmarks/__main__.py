"""Runs every benchmark, each in a process of its own, and prints their tables; some fifteen minutes."""

import subprocess
import sys
import time

BENCHMARKS = {
    "embedding": "Local embedding models",
    "chunking": "Chunking",
    "indexing": "Indexing",
    "freezing": "Freezing",
    "providers": "Providers",
    "query": "Queries",
    "startup": "Starts",
    "saving": "From save to search",
    "scan": "Scans",
}


def main() -> int:
    """The exit code: 0 when all of them ran."""
    failed = []
    begun = time.perf_counter()
    for name, title in BENCHMARKS.items():
        print(f"\n## {title} (python -m benchmarks.{name})\n", flush=True)
        if subprocess.run([sys.executable, "-m", f"benchmarks.{name}"], check=False).returncode != 0:
            failed.append(name)
    print(f"\n{time.perf_counter() - begun:.0f} s altogether", flush=True)
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
