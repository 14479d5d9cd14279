"""``docmill up`` when it, or one of its children, is killed or frozen at any moment: the next run makes the index equal to the disk."""

import os
import random
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import redis

from support.changing_folder import ChangingFolder
from support.index_truth import disagreements
from support.running_docmill import RunningDocmill, write_configuration

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


@pytest.fixture
def seed() -> int:
    return int(os.environ.get("DOCMILL_TEST_SEED", random.randrange(1_000_000)))


def wait_for_work(running: RunningDocmill, documents: int = 30) -> None:
    """Returns when some documents are indexed and others are not."""
    running.wait_until(lambda: running.status()["documents"]["live"] >= documents, "the run to be under way")
    assert running.status()["run"]["finished_at"] is None, "the run ended too early for this test"


def test_killed_at_random_moments_it_converges_to_the_disk(tmp_path: Path, seed: int) -> None:
    world = World(tmp_path, seed)
    for turn in range(6):
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


def kill_valkey(running: RunningDocmill) -> None:
    os.kill(running.valkey(), signal.SIGKILL)


def kill_producer(running: RunningDocmill) -> None:
    os.kill(running.producer(), signal.SIGKILL)


def freeze_past_the_leases(running: RunningDocmill) -> None:
    running.process.send_signal(signal.SIGSTOP)
    time.sleep(3.0)  # longer than a lease
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
def test_harmed_in_the_middle_of_a_run_it_completes_the_run(tmp_path: Path, seed: int, harm: Callable[[RunningDocmill], None]) -> None:
    world = World(tmp_path, seed)
    with world.docmill("--once") as running:
        wait_for_work(running)
        harm(running)
        assert running.wait(60.0) == 0, running.said
    world.require_truth()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stop_at_any_moment_ends_it_soon_and_the_next_start_goes_on(tmp_path: Path, seed: int, number: signal.Signals) -> None:
    world = World(tmp_path, seed)
    for turn in range(3):
        with world.docmill() as running:
            _ = running.url
            time.sleep(world.notes.random.uniform(0.0, 2.0))  # the moment is what is tried
            began = time.monotonic()
            assert running.stop(number) == 4, running.said
            print(f"turn {turn}: ended {time.monotonic() - began:.2f} s after {number.name}")  # noqa: T201
            assert "Traceback" not in running.said
        world.notes.change(10)
    world.index_to_the_end()
    world.require_truth()


def test_a_start_after_a_complete_run_embeds_nothing(tmp_path: Path, seed: int) -> None:
    world = World(tmp_path, seed, notes=50)
    world.index_to_the_end()
    with world.docmill("--no-watch") as running:
        status = running.wait_until_indexed()
        assert status["run"]["counters"].get("embedded", 0) == 0
        assert status["run"]["counters"].get("indexed", 0) == 0
        assert running.stop() == 4
    world.require_truth()
