"""The log lines of libraries."""

import io
import logging

import structlog

from docmill.telemetry.logs import configure_logs


def logged(level: str) -> str:
    """What a process that has only just begun would print."""
    out = io.StringIO()
    root = logging.getLogger()
    before, root.handlers = (root.handlers, root.level), []
    try:
        configure_logs(level=level, stream=out)
        raise ConnectionError("the server\nis gone")
    except ConnectionError:
        logging.getLogger("library").exception("Unrecoverable")
    finally:
        root.handlers = before[0]
        root.setLevel(before[1])
        structlog.reset_defaults()
    return out.getvalue()


def test_an_error_of_a_library_is_one_line() -> None:
    (line,) = logged("warning").splitlines()
    assert "library: Unrecoverable" in line
    assert line.endswith("ConnectionError: the server is gone")


def test_the_debug_log_shows_how_the_library_came_to_it() -> None:
    assert "Traceback" in logged("debug")
