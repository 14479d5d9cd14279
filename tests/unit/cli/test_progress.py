"""What people read while a run goes on, and after it."""

import time
from collections.abc import Callable

from docmill.domain.runs import Run, RunState
from docmill_services.cli.progress import follow, has_ended, has_ended_or_backs_off, line_of, pace_of, summary_of


def run(state: RunState, finished_at: float | None = None, pending: int = 0, **counters: int) -> Run:
    return Run("1", state, started_at=100.0, finished_at=finished_at, pending=pending, counters=counters)


def line(of: Run, now: float) -> str:
    return line_of("notes", of, pace_of(of, now))


def test_before_anything_is_seen_no_figures_are_shown() -> None:
    assert line(run(RunState.SCANNING), 101.0) == "notes: starting to scan"


def test_a_slow_rate_is_not_shown_as_nothing() -> None:
    assert line(run(RunState.INDEXING, pending=3, seen=4, indexed=1, chunks=10), 104.0) == (
        "notes: indexing, 1/4 files, 0.2 files/s, 2.5 chunks/s, about 12 s left, 3 to go"
    )


def test_while_files_are_not_counted_no_end_is_foretold() -> None:
    assert line(run(RunState.SCANNING, pending=40, seen=100, indexed=60, chunks=60), 102.0) == (
        "notes: scanning, 60/100+ files, 30 files/s, 30 chunks/s, the scan goes on"
    )


def test_once_files_are_counted_the_end_is_foretold_although_the_scan_goes_on() -> None:
    assert line(run(RunState.SCANNING, pending=40, seen=100, found=400, indexed=60, chunks=60), 102.0) == (
        "notes: scanning, 60/400 files, 30 files/s, 30 chunks/s, about 11 s left, the scan goes on"
    )


def test_a_summary_names_what_there_was() -> None:
    ended = run(RunState.COMPLETE, 102.0, indexed=2, unchanged=5, chunks=8, embedded=3, reused=1)
    assert summary_of("notes", ended) == [
        "notes: complete in 2.0 s: 2 indexed, 5 unchanged, 8 chunks over all strategies (3 embedded, 1 reused)"
    ]


def test_a_summary_of_nothing_says_so_and_gives_the_reasons() -> None:
    ended = Run("1", RunState.COMPLETE_WITH_ERRORS, 100.0, 101.0, counters={"skipped.binary": 2, "failed.disk.full": 1})
    assert summary_of("notes", ended) == [
        "notes: complete with errors in 1.0 s: nothing indexed",
        "notes: 1 failed disk.full, 2 skipped binary; docmill explain FILE says why",
    ]


def backing_off(retry_at: float | None, **counters: int) -> Run:
    return Run("1", RunState.BACKING_OFF, started_at=100.0, retry_at=retry_at, pending=3, counters=counters)


def test_while_a_provider_is_left_alone_the_line_says_until_when_and_does_not_change() -> None:
    shown = time.strftime("%H:%M:%S", time.localtime(160.0))
    first = line(backing_off(160.0, seen=4, indexed=1, embedded=7, tokens=90), 104.0)
    assert first == f"notes: backing off: a provider is called again at {shown}"
    assert line(backing_off(160.0, seen=5, indexed=2, embedded=9, tokens=95), 150.0) == first


def test_a_wait_without_an_end_is_said_as_well() -> None:
    assert line(backing_off(None), 104.0) == "notes: backing off: a provider asked to be called later"


def test_what_was_embedded_reused_and_spent_is_shown() -> None:
    assert line(run(RunState.INDEXING, seen=1, pending=1, indexed=1, chunks=10, embedded=6, reused=4, tokens=500), 101.0) == (
        "notes: indexing, 1/2 files, 1.0 files/s, 10 chunks/s, 6 embedded, 4 reused, 500 tokens, about 1 s left, 1 to go"
    )


def test_a_summary_of_a_run_that_waits_says_until_when() -> None:
    shown = time.strftime("%H:%M:%S", time.localtime(160.0))
    assert summary_of("notes", backing_off(160.0))[1] == f"notes: a provider is called again at {shown}"


def test_tokens_are_in_the_summary() -> None:
    ended = run(RunState.COMPLETE, 102.0, indexed=2, chunks=8, embedded=3, reused=1, tokens=77)
    assert summary_of("notes", ended)[0].endswith("8 chunks over all strategies (3 embedded, 1 reused, 77 tokens)")


def follow_states(*states: RunState, is_over: Callable[[Run], bool]) -> list[RunState]:
    """The states that were looked at until the run was over."""
    looked: list[RunState] = []
    coming = iter(states)

    def read() -> dict[str, Run]:
        looked.append(next(coming))
        return {"notes": run(looked[-1])}

    follow(read, lambda _: False, lambda: None, is_over=is_over)
    return looked


def test_a_run_that_waits_for_its_provider_is_followed_to_its_end() -> None:
    states = (RunState.INDEXING, RunState.BACKING_OFF, RunState.INDEXING, RunState.COMPLETE)
    assert follow_states(*states, is_over=has_ended) == list(states)


def test_who_does_not_want_to_wait_leaves_once_every_run_has_ended_or_waits() -> None:
    states = (RunState.INDEXING, RunState.BACKING_OFF, RunState.COMPLETE)
    assert follow_states(*states, is_over=has_ended_or_backs_off) == [RunState.INDEXING, RunState.BACKING_OFF]


def test_a_run_that_may_try_its_provider_again_is_waited_for() -> None:
    now = time.time()
    assert has_ended_or_backs_off(backing_off(now + 60))
    assert not has_ended_or_backs_off(backing_off(now - 1))
