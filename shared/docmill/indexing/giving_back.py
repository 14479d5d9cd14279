"""Giving back: what a worker that stops in order does with the documents that it does not finish."""

from collections import defaultdict
from collections.abc import Callable, Iterable

import structlog

from docmill.domain.errors import StoreDown
from docmill.domain.registry import Attempt, Lane
from docmill.ports.ledger import RunLedger
from docmill.ports.queue import TaskQueue

_log = structlog.get_logger(__name__)


def give_back(attempts: Iterable[Attempt], ledger_of: Callable[[str], RunLedger], tasks: TaskQueue | None) -> int:
    """Lets other workers have documents at once, which are no suspects for it; returns how many were given back.

    Args:
        attempts: those that have ended, or that another worker has taken up, are left alone.
        ledger_of: the ledger of a knowledge base by its name.
        tasks: takes their messages; None sends none: they wait in the ledger until whoever plans the work finds that they can go on.
    """
    by_knowledge_base: defaultdict[str, list[Attempt]] = defaultdict(list)
    for attempt in attempts:
        by_knowledge_base[attempt.knowledge_base].append(attempt)
    count = 0
    for knowledge_base, held in by_knowledge_base.items():
        try:
            messages = ledger_of(knowledge_base).give_back(held)
            count += len(messages)
            if tasks is None:
                continue
            live = {attempt.ticket for attempt in held if attempt.lane is Lane.LIVE}
            for lane in Lane:
                of_lane = [message for message in messages if (message.ticket in live) is (lane is Lane.LIVE)]
                if of_lane:
                    tasks.send(of_lane, lane)
        except StoreDown as error:
            _log.warning("documents_not_given_back", count=len(held), error=str(error), then="their leases run out")
    return count
