"""Workers that die, freeze, stall and are stopped, in a fleet on real servers."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.deadly_contents import KILLS, STARTUP
from support.fault_points import DEATHS, dying_once, loading_slowly
from support.fleet import Fleet, assert_clean, running_fleet, write_all
from support.fleet_api import Reader, wait_for_versions
from support.waiting import wait_until


@pytest.fixture
def fleet(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Fleet]:
    with running_fleet(tmp_path, f"deaths{abs(hash(request.node.name)) % 10**8}") as fleet:
        yield fleet


@pytest.mark.parametrize("point", DEATHS)
def test_a_worker_that_dies_leaves_nothing_behind(fleet: Fleet, point: str) -> None:
    names = write_all(fleet, 1)
    fleet.start("producer")
    workers = [fleet.start("worker", "--threads", "2") for _ in range(2)]
    api = fleet.start_api()
    api.wait_until_settled(len(names))
    for worker in workers:
        worker.stop()
    fleet.more_settings |= dying_once(point, fleet.folder)
    dying = [fleet.start("worker", "--threads", "2") for _ in range(2)]
    with Reader(api, names) as reader:
        write_all(fleet, 2)
        wait_for_versions(api, names, 2)
    assert [worker.process.poll() for worker in dying].count(-signal.SIGKILL) == 1
    assert (reader.broken, reader.unverified) == ([], 0)
    assert reader.asked > len(names)
    assert_clean(fleet)


def test_a_worker_that_was_frozen_past_its_lease_does_not_undo_what_came_after(fleet: Fleet) -> None:
    names = write_all(fleet, 1, count=6)
    fleet.start("producer")
    frozen = fleet.start("worker", "--threads", "2", settings=loading_slowly(1.0))
    api = fleet.start_api()
    api.wait_until_settled(len(names))
    with Reader(api, names) as reader:
        write_all(fleet, 2, count=6)
        wait_until(lambda: fleet.redis.client.zcard(f"docmill:{{{fleet.name}:0}}:leases"), "a document in work")
        frozen.pause()
        write_all(fleet, 3, count=6)
        fleet.start("worker", "--threads", "2")
        wait_for_versions(api, names, 3)
        frozen.go_on()
        write_all(fleet, 4, count=6)
        wait_for_versions(api, names, 4)
    assert (reader.broken, reader.unverified) == ([], 0)
    assert_clean(fleet)


def test_a_task_that_outlasts_the_visibility_timeout_is_carried_out_once(fleet: Fleet) -> None:
    fleet.more_settings["DOCMILL_VISIBILITY_TIMEOUT_SECONDS"] = "1"
    names = write_all(fleet, 1, count=4)
    for _ in range(2):
        fleet.start("worker", "--threads", "2", settings=loading_slowly(5.0))
    fleet.start("producer")
    api = fleet.start_api()
    api.wait_until_settled(len(names))
    assert api.status()["run"]["counters"]["indexed"] == len(names)
    assert_clean(fleet)


def test_a_worker_that_is_told_to_stop_loses_nothing_and_holds_nothing_up(fleet: Fleet) -> None:
    names = write_all(fleet, 1, count=20)
    slow = fleet.start("worker", "--threads", "20", settings=loading_slowly(3.0) | {"DOCMILL_LEASE_SECONDS": "300"})
    fleet.start("producer")
    api = fleet.start_api()
    wait_until(lambda: fleet.redis.client.zcard(f"docmill:{{{fleet.name}:0}}:leases") >= 10, "documents in work", 60)
    fleet.start("worker", "--threads", "2")
    assert slow.stop(15) == 0
    api.wait_until_settled(len(names))
    assert_clean(fleet)


def test_a_document_that_kills_its_workers_is_quarantined_and_its_neighbours_are_not(fleet: Fleet) -> None:
    fleet.more_settings["PYTHONPATH"] = str(STARTUP)
    names = write_all(fleet, 1, count=10)
    (fleet.documents / "deadly.md").write_bytes(KILLS)
    fleet.start("producer")
    api = fleet.start_api()
    workers = [fleet.start("worker", "--threads", "2") for _ in range(2)]

    def is_over() -> bool:
        for place, worker in enumerate(workers):  # as a supervisor does
            if worker.process.poll() is not None:
                workers[place] = fleet.start("worker", "--threads", "2")
        counts = api.status()["documents"]
        return bool(counts["quarantined"] == 1 and counts["live"] == len(names) and counts["pending"] == 0)

    wait_until(is_over, "the quarantine", 120, pause_seconds=0.2)
    wait_for_versions(api, names, 1)
    assert all(worker.process.poll() is None for worker in workers)
    assert os.path.exists(fleet.documents / "deadly.md")
