"""Many calls of ``docmill`` in one process of their own, and what every refusal looks like."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from support.running_docmill import environment

#: Each call has a process of its own, forked from one that has loaded the program and nothing else.
_SCRIPT: Final = """
import json, os, sys, tempfile
import docmill_services.cli.app
from docmill_services.cli import main
for arguments in json.load(sys.stdin):
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = os.fork()
        if child == 0:
            os.dup2(out.fileno(), 1)
            os.dup2(err.fileno(), 2)
            sys.argv = ["docmill", *arguments]
            main()
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        texts = [(file.seek(0), file.read().decode("utf-8", "replace"))[1] for file in (out, err)]
    print(json.dumps([code, *texts]), flush=True)
"""


def run_each(
    calls: Sequence[Sequence[str]], cwd: Path, seconds: float = 120.0, prefix: Sequence[str] = ()
) -> "list[subprocess.CompletedProcess[str]]":
    """Runs the program once for each of ``calls``, one after the other, at a fraction of what each costs to start by itself.

    ``prefix`` is a command that runs it, such as ``setpriv``.
    """
    done = subprocess.run(
        [*prefix, sys.executable, "-c", _SCRIPT],
        input=json.dumps(calls),
        cwd=cwd,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    return [subprocess.CompletedProcess(call, *answer) for call, answer in zip(calls, answers, strict=True)]


def one_line(done: "subprocess.CompletedProcess[str]") -> str:
    """The one line on standard error; fails for several, for none, and for a traceback."""
    lines = [line for line in done.stderr.splitlines() if not line.startswith(("note: ", "warning: "))]
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith(("docmill: ", "no results")), lines[0]
    assert "failed unexpectedly" not in lines[0]
    return lines[0]
