"""Calls several strategies at once, within one time limit."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, Future
from concurrent.futures import TimeoutError as NotInTime
from dataclasses import dataclass
from typing import Generic, TypeVar

from docmill.domain.errors import DocmillError, StrategyLate
from docmill.ports.clock import Clock

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """One strategy's work; ``at_once`` says that it waits for nothing and may run in the caller's thread."""

    strategy: str
    work: Callable[[], T]
    at_once: bool


def call_together(
    calls: Sequence[Call[T]], executor: Executor, clock: Clock, deadline: float
) -> tuple[Mapping[str, T], Mapping[str, DocmillError]]:
    """Results and failures, by strategy.

    Calls that answer at once run here, one after another, while the executor runs the others.

    Args:
        calls: one per strategy.
        executor: threads for calls that wait.
        clock: whose time ``deadline`` is.
        deadline: a strategy that has not answered by then failed with ``StrategyLate``; its call is left to end by itself.
    """
    waiting: list[tuple[str, Future[T]]] = [(call.strategy, executor.submit(call.work)) for call in calls if not call.at_once]
    results: dict[str, T] = {}
    failures: dict[str, DocmillError] = {}
    for call in calls:
        if call.at_once:
            try:
                results[call.strategy] = call.work()
            except DocmillError as error:
                failures[call.strategy] = error
    for strategy, future in waiting:
        try:
            results[strategy] = future.result(timeout=max(0.0, deadline - clock.monotonic()))
        except DocmillError as error:
            failures[strategy] = error
        except NotInTime:
            future.cancel()
            failures[strategy] = StrategyLate("it did not answer within the query's time limit")
    return results, failures
