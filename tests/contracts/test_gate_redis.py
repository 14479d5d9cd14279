"""The gate on Redis keeps the gate's contract, on a real server and on fakeredis."""

import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import fakeredis
import pytest
import redis

from docmill.adapters.embedded.valkey import ValkeyServer
from docmill.adapters.redis.gate import RedisGate
from docmill.domain.errors import StoreDown
from docmill.ports.gate import GateState, Limits, Permit, Refusal, Request, RequestOutcome, Wait
from docmill.testing.gate_contract import GateContract
from docmill.testing.gate_world import PROBE_LEASE_SECONDS, GateWorld, Jitter, SteppedClock

KEY = "https://provider.example/v1 fingerprint"
REQUEST = Request("handbook")
ONE = Limits(concurrency=1)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ValkeyServer]:
    with ValkeyServer(Path(tmp_path_factory.mktemp("gate"))) as server:
        yield server


@pytest.fixture(params=[False, True], ids=["bytes", "text"])
def client(server: ValkeyServer, request: pytest.FixtureRequest) -> Iterator[redis.Redis]:
    with redis.Redis(unix_socket_path=str(server.socket), decode_responses=request.param) as client:
        client.flushall()
        yield client


def world_on(client: redis.Redis) -> GateWorld:
    clock, jitter = SteppedClock(), Jitter()
    gate = RedisGate(client, KEY, probe_lease_seconds=PROBE_LEASE_SECONDS, jitter=jitter, test_clock=clock)
    return GateWorld(gate, lambda: client.flushall(), clock, jitter)


class TestGateOnAServer(GateContract):
    @pytest.fixture
    def world(self, client: redis.Redis) -> GateWorld:
        return world_on(client)


class TestGateOnFakeRedis(GateContract):
    @pytest.fixture
    def world(self) -> Iterator[GateWorld]:
        with fakeredis.FakeRedis() as client:
            yield world_on(client)


class LosesAnswers(redis.Redis):
    """A connection that carries the next command out and then breaks."""

    breaks_next = False

    def execute_command(self, *args: object, **options: object) -> object:
        answer: object = super().execute_command(*args, **options)  # type: ignore[no-untyped-call]  # redis-py has no types here
        if self.breaks_next and args[0] == "EVALSHA":
            self.breaks_next = False
            raise redis.exceptions.ConnectionError("the answer was lost")
        return answer


@pytest.fixture
def unreliable(server: ValkeyServer) -> Iterator[LosesAnswers]:
    with LosesAnswers(unix_socket_path=str(server.socket)) as client:
        client.flushall()
        yield client


def test_gates_of_different_providers_are_apart(client: redis.Redis) -> None:
    one, other = RedisGate(client, "one"), RedisGate(client, "other")
    permit = one.acquire("a", REQUEST, ONE)
    assert isinstance(permit, Permit)
    one.report(permit, RequestOutcome.RATE_LIMITED)
    assert one.status().state is GateState.CLOSED
    assert other.status().state is GateState.OPEN


def test_every_key_of_a_gate_is_in_one_hash_slot_and_hides_the_provider(client: redis.Redis) -> None:
    gate = RedisGate(client, "https://secret.example token")
    permit = gate.acquire("a", REQUEST, ONE)
    assert isinstance(permit, Permit)
    gate.report(permit, RequestOutcome.RATE_LIMITED)
    gate.acquire("a", REQUEST, ONE)
    keys = [key if isinstance(key, str) else key.decode() for key in client.keys("*")]
    assert len({client.cluster("KEYSLOT", key) for key in keys}) == 1
    assert all(key.startswith("docmill:{gate:") for key in keys)
    assert not any("secret" in key or "token" in key for key in keys)


def test_the_clock_is_the_servers(client: redis.Redis) -> None:
    gate = RedisGate(client, KEY, jitter=lambda: 0.0)
    seconds, microseconds = client.time()
    permit = gate.acquire("a", REQUEST, ONE)
    assert isinstance(permit, Permit)
    assert permit.epoch >= seconds * 1_000_000 + microseconds
    gate.report(permit, RequestOutcome.RATE_LIMITED, retry_after_seconds=100)
    opens_at = gate.status().opens_at
    assert opens_at is not None
    assert opens_at >= seconds + microseconds / 1_000_000 + 100


def test_whoever_waits_as_long_as_told_is_let_through(client: redis.Redis) -> None:
    gate = RedisGate(client, KEY)
    permit = gate.acquire("a", REQUEST, ONE)
    assert isinstance(permit, Permit)
    gate.report(permit, RequestOutcome.RATE_LIMITED, retry_after_seconds=0.05)
    deadline = time.monotonic() + 15
    while not isinstance(answer := gate.acquire("a", REQUEST, ONE), Permit):
        assert time.monotonic() < deadline
        assert isinstance(answer, Wait)
        time.sleep(answer.seconds)
    assert answer.probe


def test_a_permit_whose_answer_was_lost_takes_no_slot(unreliable: LosesAnswers) -> None:
    gate = RedisGate(unreliable, KEY)
    unreliable.breaks_next = True
    with pytest.raises(StoreDown):
        gate.acquire("a", REQUEST, ONE)
    assert isinstance(gate.acquire("a", REQUEST, ONE), Permit)


def test_a_probe_whose_answer_was_lost_is_handed_back(unreliable: LosesAnswers) -> None:
    clock = SteppedClock()
    gate = RedisGate(unreliable, KEY, jitter=lambda: 0.0, test_clock=clock)
    permit = gate.acquire("a", REQUEST, ONE)
    assert isinstance(permit, Permit)
    gate.report(permit, RequestOutcome.RATE_LIMITED)
    clock.advance(16)
    unreliable.breaks_next = True
    with pytest.raises(StoreDown):
        gate.acquire("a", REQUEST, ONE)
    gate.heartbeat("a")
    assert gate.status().state is GateState.CLOSED
    again = gate.acquire("b", REQUEST, ONE)
    assert isinstance(again, Permit)
    assert again.probe


def test_a_report_whose_answer_was_lost_may_be_sent_again(unreliable: LosesAnswers) -> None:
    gate = RedisGate(unreliable, KEY, jitter=lambda: 0.0)
    permit = gate.acquire("a", REQUEST, ONE)
    assert isinstance(permit, Permit)
    unreliable.breaks_next = True
    with pytest.raises(StoreDown):
        gate.report(permit, RequestOutcome.RATE_LIMITED)
    gate.report(permit, RequestOutcome.RATE_LIMITED)
    assert gate.status().failures == 1


def test_a_server_that_does_not_answer_is_reported_as_a_store_that_is_down(tmp_path: Path) -> None:
    with redis.Redis(unix_socket_path=str(tmp_path / "nobody"), retry=None) as client:  # type: ignore[arg-type]  # None means no retry
        gate = RedisGate(client, KEY)
        with pytest.raises(StoreDown, match="gate"):
            gate.status()


def test_many_callers_at_once_never_exceed_the_ceiling_and_send_one_probe(server: ValkeyServer) -> None:
    ceiling, callers = 3, 8
    lock, in_flight, seen = threading.Lock(), Counter[int](), Counter[str]()
    problems: list[str] = []
    with redis.Redis(unix_socket_path=str(server.socket)) as client:
        client.flushall()

        def call(name: str) -> None:
            gate = RedisGate(client, KEY)
            source = random.Random(name)
            for _ in range(60):
                answer = gate.acquire(name, REQUEST, Limits(ceiling, requests_per_minute=1_000_000))
                if not isinstance(answer, Permit):
                    continue
                with lock:
                    in_flight[answer.epoch] += 1
                    seen["probe" if answer.probe else "permit"] += 1
                    if sum(in_flight.values()) > ceiling:
                        problems.append(f"{in_flight} in flight")
                    if answer.probe and in_flight[answer.epoch] > 1:
                        problems.append("two probes at once")
                outcome = source.choice([RequestOutcome.OK, RequestOutcome.OK, RequestOutcome.RATE_LIMITED, RequestOutcome.CANCELLED])
                with lock:
                    in_flight[answer.epoch] -= 1
                gate.report(answer, outcome, retry_after_seconds=0.001)

        threads = [threading.Thread(target=call, args=(f"caller {number}",)) for number in range(callers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not problems
    assert seen["probe"] > 0
    assert seen["permit"] > 0


def test_everything_of_a_gate_expires_a_day_after_its_last_use(client: redis.Redis) -> None:
    gate = RedisGate(client, KEY)
    permit = gate.acquire("a", Request("handbook", "run", tokens=3), ONE)
    assert isinstance(permit, Permit)
    gate.report(permit, RequestOutcome.OK, tokens=2)
    gate.abort("other run", "why")
    gate.close()
    keys = client.keys("*")
    assert len(keys) > 5
    for key in keys:
        assert 86_000 < client.ttl(key) <= 86_400


class SendsTwice(redis.Redis):
    """A connection whose every command is carried out a second time, as after an answer that was lost."""

    def execute_command(self, *args: object, **options: object) -> object:
        super().execute_command(*args, **options)  # type: ignore[no-untyped-call]  # redis-py has no types here
        return super().execute_command(*args, **options)  # type: ignore[no-untyped-call]


def test_asking_that_is_sent_twice_takes_one_slot_and_spends_tokens_once(server: ValkeyServer) -> None:
    request = Request("handbook", "run", tokens=50, max_run_tokens=100)
    with SendsTwice(unix_socket_path=str(server.socket)) as client:
        client.flushall()
        gate = RedisGate(client, KEY)
        permit = gate.acquire("a", request, ONE)
        assert isinstance(permit, Permit)
        gate.report(permit, RequestOutcome.OK)
        second = gate.acquire("a", request, ONE)
        assert isinstance(second, Permit)
        gate.report(second, RequestOutcome.OK)
        assert isinstance(gate.acquire("a", request, ONE), Refusal)
