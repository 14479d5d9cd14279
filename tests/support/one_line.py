"""What every refusal on the command line looks like."""

import subprocess


def one_line(done: "subprocess.CompletedProcess[str]") -> str:
    """The one line on standard error; fails for several, for none, and for a traceback."""
    lines = [line for line in done.stderr.splitlines() if not line.startswith(("note: ", "warning: "))]
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith(("docmill: ", "no results")), lines[0]
    assert "failed unexpectedly" not in lines[0]
    return lines[0]
