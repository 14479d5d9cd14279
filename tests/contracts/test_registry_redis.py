"""What the state on Redis promises beyond the contract: keys, slots, errors, and many clients at once."""

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import redis
from redis.backoff import NoBackoff
from redis.crc import key_slot
from redis.retry import Retry

from docmill.adapters.redis import keys
from docmill.adapters.redis.state import RedisState
from docmill.domain.errors import StoreDown
from docmill.domain.registry import Attempt, Commit, DocumentState, Lane
from docmill.testing.state_under_test import LEASE_SECONDS, OTHER, SERVED, StateUnderTest
from support.redis_states import fresh_redis_state
from support.valkey_server import client_of, running_valkey

THREADS = 6


@pytest.fixture(scope="module")
def socket() -> Iterator[Path]:
    with running_valkey() as socket:
        yield socket


@pytest.fixture
def client(socket: Path) -> Iterator[redis.Redis]:
    with client_of(socket) as client:
        yield client


@pytest.fixture
def state(client: redis.Redis) -> StateUnderTest:
    state = fresh_redis_state(client)
    state.registry.raise_epoch(1)
    state.registry.serve(SERVED)
    return state


def with_every_key(state: StateUnderTest) -> None:
    """Leaves something under every key of the table."""
    run, _ = state.ledger.start_run()
    state.leases.acquire_role("producer", "one", 30)
    state.commit_new("a.md", sets=(SERVED, OTHER))
    state.remove("a.md")
    state.begin("b.md", run_id=run.id)
    state.ledger.enqueue(["b.md", "c.md"], Lane.BULK)
    state.registry.note("what", "text")
    state.begin("d.md")
    state.shift_clock(LEASE_SECONDS)
    state.ledger.resend_expired(9)
    assert state.ledger.claim(state.begin("e.md"), ["text"])
    state.ledger.enqueue(["e.md"], Lane.BULK)
    state.ledger.keep_vectors({"text": [0.5]})


def test_nothing_is_left_of_the_claims_of_attempts_that_ended_however_they_did(client: redis.Redis, state: StateUnderTest) -> None:
    committed, failed, given_back, lost = (state.begin(name) for name in "abcd")
    for number, attempt in enumerate((committed, failed, given_back, lost)):
        assert state.ledger.claim(attempt, [f"{number}-{place}" for place in range(3)])
    assert state.commit(committed).committed
    state.ledger.finish(failed, failed="bad: it is")
    state.ledger.give_back([given_back])
    state.shift_clock(LEASE_SECONDS)
    assert len(state.ledger.resend_expired(9)) == 1
    assert not [key for key in client.scan_iter() if b"claim" in key]
    assert state.ledger.claim(state.begin("f"), ["text"])
    state.registry.raise_epoch(0)
    assert not [key for key in client.scan_iter() if b"claim" in key]


def test_every_key_is_in_the_table_with_its_type_and_in_one_slot(client: redis.Redis, state: StateUnderTest) -> None:
    with_every_key(state)
    table = dict(re.findall(r"^\| ``([\w:]+)\*?`` \| ([\w ]+) \|", keys.__doc__ or "", re.MULTILINE))
    assert set(table) == set(keys.NAMES.values())
    types = {"hash": "hash", "set": "set", "sorted set": "zset", "string": "string"}
    prefix = keys.prefix_of("handbook")
    seen = set()
    for key in client.scan_iter():
        name = key.decode().removeprefix(prefix)
        suffix = name[: name.index(":") + 1] if ":" in name else name
        assert client.type(key) == types[table[suffix]].encode(), key
        assert key_slot(key) == key_slot(prefix.encode())
        seen.add(suffix)
    assert seen == set(table)


def test_knowledge_bases_do_not_see_each_other(client: redis.Redis, state: StateUnderTest) -> None:
    with_every_key(state)
    other = RedisState(client, "other")
    assert other.registry.position().epoch == 0
    other.registry.raise_epoch(1)
    assert other.registry.index_sets() == []
    assert other.ledger.outstanding() == (0, 0)
    assert other.leases.acquire_role("producer", "two", 30) is not None


def test_a_server_that_forgot_the_scripts_is_given_them_again(client: redis.Redis, state: StateUnderTest) -> None:
    client.script_flush()
    state.commit_new("a.md")
    assert state.entry("a.md").state is DocumentState.LIVE


def test_an_emptied_server_mints_nothing_until_it_is_opened_again(client: redis.Redis, state: StateUnderTest) -> None:
    attempt = state.begin("a.md")
    client.flushall()
    assert not state.commit(attempt).committed
    assert state.registry.position().epoch == 0
    with pytest.raises(StoreDown, match="never opened"):
        state.ledger.enqueue(["a.md"], Lane.BULK)
    state.registry.raise_epoch(2)
    assert state.begin("a.md").generation > attempt.generation


def test_a_server_that_is_away_is_reported_as_a_store_that_is_down() -> None:
    with running_valkey() as socket:
        client = redis.Redis(unix_socket_path=str(socket), retry=Retry(NoBackoff(), 0))
        state = RedisState(client, "handbook")
        state.registry.raise_epoch(1)
    with client, pytest.raises(StoreDown, match="does not answer"):
        state.registry.position()


def test_a_server_that_cannot_write_is_reported_as_a_store_that_is_down(client: redis.Redis, state: StateUnderTest) -> None:
    client.config_set("maxmemory", 1)
    try:
        with pytest.raises(StoreDown, match="cannot write now"):
            state.ledger.enqueue(["a.md"], Lane.BULK)
    finally:
        client.config_set("maxmemory", 0)


def test_a_client_that_decodes_its_answers_is_refused(socket: Path) -> None:
    with redis.Redis(unix_socket_path=str(socket), decode_responses=True) as client, pytest.raises(ValueError, match="decode_responses"):
        RedisState(client, "handbook")


def test_one_of_many_workers_begins_a_message(state: StateUnderTest) -> None:
    messages = state.ledger.enqueue([f"{number}.md" for number in range(40)], Lane.BULK)

    def begin_all(_: int) -> list[Attempt | None]:
        return [state.ledger.begin(message, LEASE_SECONDS) for message in messages]

    with ThreadPoolExecutor(THREADS) as pool:
        begun = [attempt for attempts in pool.map(begin_all, range(THREADS)) for attempt in attempts if attempt is not None]
    assert sorted(attempt.document_id for attempt in begun) == sorted(message.document_id for message in messages)
    assert len({attempt.generation for attempt in begun}) == len(messages)


def test_commits_of_many_workers_get_each_their_own_number(state: StateUnderTest) -> None:
    run, _ = state.ledger.start_run()

    def work(worker: int) -> None:
        names = [f"{worker}-{number}.md" for number in range(30)]
        messages = state.ledger.enqueue(names, Lane.BULK, run_id=run.id)
        attempts = [attempt for message in messages if (attempt := state.ledger.begin(message, LEASE_SECONDS))]
        commits = [Commit(attempt, DocumentState.LIVE, "f1", {SERVED: {"words": 2}}) for attempt in attempts]
        assert all(result.committed for result in state.registry.commit(commits))

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(work, range(THREADS)))
    total = THREADS * 30
    numbers = [entry.live.commit for _, entry in state.registry.scan(SERVED) if entry.live]
    assert sorted(numbers) == list(range(1, total + 1))
    assert state.registry.counts(SERVED) == ({DocumentState.LIVE: total}, {"words": 2 * total})
    ended = state.ledger.run(run.id)
    assert ended is not None
    assert (ended.pending, ended.counters["indexed"]) == (0, total)


def test_pages_and_scans_pass_over_more_documents_than_one_script_reads(state: StateUnderTest) -> None:
    names = sorted(f"{number}.md" for number in range(2300))
    messages = state.ledger.enqueue(names, Lane.BULK)
    attempts = [attempt for message in messages if (attempt := state.ledger.begin(message, LEASE_SECONDS))]
    state.registry.commit([Commit(attempt, DocumentState.LIVE, "f1", {SERVED: {}}) for attempt in attempts])
    state.ledger.finish(state.begin(names[-1]), failed="provider: no answer")
    assert [name for name, _ in state.registry.scan(SERVED)] == names
    assert [name for name, _ in state.registry.page(SERVED, after="", limit=9, state=DocumentState.FAILED)] == [names[-1]]
    assert len(state.registry.page(SERVED, after="", limit=5000, state=None)) == 2300
    assert len(state.registry.entries(SERVED, names)[1]) == 2300
    assert state.registry.stats(SERVED, [*names, "unknown"]) == [""] * 2299 + [None, None]


def test_the_scripts_use_the_commands_that_are_noted() -> None:
    lua = "".join(path.read_text() for path in (Path(keys.__file__).parent / "lua").glob("*.lua"))
    used = set(re.findall(r"redis\.call\('(\w+)'", lua))
    noted = re.search(r"``(DEL [A-Z\s]+)``", keys.__doc__ or "")
    assert noted is not None
    assert used == set(noted[1].split())
    assert set(re.findall(r"redis\.(\w+)", lua)) == {"call", "error_reply"}
