"""Redis is restarted on an older file, or another server takes over: nothing of an old attempt is committed before a new epoch begins."""

import shutil
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import redis

from docmill.adapters.memory.stores import MemoryLexicalStore, MemoryVectorStore
from docmill.adapters.memory.task_queue import MemoryTaskQueue
from docmill.adapters.redis.connecting import connect_redis
from docmill.adapters.redis.state import RedisState
from docmill.config.settings import Settings
from docmill.domain.errors import StateLost, StateSetBack, StoreDown
from docmill.domain.generations import epoch_of
from docmill.domain.registry import Attempt, Commit, DocumentState, Lane
from docmill.indexing.reopening import reopen_if_set_back
from docmill.ports.state import KnowledgeBaseState
from docmill.testing.state_under_test import SERVED
from support.redis_server import HOST, RedisServer, free_port, running_redis, running_sentinels
from support.waiting import wait_until

LEASE_SECONDS = 600.0
CONNECTIONS = 8


class Registry:
    """The state on one server, the stores beside it, and what docmill does when it was set back."""

    def __init__(self, settings: Settings) -> None:
        self.client = connect_redis(settings)
        state = RedisState(self.client, "kb")
        self.state = KnowledgeBaseState(state.registry, state.leases, state.ledger)
        self.stores = (MemoryVectorStore(), MemoryLexicalStore())
        self.tasks = MemoryTaskQueue()

    def open(self) -> None:
        self.state.registry.raise_epoch(1)
        self.state.registry.serve(SERVED)
        for store in self.stores:
            store.raise_epoch(1)

    def begin(self, document_id: str) -> Attempt:
        (message,) = self.state.ledger.enqueue([document_id], Lane.BULK)
        attempt = self.state.ledger.begin(message, LEASE_SECONDS)
        assert attempt is not None
        return attempt

    def begin_what_was_sent(self) -> Attempt | None:
        message = self.tasks.take(Lane.BULK)
        assert message is not None
        return self.state.ledger.begin(message, LEASE_SECONDS)

    def commit(self, attempt: Attempt) -> bool:
        return self.state.registry.commit([Commit(attempt, DocumentState.LIVE, "f", {SERVED: {"words": 1}})])[0].committed

    def is_live(self, document_id: str) -> bool:
        return document_id in self.state.registry.entries(SERVED, [document_id])[1]

    def reopen(self) -> bool:
        return reopen_if_set_back(self.state, self.stores, self.tasks, "kb")

    def on_many_connections(self, call: Callable[[], object]) -> list[object]:
        """What ``call`` comes to on so many connections at once: its result, or the class of its error."""
        together = threading.Barrier(CONNECTIONS)

        def one(_: int) -> object:
            together.wait()
            try:
                return call()
            except StoreDown as error:
                return type(error)

        with ThreadPoolExecutor(CONNECTIONS) as pool:
            return list(pool.map(one, range(CONNECTIONS)))


@pytest.fixture
def server() -> Iterator[RedisServer]:
    port = free_port()
    options = ("--port", str(port), "--bind", HOST, "--appendonly", "yes", "--appendfsync", "always")
    with running_redis(*options, client=redis.Redis(host=HOST, port=port)) as server:
        yield server


@pytest.fixture
def registry(server: RedisServer) -> Iterator[Registry]:
    registry = Registry(Settings(redis_url=f"redis://{HOST}:{server.client.connection_pool.connection_kwargs['port']}"))
    registry.open()
    with registry.client:
        yield registry


def saved(server: RedisServer, folder: Path) -> Path:
    """A copy of what the server has on disk now."""
    return shutil.copytree(server.folder / "appendonlydir", folder / "saved")


def restart_on(server: RedisServer, copy: Path) -> None:
    server.kill()
    shutil.rmtree(server.folder / "appendonlydir")
    shutil.copytree(copy, server.folder / "appendonlydir")
    server.start()


def test_no_old_attempt_commits_on_a_server_that_was_restarted_on_an_older_file(
    server: RedisServer, registry: Registry, tmp_path: Path
) -> None:
    assert registry.on_many_connections(lambda: registry.state.registry.position().epoch) == [1] * CONNECTIONS
    attempt = registry.begin("a.md")
    copy = saved(server, tmp_path)
    lost = registry.begin("b.md")
    assert registry.commit(lost)
    restart_on(server, copy)
    # The older file holds the attempt's lease, and would take its commit for good.
    outcomes = registry.on_many_connections(lambda: registry.commit(attempt))
    assert outcomes == [StateSetBack] * CONNECTIONS
    assert registry.state.registry.position().set_back

    assert registry.reopen()
    assert not registry.reopen()
    assert not registry.commit(attempt)
    assert not registry.is_live("a.md")
    assert not registry.is_live("b.md")
    assert registry.tasks.depth().total == 1
    run = registry.state.ledger.current_run()
    assert run is not None
    assert not run.state.final
    again = registry.begin_what_was_sent()
    assert again is not None
    assert again.suspicion is None
    assert again.generation > lost.generation
    assert registry.commit(again)


def test_an_epoch_that_was_lost_with_its_server_is_never_used_again(server: RedisServer, registry: Registry, tmp_path: Path) -> None:
    copy = saved(server, tmp_path)
    used = []
    for _ in range(3):
        restart_on(server, copy)
        assert registry.reopen()
        used.append(epoch_of(registry.begin("a.md").generation))
    assert used == [2, 3, 4]


def test_a_restart_that_lost_nothing_is_noticed_too(server: RedisServer, registry: Registry) -> None:
    attempt = registry.begin("a.md")
    server.kill()
    server.start()
    with pytest.raises(StateSetBack):
        registry.commit(attempt)
    assert registry.reopen()
    assert not registry.commit(attempt)


def test_of_many_processes_that_notice_one_opens_the_state_again(server: RedisServer, registry: Registry) -> None:
    server.kill()
    server.start()
    outcomes = registry.on_many_connections(registry.reopen)
    assert sorted(outcomes, key=str) == [False] * (CONNECTIONS - 1) + [True]
    assert registry.state.registry.position().epoch >= 2  # above that when one of them read what another had noted in the stores already


def test_an_emptied_server_is_lost_whether_it_was_restarted_or_not(server: RedisServer, registry: Registry) -> None:
    attempt = registry.begin("a.md")
    server.client.flushall()
    assert not registry.commit(attempt)
    assert not registry.state.registry.position().set_back
    with pytest.raises(StateLost):
        registry.state.ledger.enqueue(["a.md"], Lane.BULK)
    server.kill()
    server.start()
    assert not registry.commit(attempt)
    assert not registry.reopen()
    with pytest.raises(StateLost):
        registry.state.ledger.enqueue(["a.md"], Lane.BULK)


def test_a_fail_over_is_noticed_before_anything_of_before_is_committed() -> None:
    with running_sentinels() as sentinels:
        registry = Registry(Settings(redis_url=f"sentinel://{HOST}:{sentinels.ports[0]}/{sentinels.name}", store_timeout_seconds=2.0))
        with registry.client:
            registry.open()
            attempt = registry.begin("a.md")
            first, second = sentinels.servers
            first.client.set("last", 1)  # WAIT is for what its own connection wrote, and so for all that came before
            assert first.client.wait(1, 15_000) == 1
            first.kill()
            outcomes = []

            def reaches_the_other_server() -> bool:
                try:
                    outcomes.append(registry.commit(attempt))
                except StateSetBack:
                    return True
                except StoreDown:
                    return False
                return False

            wait_until(reaches_the_other_server, "the fail-over", seconds=90.0)  # a Sentinel that was held up waits 30 s
            assert outcomes == []
            assert second.client.info("replication")["role"] == "master"
            assert registry.reopen()
            assert not registry.commit(attempt)
            again = registry.begin_what_was_sent()
            assert again is not None
            assert registry.commit(again)
