"""Progress: how an indexing run goes, drawn on a terminal, at most one line a second elsewhere."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from rich.live import Live
from rich.text import Text

from docmill.domain.runs import REMOVALS_HELD, Run, RunState
from docmill_services.cli.output import counted, err, say

_DONE = ("indexed", "empty", "removed")
_APPROVE = "docmill status says why, docmill approve-removals removes them"
_MADE = ("embedded", "reused", "tokens")
_REFRESH_SECONDS = 0.25
_LINE_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Pace:
    """Where a run stands; rates per second since it began.

    Attributes:
        total: files that need work, as far as they are known by now.
        is_total_known: whether every file was counted.
    """

    done: int
    total: int
    is_total_known: bool
    unchanged: int
    failed: int
    skipped: int
    seen: int
    files_per_second: float
    chunks_per_second: float
    seconds_left: float | None


def pace_of(run: Run, now: float) -> Pace:
    """Reads a run's counters; ``now`` in seconds since 1970, by the clock that started the run."""
    counters = run.counters
    skipped = sum(value for name, value in counters.items() if name.startswith("skipped."))
    failed = sum(value for name, value in counters.items() if name.startswith("failed."))
    done = sum(counters.get(name, 0) for name in _DONE) + skipped + failed
    elapsed = max(0.001, (run.finished_at or now) - run.started_at)
    rate = done / elapsed
    scanning = run.state is RunState.SCANNING
    to_scan = max(0, counters.get("found", 0) - counters.get("seen", 0)) if scanning else 0
    is_total_known = not scanning or "found" in counters
    left = (run.pending + to_scan) / rate if rate > 0 and is_total_known else None
    return Pace(
        done,
        done + run.pending + to_scan,
        is_total_known,
        counters.get("unchanged", 0),
        failed,
        skipped,
        counters.get("seen", 0),
        rate,
        counters.get("chunks", 0) / elapsed,
        left,
    )


def line_of(name: str, run: Run, pace: Pace) -> str:
    """One line for people, which says what is being waited for."""
    if run.state is RunState.BACKING_OFF:
        return f"{name}: backing off: {until_of(run)}"  # no counters: a wait is said once, whatever else ends meanwhile
    if not run.state.final and not pace.seen:
        return f"{name}: starting to scan"
    parts = [f"{name}: {run.state.value.replace('_', ' ')}"]
    if pace.total:
        parts.append(f"{pace.done}/{pace.total}{'' if pace.is_total_known else '+'} files")
    if pace.unchanged:
        parts.append(f"{pace.unchanged} unchanged")
    if pace.done:
        parts.append(f"{_rate(pace.files_per_second)} files/s")
        parts.append(f"{_rate(pace.chunks_per_second)} chunks/s")
    parts += _made(run)
    if pace.skipped:
        parts.append(f"{pace.skipped} skipped")
    if pace.failed:
        parts.append(f"{pace.failed} failed")
    if not run.state.final:
        if pace.seconds_left:
            parts.append(f"about {_duration(pace.seconds_left)} left")
        parts.append("the scan goes on" if run.state is RunState.SCANNING else f"{run.pending} to go")
    if run.error:
        parts.append(run.error)
    return ", ".join(parts)


def until_of(run: Run) -> str:
    """Until when a run leaves its provider alone, in this machine's time."""
    if run.retry_at is None:
        return "a provider asked to be called later"
    return f"a provider is called again at {time.strftime('%H:%M:%S', time.localtime(run.retry_at))}"


def _made(run: Run) -> list[str]:
    return [f"{run.counters[name]} {name}" for name in _MADE if run.counters.get(name)]


def _rate(per_second: float) -> str:
    return f"{per_second:.1f}" if per_second < 10 else f"{per_second:.0f}"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def has_ended(run: Run) -> bool:
    """Whether a run has ended."""
    return run.state.final


def has_ended_or_backs_off(run: Run) -> bool:
    """Whether a run has ended, or leaves a provider alone for now; one that may try it again, or does, has neither."""
    return run.state.final or (run.state is RunState.BACKING_OFF and (run.retry_at is None or run.retry_at > time.time()))


def follow(
    runs: Callable[[], Mapping[str, Run]],
    wait: Callable[[float], bool],
    check: Callable[[], None],
    *,
    is_over: Callable[[Run], bool] = has_ended,
) -> Mapping[str, Run]:
    """Shows runs until all are over or ``wait`` says that somebody wants to stop; returns them as they then are.

    Args:
        runs: reads them, by knowledge base.
        wait: waits so many seconds; True means stop.
        check: raises when indexing cannot go on.
        is_over: whether a run is waited for no longer.
    """
    if err.is_terminal:
        with Live(console=err, auto_refresh=False, transient=True) as live:
            return _follow(runs, wait, check, is_over, _REFRESH_SECONDS, lambda lines: live.update(Text("\n".join(lines)), refresh=True))
    return _follow(runs, wait, check, is_over, _LINE_SECONDS, lambda lines: err.print("\n".join(lines), markup=False))


def _follow(
    runs: Callable[[], Mapping[str, Run]],
    wait: Callable[[float], bool],
    check: Callable[[], None],
    is_over: Callable[[Run], bool],
    interval_seconds: float,
    show: Callable[[list[str]], None],
) -> Mapping[str, Run]:
    last: list[str] = []
    while True:
        check()
        now = runs()
        lines = [line_of(name, run, pace_of(run, time.time())) for name, run in now.items()]
        over = all(is_over(run) for run in now.values())
        if not over and lines != last:
            show(lines)
            last = lines
        if over or wait(interval_seconds):
            return now


def summary_of(name: str, run: Run) -> list[str]:
    """What a run came to, with the reasons of what was not indexed."""
    counters = run.counters
    seconds = (run.finished_at or time.time()) - run.started_at
    reasons = [f"{count} {key.replace('.', ' ', 1)}" for key, count in sorted(counters.items()) if key.startswith(("skipped.", "failed."))]
    parts = [f"{counters[key]} {key}" for key in ("indexed", "unchanged", "removed", "empty") if counters.get(key)]
    if counters.get("chunks"):
        made = f"{counters.get('embedded', 0)} embedded, {counters.get('reused', 0)} reused"
        made += f", {counters['tokens']} tokens" if counters.get("tokens") else ""
        parts.append(f"{counters['chunks']} chunks over all strategies ({made})")
    lines = [f"{name}: {run.state.value.replace('_', ' ')} in {seconds:.1f} s: {', '.join(parts) or 'nothing indexed'}"]
    if run.state is RunState.BACKING_OFF:
        lines.append(f"{name}: {until_of(run)}")
    if reasons:
        lines.append(f"{name}: {', '.join(reasons)}; docmill explain FILE says why")
    if counters.get(REMOVALS_HELD):
        lines.append(f"{name}: {counted(counters[REMOVALS_HELD], 'document')} missing and kept, since so much went at once; {_APPROVE}")
    if run.error:
        lines.append(f"{name}: {run.error}")
    return lines


def say_summaries(runs: Mapping[str, Run]) -> None:
    """What each run came to, by knowledge base."""
    for name, run in runs.items():
        for line in summary_of(name, run):
            say(line)
