"""Indexing by a docmill that runs already: asks it for runs and follows them."""

import threading
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from docmill.domain.runs import Run, RunState
from docmill_services.cli.api import Api
from docmill_services.cli.output import say
from docmill_services.cli.progress import follow, summary_of


def index_over_http(api: Api, names: Sequence[str], stopping: threading.Event) -> Mapping[str, Run]:
    """One run of each knowledge base; raises ``ApiError`` or ``ServiceDown``."""
    started = {name: api.post(f"/v1/knowledge-bases/{name}/runs")["id"] for name in names}

    def runs_now() -> Mapping[str, Run]:
        return {name: run_of(api.get(f"/v1/knowledge-bases/{name}/runs/{run_id}")) for name, run_id in started.items()}

    runs = follow(runs_now, stopping.wait, lambda: None)
    for name, run in runs.items():
        for line in summary_of(name, run):
            say(line)
    return runs


def run_of(reply: Mapping[str, Any]) -> Run:
    """A run as the query service describes it."""
    return Run(
        id=reply["id"],
        state=RunState(reply["state"]),
        started_at=datetime.fromisoformat(reply["started_at"]).timestamp(),
        finished_at=datetime.fromisoformat(reply["finished_at"]).timestamp() if reply["finished_at"] else None,
        counters=reply["counters"],
        pending=reply["pending"],
        error=reply.get("error") or "",
    )
