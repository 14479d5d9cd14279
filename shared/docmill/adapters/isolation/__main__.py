"""``python -m docmill.adapters.isolation THREADS``: a child that works on documents until its standard input ends."""

import contextlib
import os
import signal
import sys
from typing import Final

from docmill.adapters.isolation.bounding import bound_process
from docmill.adapters.isolation.child import serve
from docmill.adapters.isolation.process import MEMORY_BYTES

_OOM_SCORE: Final = "/proc/self/oom_score_adj"


def main(threads: int) -> None:
    """Serves standard input and standard output, with bounds on what a document can do to the machine."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)  # what is sent to all processes at once is the parent's to answer
    signal.signal(signal.SIGALRM, signal.SIG_DFL)  # the kernel ends a document that takes too long, whatever it is doing
    with contextlib.suppress(OSError), open(_OOM_SCORE, "w", encoding="ascii") as score:
        score.write("1000")  # where memory runs out, this process is the one to go
    bound_process(MEMORY_BYTES)
    answers = os.dup(sys.stdout.fileno())
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):  # what libraries print over a file must get neither among the answers nor into the log
        os.dup2(nowhere, stream.fileno())
    serve(sys.stdin.fileno(), answers, threads)


if __name__ == "__main__":
    main(int(sys.argv[1]))
