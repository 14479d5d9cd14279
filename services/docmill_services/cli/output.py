"""Output: data on standard output, everything else on standard error."""

import json
import os
import sys
from typing import Any

from rich.console import Console

out = Console(highlight=False, soft_wrap=True)
err = Console(stderr=True, highlight=False, soft_wrap=True)


def print_json(data: Any) -> None:
    """One JSON document."""
    sys.stdout.write(json.dumps(data, ensure_ascii=False, indent=2 if sys.stdout.isatty() else None) + "\n")


def say(message: str) -> None:
    """A line for the person at the terminal, as it is: no markup is read in it."""
    err.print(message, markup=False)


def valid_text(argument: str) -> str:
    """An argument of the command line as text that can be sent: bytes that are not UTF-8 become U+FFFD."""
    return os.fsencode(argument).decode("utf-8", "replace")
