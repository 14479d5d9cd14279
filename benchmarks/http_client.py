"""A client in a process of its own: asks over kept-alive connections and prints how long each answer took.

Reads one JSON object from stdin, ``{"rounds": n, "jobs": {label: {"port": p, "method": m, "path": s, "bodies": [text, ...]}}}``, and prints
``{label: [milliseconds, ...]}``. The jobs take turns, request by request, so that whatever else the machine does is in all of them.
"""

import json
import socket
import sys
from http.client import HTTPConnection
from time import perf_counter


def connection(port: int) -> HTTPConnection:
    """A connection whose small packets do not wait for each other."""
    made = HTTPConnection("127.0.0.1", port, timeout=60)
    made.connect()
    made.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return made


def main() -> None:
    """Asks, and prints."""
    work = json.load(sys.stdin)
    jobs = [(label, job, connection(job["port"])) for label, job in work["jobs"].items()]
    taken: dict[str, list[float]] = {label: [] for label, _, _ in jobs}
    for turn in range(work["rounds"]):
        for label, job, open_connection in jobs:
            body = job["bodies"][turn % len(job["bodies"])].encode() if job["bodies"] else None
            begun = perf_counter()
            open_connection.request(job["method"], job["path"], body, {"content-type": "application/json"})
            answer = open_connection.getresponse()
            answer.read()
            taken[label].append((perf_counter() - begun) * 1000)
            if answer.status != 200:
                raise SystemExit(f"{label}: HTTP {answer.status}")
    json.dump(taken, sys.stdout)


if __name__ == "__main__":
    main()
