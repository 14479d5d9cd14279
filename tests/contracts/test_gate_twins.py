"""The gate in memory and the one on a real server give equal answers to the same calls, whatever the calls are."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
import redis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from docmill.adapters.memory.gate import MemoryGate
from docmill.adapters.redis.gate import RedisGate
from docmill.ports.gate import Gate, Limits, Permit, Request, RequestOutcome
from docmill.testing.gate_world import SteppedClock
from support.valkey_server import client_of, running_valkey

RUNS = ["", "one", "two:2"]
HOLDERS = ["h", "i", "j"]
LIMITS = [
    Limits(),
    Limits(),
    Limits(concurrency=1),
    Limits(concurrency=6),
    Limits(requests_per_minute=7),
    Limits(requests_per_minute=180),
    Limits(concurrency=6, tokens_per_minute=100),
]

requests = st.builds(
    Request,
    st.sampled_from(["handbook", "wiki", "é x|y"]),
    st.sampled_from(RUNS),
    st.sampled_from([0, 7, 40, 150]),
    st.sampled_from([None, None, 200]),
    st.sampled_from([False, False, False, True]),
)
asking = st.tuples(st.just("ask"), st.sampled_from(HOLDERS), requests, st.sampled_from(LIMITS))
well = st.sampled_from([RequestOutcome.OK, RequestOutcome.OK, RequestOutcome.OK, *RequestOutcome])
report = st.tuples(st.just("report"), st.integers(0, 4), well, st.sampled_from([None, 5.0, 1e9]), st.sampled_from([None, None, 0, 30]))
short = st.tuples(st.just("advance"), st.sampled_from([0.03125, 0.125, 0.5, 1.0]))
step = st.one_of(
    asking,
    asking,
    report,
    report,
    short,
    st.tuples(st.just("serve"), requests, st.sampled_from(LIMITS), st.integers(1, 40), st.sampled_from([0.0625, 0.25])),
    st.tuples(st.just("outage"), requests, st.sampled_from(LIMITS), st.integers(1, 12)),
    st.tuples(st.just("fail"), st.sampled_from(RUNS), st.sampled_from([5, 20])),
    st.tuples(st.just("crowd"), requests, st.sampled_from(LIMITS), st.sampled_from([0.125, 1.0, 60.0, 200.0])),
    st.tuples(st.just("advance"), st.sampled_from([9.875, 10.0, 16.0, 61.0, 400.0, 3600.0])),
    st.tuples(st.just("close"), st.sampled_from([None, 5.0])),
    st.tuples(st.just("abort"), st.sampled_from(RUNS[1:]), st.sampled_from(["why: é", ""])),
    st.tuples(st.just("heartbeat"), st.sampled_from(HOLDERS)),
    st.tuples(st.just("flush")),
)


class Driver:
    """Makes calls on one gate; what they return names slots by their order only."""

    def __init__(self, gate: Gate, clock: SteppedClock, flush: Any) -> None:
        self.gate = gate
        self.clock = clock
        self.flush_state = flush
        self.permits: list[Permit] = []

    def call(self, name: str, *args: Any) -> Any:
        result = getattr(self, name)(*args)
        return result, self.gate.status(), [self.gate.aborted(run) for run in RUNS]

    def ask(self, holder: str, request: Request, limits: Limits) -> Any:
        answer = self.gate.acquire(holder, request, limits)
        if isinstance(answer, Permit):
            self.permits.append(answer)
            return replace(answer, slot="")
        return answer

    def report(self, place: int, outcome: RequestOutcome, retry_after: float | None, tokens: int | None) -> Any:
        if place >= len(self.permits):
            return None
        permit = self.permits[-1 - place]
        return self.gate.report(permit, outcome, retry_after_seconds=retry_after, reason=f"why {place}", tokens=tokens)

    def serve(self, request: Request, limits: Limits, times: int, latency: float) -> Any:
        """Requests that wait for slots and end well, round after round."""
        seen = []
        for _ in range(times):
            granted = len(self.permits)
            seen += [self.ask(f"h{number}", request, limits) for number in range(5)]
            self.clock.advance(latency)
            seen += [self.gate.report(permit, RequestOutcome.OK) for permit in self.permits[granted:]]
        return seen

    def outage(self, request: Request, limits: Limits, minutes: int) -> Any:
        """Successes, a refusal, a probe that opens the gate, and minutes in which requests wait for slots or for the rate."""
        seen = self.serve(request, limits, 12, 0.125)
        seen += [self.ask("h", request, limits), self.report(0, RequestOutcome.RATE_LIMITED, None, None)]
        self.clock.advance(400)
        seen += [self.ask("h", request, limits), self.report(0, RequestOutcome.OK, None, None)]
        for _ in range(minutes):
            self.clock.advance(61)
            seen += [self.ask(holder, request, limits) for holder in HOLDERS]
        return seen

    def crowd(self, request: Request, limits: Limits, pause: float) -> Any:
        """Knowledge bases that ask all at once, again and again."""
        seen = []
        for _ in range(12):
            for kb in ("handbook", "wiki", "a"):
                seen.append(self.ask(kb, replace(request, knowledge_base=kb), limits))
            self.clock.advance(pause)
            seen.append(self.report(2, RequestOutcome.OK, None, None))
        return seen

    def fail(self, run: str, times: int) -> Any:
        """So many failures in a row, as far as permits are given."""
        seen = []
        for _ in range(times):
            self.clock.advance(1)
            granted = len(self.permits)
            seen.append(self.ask("h", Request("handbook", run, waits_for_nobody=True), Limits()))
            seen += [self.gate.report(permit, RequestOutcome.FAILED, reason="503") for permit in self.permits[granted:]]
        return seen

    def advance(self, seconds: float) -> None:
        self.clock.advance(seconds)

    def close(self, retry_after: float | None) -> Any:
        return self.gate.close(retry_after)

    def abort(self, run: str, reason: str) -> None:
        self.gate.abort(run, reason)

    def heartbeat(self, holder: str) -> None:
        self.gate.heartbeat(holder)

    def flush(self) -> None:
        self.clock.advance(1)
        self.flush_state()


@pytest.fixture(scope="module")
def client() -> Iterator[redis.Redis]:
    with running_valkey() as socket, client_of(socket) as client:
        yield client


@settings(max_examples=80, deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps=st.lists(step, min_size=5, max_size=60))
def test_the_gate_in_memory_and_the_one_on_a_server_answer_alike(client: redis.Redis, steps: list[tuple[Any, ...]]) -> None:
    client.flushall()
    clocks = SteppedClock(), SteppedClock()
    in_memory = MemoryGate(clock=clocks[0], jitter=lambda: 0.25)
    on_redis = RedisGate(client, "key", jitter=lambda: 0.25, test_clock=clocks[1])
    twin = Driver(in_memory, clocks[0], in_memory.flush)
    real = Driver(on_redis, clocks[1], client.flushall)
    for place, (name, *args) in enumerate(steps):
        assert real.call(name, *args) == twin.call(name, *args), f"call {place}: {name}{tuple(args)}"
