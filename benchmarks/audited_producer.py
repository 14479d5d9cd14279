"""A producer that says, when it ends, how many files of a folder were opened and how much memory it took at most.

``python -m benchmarks.audited_producer FOLDER ...``, and then the producer's own arguments.
"""

import json
import os
import sys
import time
from typing import Any

from docmill_services.producer.process import main


def peak_mb() -> int:
    """The most memory that this process had so far; 0 where the system does not say."""
    try:
        with open("/proc/self/status", encoding="ascii") as status:
            kilobytes = next(line.split()[1] for line in status if line.startswith("VmHWM"))
    except (OSError, StopIteration):
        return 0
    return int(kilobytes) // 1024


def run() -> None:
    """Runs the producer; the last line of its standard output is a JSON object."""
    folder = os.fsencode(sys.argv[1]) + b"/"
    opened = 0
    rules = 0

    def audit(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal opened, rules
        if event == "open" and isinstance(arguments[0], str | bytes) and os.fsencode(arguments[0]).startswith(folder):
            if os.fsencode(arguments[0]).endswith(b"ignore"):
                rules += 1
            else:
                opened += 1

    sys.addaudithook(audit)
    begun = time.process_time()
    try:
        main(sys.argv[2:])
    finally:
        print(json.dumps({"opened": opened, "rules": rules, "peak_mb": peak_mb(), "cpu_seconds": time.process_time() - begun}), flush=True)


if __name__ == "__main__":
    run()
