"""``docmill up`` when it, or one of its children, is killed or frozen at any moment: the next run makes the index equal to the disk."""

import os
import random
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import redis

from docmill.adapters.redis.keys import prefix_of
from support.changing_folder import ChangingFolder
from support.index_truth import disagreements
from support.running_docmill import RunningDocmill, write_configuration
from support.waiting import wait_until

LEASES = {"DOCMILL_LEASE_SECONDS": "2", "DOCMILL_LEASE_RENEWAL_SECONDS": "0.5"}


class World:
    """A folder, its configuration and its data folder."""

    def __init__(self, base: Path, seed: int, notes: int = 300) -> None:
        self.notes = ChangingFolder(base / "notes", seed, notes)
        self.configuration = write_configuration(base / "docmill.yaml", self.notes.folder, size=300)
        self.data_dir = base / "data"

    def docmill(self, *arguments: str, settings: dict[str, str] | None = None) -> RunningDocmill:
        return RunningDocmill(self.configuration, self.data_dir, *arguments, settings={**LEASES, **(settings or {})})

    def index_to_the_end(self) -> None:
        with self.docmill("--once") as last:
            assert last.wait() == 0, last.said

    def require_truth(self) -> None:
        assert disagreements(self.configuration, self.data_dir, self.notes.documents()) == []


def new_seed() -> int:
    return int(os.environ.get("DOCMILL_TEST_SEED", random.randrange(1_000_000)))


@pytest.fixture(scope="module")
def running_world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[World, RunningDocmill]]:
    """One docmill for all tests that harm it in passing; in the end the index must equal the disk."""
    world = World(tmp_path_factory.mktemp("harmed"), new_seed(), notes=200)
    with world.docmill("--no-watch") as running:
        running.wait_until_indexed()
        yield world, running
        assert running.stop() == 4
        world.require_truth()


def kill_valkey(running: RunningDocmill) -> None:
    os.kill(running.valkey(), signal.SIGKILL)


def kill_producer(running: RunningDocmill) -> None:
    os.kill(running.producer(), signal.SIGKILL)


def freeze_past_the_leases(running: RunningDocmill) -> None:
    running.process.send_signal(signal.SIGSTOP)
    with broker_of(running) as broker:

        def have_run_out() -> bool:
            seconds, _ = broker.time()
            latest = broker.zrange(f"{prefix_of('kb')}leases", -1, -1, withscores=True)
            return not latest or latest[0][1] < seconds * 1000

        wait_until(have_run_out, "every lease to run out")
    running.process.send_signal(signal.SIGCONT)


def lose_the_queue(running: RunningDocmill) -> None:
    with broker_of(running) as broker:
        broker.delete("docmill.bulk", "docmill.live")


def lose_everything_of_the_queue(running: RunningDocmill) -> None:
    with broker_of(running) as broker:
        broker.delete("docmill.bulk", "docmill.live", "unacked", "unacked_index")


def double_the_queue(running: RunningDocmill) -> None:
    with broker_of(running) as broker:
        for message in broker.lrange("docmill.bulk", 0, -1):
            broker.lpush("docmill.bulk", message)
            broker.lpush("docmill.live", message)


def broker_of(running: RunningDocmill) -> redis.Redis:
    return redis.Redis(unix_socket_path=str(running.data_dir / "valkey" / "valkey.sock"))


@pytest.mark.parametrize(
    "harm",
    [kill_valkey, kill_producer, freeze_past_the_leases, lose_the_queue, lose_everything_of_the_queue, double_the_queue],
)
def test_harmed_in_the_middle_of_a_run_it_completes_the_run(
    running_world: tuple[World, RunningDocmill], harm: Callable[[RunningDocmill], None]
) -> None:
    world, running = running_world
    world.notes.change(100)
    for path in world.notes.folder.rglob("*.md"):
        path.write_text(path.read_text() + f"\nOnce more, after {harm.__name__}.\n")
    run = httpx.post(f"{running.url}/v1/knowledge-bases/kb/runs", timeout=30).json()["id"]
    running.wait_until(lambda: under_way(running, run), "the run to be under way")
    harm(running)
    running.wait_until(lambda: (state_of(running, run) or {}).get("finished_at"), "the run to end", 60.0)
    ended = state_of(running, run)
    assert ended is not None
    assert ended["state"] == "complete", ended
    running.wait_until_indexed()


def under_way(running: RunningDocmill, run: str) -> bool:
    found = state_of(running, run)
    assert found is not None
    assert found["finished_at"] is None, f"the run ended too early for this test: {found}"
    return bool(found["counters"].get("indexed", 0) >= 10)


def state_of(running: RunningDocmill, run: str) -> dict[str, Any] | None:
    """The run, or None while the registry does not answer."""
    response = httpx.get(f"{running.url}/v1/knowledge-bases/kb/runs/{run}", timeout=30)
    if response.status_code == 503:
        return None
    found: dict[str, Any] = response.json()
    return found


def test_killed_at_random_moments_it_converges_to_the_disk(tmp_path: Path) -> None:
    world = World(tmp_path, new_seed())
    for turn in range(4):
        with world.docmill() as running:
            if turn:
                _ = running.url
            time.sleep(world.notes.random.uniform(0.0, 2.0))  # the moment is what is tried
            world.notes.change(10)
            time.sleep(world.notes.random.uniform(0.0, 0.5))
            running.kill()
        world.notes.change(10)
    world.index_to_the_end()
    world.require_truth()


def test_a_stop_at_any_moment_ends_it_soon_and_the_next_start_goes_on(tmp_path: Path) -> None:
    world = World(tmp_path, new_seed())
    for number in (signal.SIGINT, signal.SIGTERM):
        with world.docmill() as running:
            _ = running.url
            time.sleep(world.notes.random.uniform(0.0, 2.0))  # the moment is what is tried
            began = time.monotonic()
            assert running.stop(number) == 4, running.said
            print(f"ended {time.monotonic() - began:.2f} s after {number.name}")  # noqa: T201
            assert "Traceback" not in running.said
        world.notes.change(10)
    world.index_to_the_end()
    world.require_truth()


def test_a_stop_during_a_long_embedding_does_not_wait_for_it(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    notes = ChangingFolder(folder, new_seed(), 0)
    for number in range(4):
        (folder / f"{number}.txt").write_text(" ".join(notes.word() for _ in range(20_000)))
    with RunningDocmill(folder, tmp_path / "data") as running:
        running.wait_until(lambda: running.status("notes")["documents"]["pending"] > 0, "the documents to be in work")
        assert running.stop(signal.SIGINT) == 4
        assert "Traceback" not in running.said
