"""Command line."""

import contextlib
import errno
import io
import os
import sys
import tempfile
import traceback
from typing import TYPE_CHECKING, Final, NoReturn

from docmill.domain.errors import DocmillError, ExitCode

if TYPE_CHECKING:
    import typer

_INTERRUPTED_BY_TYPER: Final = 130


def main() -> None:
    """The ``docmill`` command: runs a verb and turns what it raises into one line on standard error and an exit code."""
    _make_streams_safe()
    import typer

    from docmill.telemetry.logs import configure_logs
    from docmill_services.cli.app import app

    configure_logs(level="error")  # of verbs that do not set it: what they have to say, they say themselves
    try:
        code = app(standalone_mode=False)
        sys.stdout.flush()
    except DocmillError as error:
        _end(f"docmill: {error}", error.exit_code)
    except typer.TyperException as error:
        _end(_usage_message(error), ExitCode.USAGE)
    except (KeyboardInterrupt, typer.Abort):
        _end("", ExitCode.INTERRUPTED)
    except OSError as error:
        if error.errno == errno.EPIPE:
            _end("", ExitCode.OK)  # the reader of our output has gone; there is nobody to tell
        _end(f"docmill: {_where(error)}{error.strerror or error}", ExitCode.USAGE)
    except Exception as error:  # noqa: BLE001  # the last resort: what nobody foresaw is kept whole in a file
        _end(f"docmill: failed unexpectedly: {type(error).__name__}: {error}{_kept(error)}", ExitCode.FINDINGS)
    _end("", ExitCode.INTERRUPTED if code == _INTERRUPTED_BY_TYPER else code if isinstance(code, int) else ExitCode.OK)


def _make_streams_safe() -> None:
    """Stands in for streams that the caller closed, and lets a terminal that lacks a character show its number instead."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):  # in this order each gets its own number again
        if getattr(sys, name) is None:
            stream = open(os.devnull, mode, encoding="utf-8")  # noqa: SIM115  # open as long as the process
            os.set_inheritable(stream.fileno(), True)  # our child processes have the same need
            setattr(sys, name, stream)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _end(message: str, code: int) -> NoReturn:
    """Ends the process. Output that still waits is dropped where it can go nowhere, so that nothing is said about it after the end."""
    if message:
        with contextlib.suppress(OSError, ValueError):  # standard error may be closed: then nobody listens
            print(message, file=sys.stderr)  # noqa: T201
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.flush()
    # Everything is closed. A thread that is still embedding a long text would hold up an ordinary exit for seconds.
    os._exit(code)


def _usage_message(error: "typer.TyperException") -> str:
    message = error.format_message()
    if message.startswith("Usage:"):  # the help, where a command was named and nothing of it
        return message
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "docmill"
    return f"docmill: {' '.join(message.split()).replace('Value error, ', '').rstrip('.')}; see {command} --help"


def _where(error: OSError) -> str:
    return f"{os.fsdecode(error.filename)}: " if isinstance(error.filename, str | bytes) else "output cannot be written: "


def _kept(error: Exception) -> str:
    """Writes the traceback to a file and says where; nothing where no file can be made."""
    try:
        with tempfile.NamedTemporaryFile("w", prefix="docmill-error-", suffix=".txt", delete=False, encoding="utf-8") as file:
            traceback.print_exception(error, file=file)
    except OSError:
        return ""
    return f"; this is a defect of docmill, and {file.name} has the details"
