"""A run as server-sent events."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Final

from docmill.domain.errors import StoreDown
from docmill.domain.runs import Run
from docmill_services.query.render import run_reply
from docmill_services.query.work import Work

POLL_SECONDS: Final = 0.25
#: Looks without a change after which a comment is sent, so that a dead connection is noticed.
LOOKS_PER_COMMENT: Final = 40


async def run_events(read: Callable[[], Run | None], work: Work, stopping: asyncio.Event) -> AsyncIterator[bytes]:
    """One event ``run`` for each change of a run, the first at once; ends with the run, or when the server stops.

    Args:
        read: the run as it is now; None when it is forgotten, which ends the stream.
        work: where ``read`` runs.
        stopping: set when the server stops.
    """
    last: Run | None = None
    looks = 0
    while True:
        try:
            run = await work.run(read)
        except StoreDown:
            run = last
        else:
            if run is None:
                return
        if run is not None and run != last:
            yield b"event: run\ndata: " + run_reply(run).json_bytes() + b"\n\n"
            last, looks = run, 0
            if run.state.final:
                return
        looks += 1
        if looks % LOOKS_PER_COMMENT == 0:
            yield b": still here\n\n"
        try:
            await asyncio.wait_for(stopping.wait(), POLL_SECONDS)
        except TimeoutError:
            continue
        return
