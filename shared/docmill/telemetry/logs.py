"""Logs: one line an event on standard error, for people or as JSON."""

import logging
import sys
from typing import Final, TextIO

import structlog

#: Libraries that log each try of a request whose failure is raised as an error of ours.
_SAID_BY_OUR_OWN_ERRORS: Final = ("elastic_transport", "elasticsearch")


def configure_logs(*, level: str = "info", as_json: bool = False, stream: TextIO | None = None) -> None:
    """Sends the log of docmill and of the libraries to ``stream`` (standard error).

    Args:
        level: ``debug``, ``info``, ``warning`` or ``error``; libraries are heard from ``warning`` on.
        as_json: one JSON object a line.
        stream: where to; standard output is never right, since it carries data.
    """
    out = stream or sys.stderr
    number = logging.getLevelNamesMapping()[level.upper()]
    renderer: structlog.typing.Processor = (
        structlog.processors.JSONRenderer() if as_json else structlog.dev.ConsoleRenderer(colors=out.isatty())
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=structlog.WriteLoggerFactory(file=out),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(out)
    handler.setFormatter((logging.Formatter if number == logging.DEBUG else _OneLine)("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(handlers=[handler])
    logging.getLogger().setLevel(max(number, logging.WARNING))
    for name in _SAID_BY_OUR_OWN_ERRORS:
        logging.getLogger(name).setLevel(max(number, logging.ERROR))


class _OneLine(logging.Formatter):
    """Names an error where it would show how the library came to it: a broken connection or a full disk is no defect of its code."""

    def formatException(self, ei: "logging._SysExcInfoType") -> str:  # noqa: N802  # the name is the base class's
        """The kind of the error and what it says."""
        return f"  {ei[0].__name__}: {ei[1]}" if ei[0] is not None else ""

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        return " ".join(super().format(record).split("\n"))
