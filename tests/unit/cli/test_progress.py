"""What people read while a run goes on, and after it."""

from docmill.domain.runs import Run, RunState
from docmill_services.cli.progress import line_of, pace_of, summary_of


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
