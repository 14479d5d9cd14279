"""``celery --app docmill_workers.celery_app``: the application for Celery's own tools (Flower, ``inspect``), made from the environment.

Those tools look for a module-level ``app``. It is made when it is first asked for, so that importing this module reads nothing.
"""

import os
import sys
from typing import NoReturn

from celery import Celery
from celery.signals import celeryd_init

from docmill.bootstrap.connections import celery_of
from docmill.config import Settings
from docmill.domain.errors import ConfigurationError, DocmillError, ExitCode

_made: list[Celery] = []


def __getattr__(name: str) -> Celery:
    """``app``, made once; ends the process with one line where the environment does not say on which broker."""
    if name not in ("app", "celery"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if not _made:
        try:
            _made.append(_application())
        except DocmillError as error:
            _end(str(error), error.exit_code)
    return _made[0]


def _application() -> Celery:
    settings = Settings.from_environment(os.environ)
    if settings.redis_url is None:
        raise ConfigurationError("DOCMILL_REDIS_URL: not set; Celery's tools need the broker that the workers have")
    return celery_of(settings, None)


@celeryd_init.connect
def _refuse_to_consume(**_: object) -> NoReturn:
    """Ends ``celery worker``: this application has no tasks, and a consumer of it would throw every message away."""
    _end("this application does not consume; start workers with: docmill worker", ExitCode.USAGE)


def _end(message: str, code: int) -> NoReturn:
    sys.stderr.write(f"docmill: {message}\n")
    raise SystemExit(code)
