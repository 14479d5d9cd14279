"""Output: data on standard output, everything else on standard error."""

import json
import os
import re
import sys
from collections.abc import Sequence
from typing import Any, Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

_CONTROLS: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")

out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, soft_wrap=True)


def print_json(data: Any) -> None:
    """One JSON document."""
    sys.stdout.write(json.dumps(data, ensure_ascii=False, indent=2 if sys.stdout.isatty() else None) + "\n")


def say(message: str) -> None:
    """A line for the person at the terminal, as it is: no markup is read in it."""
    err.print(message, markup=False)


def printable(text: str) -> str:
    """``text`` without what a terminal would obey: control characters other than tabs and line breaks become U+FFFD."""
    return _CONTROLS.sub("\ufffd", text)


def print_rows(title: str, rows: Sequence[tuple[str, str | Text]], *, to: Console = out) -> None:
    """A title, and below it what has labels: set in columns on a terminal, elsewhere a whole line each, for other programs."""
    if to.is_terminal:
        table = Table(title=Text(title), title_justify="left", show_header=False, box=None, pad_edge=False)
        table.add_column(style="dim")
        table.add_column()
        for label, value in rows:
            table.add_row(label, value if isinstance(value, Text) else Text(value))
        to.print(table)
        return
    width = max((len(label) for label, _ in rows), default=0)
    to.print(Text("\n".join([title, *(f"{label:<{width}}  {value}" for label, value in rows)])))


def counted(count: int, thing: str) -> str:
    """So many of a thing that forms its plural with an s."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def valid_text(argument: str) -> str:
    """An argument of the command line as text that can be sent: bytes that are not UTF-8 become U+FFFD."""
    return os.fsencode(argument).decode("utf-8", "replace")
