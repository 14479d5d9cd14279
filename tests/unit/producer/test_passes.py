import json
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from docmill.documents.selection import Selection
from docmill.domain.chunks import ChunkRecord
from docmill.domain.errors import DiskFull, DocmillError, ProviderPermanent, ProviderTransient, StoreRejected, TextRefused
from docmill.domain.runs import Run, RunState
from docmill.indexing.sources import ROOTS
from docmill_services.producer.passes import Pass
from docmill_services.producer.scan import Scan
from support.indexing_world import INDEX_SET, World
from support.trees import knowledge_base, plant
from support.waiting import wait_until


def carried_out(world: World, folder: Path, count: int, *, window: int = 1000) -> Run:
    """A run over ``count`` files of ``folder`` while a worker works."""
    plant(folder, [f"{number:03}.md" for number in range(count)])
    for number in range(count):
        world.source.put(f"{number:03}.md", f"text {number}")
    kb = knowledge_base(folder)
    stopping = threading.Event()
    one = Pass(
        knowledge_base="kb",
        state=world.state,
        tasks=world.tasks,
        scan=lambda: Scan(Selection(kb, None), kb.base_folder),
        index_sets=lambda: [INDEX_SET],
        room=lambda: window - sum(world.state.ledger.outstanding()),
        stopping=stopping,
        timeout_seconds=None,
    )

    def work() -> None:
        while not stopping.is_set():
            world.work()

    worker = threading.Thread(target=work)
    worker.start()
    try:
        run = world.state.ledger.start_run()[0]
        one.carry_out(run.id)
    finally:
        stopping.set()
        worker.join()
    ended = world.state.ledger.run(run.id)
    assert ended is not None
    return ended


def refuse_writes(world: World, error: DocmillError) -> None:
    def write(index: str, records: Sequence[ChunkRecord]) -> None:
        raise error

    world.lexical.write = write  # type: ignore[method-assign]


@pytest.mark.parametrize("error", [DiskFull("/data: no room is left"), ProviderPermanent("401: wrong key")])
def test_what_every_document_would_fail_of_ends_the_run_with_its_message(world: World, tmp_path: Path, error: DocmillError) -> None:
    refuse_writes(world, error)
    run = carried_out(world, tmp_path, 20)
    assert (run.state, run.error, run.pending) == (RunState.FAILED, f"{error.code}: {error}", 0)


@pytest.mark.parametrize("error", [StoreRejected("this one is not for me"), TextRefused("400: too long", 0)])
def test_what_one_document_fails_of_does_not_end_the_run(world: World, tmp_path: Path, error: DocmillError) -> None:
    refuse_writes(world, error)
    run = carried_out(world, tmp_path, 3)
    assert (run.state, run.counters[f"failed.{error.code}"]) == (RunState.COMPLETE_WITH_ERRORS, 3)


@pytest.mark.parametrize("error", [ProviderTransient("no answer")])
def test_a_run_of_which_nothing_got_through_has_failed(world: World, tmp_path: Path, error: DocmillError) -> None:
    refuse_writes(world, error)
    run = carried_out(world, tmp_path, 3)
    assert (run.state, run.error) == (RunState.FAILED, f"{error.code}: no answer")


def test_a_provider_that_never_answers_ends_the_run_before_every_document_was_tried(world: World, tmp_path: Path) -> None:
    refuse_writes(world, ProviderTransient("no answer"))
    run = carried_out(world, tmp_path, 150)
    assert (run.state, run.pending) == (RunState.FAILED, 0)


def test_a_run_with_nothing_wrong_is_complete(world: World, tmp_path: Path) -> None:
    run = carried_out(world, tmp_path, 250)
    assert (run.state, run.counters["indexed"], run.counters["seen"]) == (RunState.COMPLETE, 250, 250)


def test_files_are_counted_ahead_while_the_scan_waits_for_room(world: World, tmp_path: Path) -> None:
    run = carried_out(world, tmp_path, 30, window=5)
    wait_until(lambda: counter(world, run, "found") == 30, "the count")
    assert (run.state, run.counters["indexed"]) == (RunState.COMPLETE, 30)


def test_files_are_not_counted_ahead_where_the_scan_never_waits(world: World, tmp_path: Path) -> None:
    assert "found" not in carried_out(world, tmp_path, 30).counters


def counter(world: World, run: Run, name: str) -> int | None:
    known = world.state.ledger.run(run.id)
    return known.counters.get(name) if known is not None else None


@pytest.fixture
def world() -> World:
    return World()


def test_a_pass_notes_which_folders_it_scanned(world: World, tmp_path: Path) -> None:
    carried_out(world, tmp_path, 1)
    (inode,) = json.loads(world.state.registry.noted(ROOTS) or "{}").values()
    assert inode in {tmp_path.stat().st_ino, *(path.stat().st_ino for path in tmp_path.rglob("*"))}
