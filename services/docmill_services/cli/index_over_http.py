"""Indexing by a docmill that runs already: asks it for runs, follows them and ends them."""

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from docmill.domain.errors import ServiceDown, StateLost
from docmill.domain.runs import Run, RunState
from docmill_services.cli.api import Api, ApiError
from docmill_services.cli.output import say
from docmill_services.cli.progress import follow, has_ended

#: A producer that was just started, or takes over from one that died, leads by then.
_PRODUCER_SECONDS: Final = 10.0
_LOOK_SECONDS: Final = 1.0


def index_over_http(
    api: Api, names: Sequence[str], stopping: threading.Event, *, is_over: Callable[[Run], bool] = has_ended
) -> Mapping[str, Run]:
    """One run of each knowledge base, as it was when all were over or ``stopping`` was set.

    Raises:
        ApiError: a knowledge base is not known there.
        ServiceDown: the service does not answer, or no producer is there to carry the runs out.
        KeyboardInterrupt: ``stopping`` was set before they were asked for.
    """
    producers = _Producers(api)
    started = {name: _started(api, name, producers, stopping) for name in names}
    latest: dict[str, Run] = {}

    def runs_now() -> Mapping[str, Run]:
        latest.update({name: run_of(api.get(f"{_of(name)}/runs/{run_id}")) for name, run_id in started.items()})
        return latest

    def check() -> None:
        producers.require(name for name, run in latest.items() if not run.state.final)

    return follow(runs_now, stopping.wait, check, is_over=is_over)


def _started(api: Api, name: str, producers: "_Producers", stopping: threading.Event) -> str:
    """The id of a run that was asked for; a registry that is new, or was lost, is opened by the producer first."""
    while True:
        try:
            return str(api.post(f"{_of(name)}/runs")["id"])
        except ApiError as error:
            if error.code != StateLost.code:
                raise
        producers.require([name])
        if stopping.wait(_LOOK_SECONDS):
            raise KeyboardInterrupt


def cancel_over_http(api: Api, names: Sequence[str]) -> Mapping[str, Run]:
    """Ends the runs that are going on; raises ``ApiError`` or ``ServiceDown``."""
    cancelled: dict[str, Run] = {}
    for name in names:
        run = api.get(_of(name))["run"]
        if run is not None and not RunState(run["state"]).final:
            cancelled[name] = run_of(api.delete(f"{_of(name)}/runs/{run['id']}"))
    return cancelled


def run_of(reply: Mapping[str, Any]) -> Run:
    """A run as the query service describes it."""
    return Run(
        id=reply["id"],
        state=RunState(reply["state"]),
        started_at=_seconds_of(reply["started_at"]) or 0.0,
        finished_at=_seconds_of(reply["finished_at"]),
        retry_at=_seconds_of(reply.get("retry_at")),
        counters=reply["counters"],
        pending=reply["pending"],
        error=reply.get("error") or "",
    )


class _Producers:
    """Notices that nobody plans work for a knowledge base: a run would wait there for ever."""

    def __init__(self, api: Api, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._api = api
        self._monotonic = monotonic
        self._looked_at = monotonic() - _LOOK_SECONDS
        self._missing_since: dict[str, float] = {}

    def require(self, names: Iterable[str]) -> None:
        """Raises ``ServiceDown`` once one of these has been without a producer for ten seconds."""
        now = self._monotonic()
        if now - self._looked_at < _LOOK_SECONDS:
            return
        self._looked_at = now
        for name in names:
            if self._api.get(_of(name))["producer"]:
                self._missing_since.pop(name, None)
            elif now - self._missing_since.setdefault(name, now) >= _PRODUCER_SECONDS:
                raise ServiceDown(
                    f"no producer plans the work of {name}: start one with: docmill producer. A run that was asked for waits for it"
                )


def say_left(runs: Mapping[str, Run]) -> None:
    """Says of runs that are left alone that they go on."""
    for name, run in runs.items():
        if not run.state.final:
            say(f"{name}: the run goes on without this command; docmill status shows it, docmill index --cancel ends it")


def _of(name: str) -> str:
    return f"/v1/knowledge-bases/{name}"


def _seconds_of(text: str | None) -> float | None:
    return None if text is None else datetime.fromisoformat(text).timestamp()
