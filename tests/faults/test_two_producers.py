"""Two producers on one knowledge base: one of them does the work, and when it dies or freezes the other one takes over."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import redis

from docmill.adapters.redis.celery_app import QUEUES
from docmill.adapters.redis.keys import prefix_of
from docmill.adapters.redis.state import RedisState
from docmill.documents.reading import signature_of
from docmill.domain.registry import Commit, DocumentState, Lane
from docmill.domain.runs import Run, RunState
from docmill.testing.state_under_test import SERVED
from support.redis_server import HOST, redis_at_port
from support.trees import plant
from support.waiting import wait_until

DOCUMENTS = [f"{number}.md" for number in range(120)]
TAKE_OVER_SECONDS = 40.0


class Producers:
    """Two processes, and a worker that commits what is planned when it is told to."""

    def __init__(self, port: int, folder: Path) -> None:
        self.folder = folder
        self.url = f"redis://{HOST}:{port}"
        self.client = redis.Redis(host=HOST, port=port)
        state = RedisState(self.client, "kb")
        self.registry, self.leases, self.ledger = state.registry, state.leases, state.ledger
        self.registry.raise_epoch(1)
        self.registry.serve(SERVED)
        self.processes = [self._start(), self._start()]

    def _start(self) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-m", "support.producing", self.url, str(self.folder)]
        environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
        return subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)

    def close(self) -> None:
        for process in self.processes:
            process.kill()
            process.wait()
        self.client.close()

    def leader(self) -> "subprocess.Popen[bytes] | None":
        packed = self.client.hget(f"{prefix_of('kb')}roles", "producer")
        if packed is None:
            return None
        _, until_ms, holder = packed.decode().split("|", 2)
        seconds, _ = self.client.time()
        if int(until_ms) < seconds * 1000:
            return None
        pid = int(holder.removeprefix("process "))
        return next((process for process in self.processes if process.pid == pid), None)

    def some_leader(self) -> "subprocess.Popen[bytes]":
        wait_until(lambda: self.leader() is not None, "a leader", seconds=TAKE_OVER_SECONDS)
        leader = self.leader()
        assert leader is not None
        return leader

    def wait_for_another(self, before: "subprocess.Popen[bytes]") -> None:
        wait_until(lambda: self.leader() not in (None, before), "another leader", seconds=TAKE_OVER_SECONDS)

    def queued(self, lane: Lane) -> int:
        return self.client.llen(QUEUES[lane])

    def work(self) -> int:
        """Commits every document that waits, as it is on disk; returns how many."""
        messages = self.ledger.oldest_waiting(10_000)
        for message in messages:
            attempt = self.ledger.begin(message, 60)
            assert attempt is not None
            path = self.folder / message.document_id
            state = DocumentState.LIVE if path.exists() else DocumentState.GONE
            stat = signature_of(path.stat()).packed() if path.exists() else ""
            self.registry.commit([Commit(attempt, state, "f", {SERVED: {}} if path.exists() else {}, stat=stat)])
        return len(messages)

    def run(self) -> Run:
        run = self.ledger.current_run()
        assert run is not None
        return run

    def wait_for_the_end_of(self, run_id: str) -> Run:
        def ended() -> bool:
            self.work()
            run = self.ledger.run(run_id)
            return run is not None and run.state.final

        wait_until(ended, "the run to end", seconds=TAKE_OVER_SECONDS, pause_seconds=0.05)
        run = self.ledger.run(run_id)
        assert run is not None
        return run


@pytest.fixture
def producers(tmp_path: Path) -> Iterator[Producers]:
    plant(tmp_path, DOCUMENTS)
    with redis_at_port() as port:
        producers = Producers(port, tmp_path)
        yield producers
        producers.close()


def test_the_work_is_planned_once(producers: Producers) -> None:
    producers.some_leader()
    wait_until(lambda: producers.queued(Lane.BULK) == len(DOCUMENTS), "the documents to be planned")
    wait_until(lambda: producers.run().state is RunState.INDEXING, "the scan to end")
    ended = producers.wait_for_the_end_of(producers.run().id)
    assert ended.state is RunState.COMPLETE
    assert (ended.counters["seen"], ended.counters["indexed"]) == (len(DOCUMENTS), len(DOCUMENTS))
    assert producers.queued(Lane.BULK) == len(DOCUMENTS)


def test_a_run_goes_on_when_the_leader_is_killed(producers: Producers) -> None:
    first = producers.some_leader()
    wait_until(lambda: producers.queued(Lane.BULK) == len(DOCUMENTS), "the documents to be planned")
    run_id = producers.run().id
    first.kill()
    producers.wait_for_another(first)
    ended = producers.wait_for_the_end_of(run_id)
    assert ended.state is RunState.COMPLETE
    assert ended.counters["seen"] == len(DOCUMENTS)
    assert producers.registry.counts(SERVED)[0] == {DocumentState.LIVE: len(DOCUMENTS)}


def test_a_leader_that_was_frozen_changes_nothing_when_it_goes_on(producers: Producers) -> None:
    first = producers.some_leader()
    wait_until(lambda: producers.queued(Lane.BULK) == len(DOCUMENTS), "the documents to be planned")
    producers.wait_for_the_end_of(producers.run().id)
    first.send_signal(signal.SIGSTOP)
    producers.wait_for_another(first)
    token = producers.client.hget(f"{prefix_of('kb')}roles", "producer").split(b"|")[0]  # type: ignore[union-attr]
    first.send_signal(signal.SIGCONT)
    wait_until(lambda: producers.registry.noted("watching"), "the other one to watch")
    for number in range(20):
        (producers.folder / "0.md").write_text(f"changed {number}")
        wait_until(producers.work, "the change to be planned", seconds=TAKE_OVER_SECONDS)
    assert producers.client.hget(f"{prefix_of('kb')}roles", "producer").split(b"|")[0] == token  # type: ignore[union-attr]
    assert first.poll() is None


def test_a_leader_that_ends_hands_over_at_once(producers: Producers) -> None:
    first = producers.some_leader()
    first.terminate()
    assert first.wait(20) == 0
    wait_until(lambda: producers.leader() not in (None, first), "the other one to lead", seconds=8.0)
