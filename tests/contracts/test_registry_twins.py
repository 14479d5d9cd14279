"""The memory twin and the state on a real server give equal answers to the same calls, whatever the calls are."""

from collections.abc import Iterator
from typing import Any

import pytest
import redis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from docmill.adapters.memory.state import MemoryState
from docmill.domain.errors import Superseded
from docmill.domain.registry import Attempt, Commit, DocumentState, Intent, Lane, TaskMessage
from docmill.domain.runs import Run, RunState
from docmill.testing.state_under_test import StateUnderTest
from support.redis_states import fresh_redis_state
from support.valkey_server import client_of, running_valkey

DOCUMENTS = ["a", "b|c", "d;e:f,g=1", "é/h"]
SETS = ["one", "one-b", "two;x"]
STATES = [DocumentState.LIVE, DocumentState.LIVE, DocumentState.EMPTY, DocumentState.SKIPPED, DocumentState.GONE]
ARGUMENTLESS = ["renew", "expire_all", "resend", "scan_ended", "complete", "start_run", "wants", "sweep", "sweep", "forget_gone"]
FINGERPRINTS = ["", "f1", "f2"]
ALL = 10_000

documents = st.sampled_from(DOCUMENTS)
fingerprints = st.sampled_from(FINGERPRINTS)
some_sets = st.sampled_from([["one"], ["one", "one-b"], ["two;x", "one"], ["one-b"], SETS])
which = st.integers(0, 5)
run_choice = st.sampled_from(["", "current", "current"])
work = st.one_of(
    st.tuples(st.just("enqueue"), st.lists(documents, min_size=1, max_size=4), st.sampled_from(Lane), run_choice),
    st.tuples(st.just("begin"), which),
    st.tuples(st.just("begin"), which),
    st.tuples(st.just("intend"), which, some_sets, st.integers(0, 3)),
    st.tuples(st.just("commit"), which, st.sampled_from(STATES), fingerprints, some_sets, st.integers(0, 3)),
    st.tuples(st.just("commit"), which, st.sampled_from(STATES), fingerprints, some_sets, st.integers(0, 3)),
    st.tuples(st.just("finish"), which, st.sampled_from(["", "unchanged", "failed", "quarantined"]), fingerprints, some_sets),
    st.tuples(st.just("write"), documents, st.sampled_from(STATES), fingerprints, some_sets, st.integers(0, 3)),
    st.tuples(st.just("write"), documents, st.sampled_from(STATES), fingerprints, some_sets, st.integers(0, 3)),
    st.tuples(st.just("shift"), st.sampled_from([10, 20, 30, 60])),
    st.tuples(st.sampled_from(["age", "lapse", "start_run", "complete"])),
    st.tuples(st.just("touch"), which, st.sampled_from(Lane)),
    st.tuples(st.just("claim"), which, st.lists(st.sampled_from(["t1", "t2", "t3"]), min_size=1, max_size=3)),
    st.tuples(st.just("crash"), which, fingerprints),
    st.tuples(st.just("crash_until_quarantined"), documents, fingerprints),
)
rest = st.one_of(
    st.tuples(st.sampled_from(ARGUMENTLESS)),
    st.tuples(st.just("mark"), documents, which, st.sampled_from(SETS)),
    st.tuples(st.just("give_back"), which),
    st.tuples(st.just("retry"), st.lists(documents, max_size=3)),
    st.tuples(st.just("resend_without_suspects")),
    st.tuples(st.just("serve"), st.sampled_from(SETS)),
    st.tuples(st.just("forget_index_set"), st.sampled_from(SETS)),
    st.tuples(st.just("raise_epoch"), st.integers(0, 5)),
    st.tuples(st.just("back_off"), st.sampled_from([None, 1_900_000_000.25])),
    st.tuples(st.just("end_run"), st.sampled_from([RunState.FAILED, RunState.CANCELLED])),
    st.tuples(st.just("count"), st.sampled_from(["seen", "failed.x", "a=b"])),
    st.tuples(st.just("role"), st.sampled_from(["x", "y"]), st.booleans()),
)
calls = st.lists(st.one_of(work, work, work, rest), min_size=5, max_size=60)


class Driver:
    """Makes calls on one state; what they return refers to times and tokens by their order only."""

    def __init__(self, state: StateUnderTest) -> None:
        self.state = state
        self.messages: list[TaskMessage] = []
        self.attempts: list[Attempt] = []
        self.tokens: list[int] = []
        self.runs: list[str] = []
        state.registry.raise_epoch(1)
        state.registry.serve("one")

    def call(self, name: str, *args: Any) -> Any:
        return getattr(self, name)(*args)

    def attempt(self, place: int) -> Attempt | None:
        return self.attempts[-1 - place] if place < len(self.attempts) else None

    def keep(self, messages: list[TaskMessage]) -> list[TaskMessage]:
        self.messages += messages
        return messages

    def current(self) -> str:
        return self.runs[-1] if self.runs else "unknown"

    def enqueue(self, names: list[str], lane: Lane, run: str) -> Any:
        return self.keep(self.state.ledger.enqueue(names, lane, run_id=self.current() if run and self.runs else ""))

    def begin(self, place: int) -> Any:
        if place >= len(self.messages):
            return None
        attempt = self.state.ledger.begin(self.messages[-1 - place], 30)
        self.attempts += [attempt] if attempt else []
        return attempt

    def intend(self, place: int, sets: list[str], words: int) -> Any:
        attempt = self.attempt(place)
        return attempt and self.state.registry.intents([Intent(attempt, "f", {name: {"w;1": words, "v": 1} for name in sets})])

    def commit(self, place: int, state: DocumentState, fingerprint: str, sets: list[str], words: int) -> Any:
        chosen = [attempt for attempt in (self.attempt(place), self.attempt(place + 1)) if attempt]
        counts = {"w;1": words, "v": 1} if state is DocumentState.LIVE else {}
        chunks = dict.fromkeys(sets, counts)
        commits = [Commit(attempt, state, fingerprint, chunks, "1.2", words, "why: x|y", {"chunks": words}) for attempt in chosen]
        results = self.state.registry.commit(commits)
        self.keep([result.next_message for result in results if result.next_message])
        return results

    def finish(self, place: int, kind: str, fingerprint: str, sets: list[str]) -> Any:
        attempt = self.attempt(place)
        if attempt is None:
            return None
        unchanged = dict.fromkeys(sets, fingerprint) if kind == "unchanged" else None
        failed = {"failed": "bad: a|b\nc", "quarantined": "quarantined: a|b\nc"}.get(kind, "")
        result = self.state.ledger.finish(attempt, unchanged=unchanged, failed=failed, stat="3.4", counters={"tokens": 2})
        self.keep([result.next_message] if result.next_message else [])
        return result

    def write(self, name: str, state: DocumentState, fingerprint: str, sets: list[str], words: int) -> Any:
        """All that becomes of a document in one go, as far as it is free."""
        self.enqueue([name], Lane.LIVE, "current")
        begun = [self.begin(place) for place, message in enumerate(reversed(self.messages)) if message.document_id == name]
        return begun, self.intend(0, sets, words), self.commit(0, state, fingerprint, sets, words)

    def crash(self, place: int, fingerprint: str) -> Any:
        attempt = self.attempt(place)
        if attempt is None:
            return None
        result = self.state.ledger.crashed(attempt, fingerprint, stat="5.6", reason="quarantined: a|b\nc")
        self.keep([result.next_message] if result.next_message else [])
        return result

    def crash_until_quarantined(self, name: str, fingerprint: str) -> Any:
        """As far as the document is free."""
        seen = [self.enqueue([name], Lane.LIVE, "current")]
        for _ in range(3):
            begun = [self.begin(place) for place, message in enumerate(reversed(self.messages)) if message.document_id == name]
            seen += [begun, self.crash(0, fingerprint)]
        return seen

    def claim(self, place: int, texts: list[str]) -> Any:
        attempt = self.attempt(place)
        try:
            return attempt and self.state.ledger.claim(attempt, texts)
        except Superseded:
            return "superseded"

    def give_back(self, place: int) -> Any:
        return self.keep(self.state.ledger.give_back([attempt for attempt in (self.attempt(place), self.attempt(place + 1)) if attempt]))

    def retry(self, names: list[str]) -> Any:
        return self.state.ledger.retry(names)

    def age(self) -> Any:
        """Lets the grace pass and removes what is due."""
        self.shift(60)
        return self.sweep(), self.forget_gone()

    def lapse(self) -> Any:
        """Lets leases run out and sends again what they held."""
        self.shift(30)
        return self.resend()

    def touch(self, place: int, lane: Lane) -> Any:
        """Changes the document of an attempt."""
        attempt = self.attempt(place)
        return attempt and self.enqueue([attempt.document_id], lane, "")

    def shift(self, seconds: int) -> None:
        self.state.shift_clock(seconds)

    def renew(self) -> Any:
        return self.state.leases.renew(self.attempts[-4:], 30)

    def expire_all(self) -> None:
        self.state.leases.expire_all()

    def resend(self) -> Any:
        return self.keep(sorted(self.state.ledger.resend_expired(ALL), key=lambda message: message.ticket))

    def resend_without_suspects(self) -> Any:
        return self.keep(sorted(self.state.ledger.resend_expired(ALL, suspects=False), key=lambda message: message.ticket))

    def start_run(self) -> Any:
        run, new = self.state.ledger.start_run()
        self.runs += [run.id] if new else []
        return timeless(run), new

    def scan_ended(self) -> None:
        self.state.ledger.scan_ended(self.current())

    def back_off(self, retry_at: float | None) -> None:
        self.state.ledger.back_off(self.current(), retry_at)

    def complete(self) -> Any:
        return self.state.ledger.complete(self.current())

    def wants(self) -> Any:
        return self.state.ledger.wants_another_pass(self.current())

    def end_run(self, state: RunState) -> Any:
        return self.state.ledger.end_run(self.current(), state, "why")

    def count(self, name: str) -> None:
        self.state.ledger.count(self.current(), {name: 1})

    def sweep(self) -> Any:
        due = sorted(self.state.registry.due_garbage(60, ALL), key=lambda item: item.generation)
        self.state.registry.settle_garbage(due[::2])
        return due

    def forget_gone(self) -> Any:
        return self.state.registry.forget_gone(60, ALL)

    def mark(self, name: str, place: int, index_set: str) -> None:
        attempt = self.attempt(place)
        self.state.registry.mark(index_set, attempt.document_id if attempt else name, attempt.generation if attempt else 1)

    def serve(self, index_set: str) -> None:
        self.state.registry.serve(index_set)

    def forget_index_set(self, index_set: str) -> Any:
        try:
            self.state.registry.forget_index_set(index_set)
        except ValueError as error:
            return str(error)
        return None

    def raise_epoch(self, at_least: int) -> Any:
        return self.state.registry.raise_epoch(at_least)

    def role(self, holder: str, release: bool) -> Any:
        if release and self.tokens:
            return self.state.leases.release_role("sweeper", self.tokens[-1])
        token = self.state.leases.acquire_role("sweeper", holder, 30)
        if token is not None and token not in self.tokens:
            assert token > max(self.tokens, default=0)
            self.tokens.append(token)
        return token is not None and self.tokens.index(token)

    def visible(self) -> dict[str, Any]:
        registry, ledger = self.state.registry, self.state.ledger
        generations = [(attempt.document_id, attempt.generation) for attempt in self.attempts]
        seen: dict[str, Any] = {
            "position": registry.position(),
            "index sets": registry.index_sets(),
            "outstanding": ledger.outstanding(),
            "waiting": ledger.oldest_waiting(ALL),
            "suspects": ledger.suspicions(DOCUMENTS),
            "runs": [timeless(ledger.run(run_id)) for run_id in self.runs],
            "current": timeless(ledger.current_run()),
            "complete": timeless(ledger.last_complete_run()),
            "garbage": {item.generation: item for item in registry.due_garbage(0, ALL)},
            "due": {item.generation: item for item in registry.due_garbage(60, ALL)},
        }
        for name in SETS:
            seen[name] = (
                sorted(registry.scan(name), key=lambda item: item[0]),
                registry.entries(name, DOCUMENTS),
                registry.entries_now(name, DOCUMENTS),
                registry.stats(name, DOCUMENTS),
                registry.page(name, after="", limit=3, state=None),
                registry.page(name, after="a", limit=9, state=DocumentState.FAILED),
                registry.counts(name),
                registry.unknown_generations(name, generations),
            )
        return seen


def timeless(run: Run | None) -> Any:
    """A run without its times, and without counters that are 0."""
    if run is None:
        return None
    counters = {name: count for name, count in run.counters.items() if count}
    return run.id, run.state, run.retry_at, run.finished_at is None, counters, run.pending, run.error


@pytest.fixture(scope="module")
def client() -> Iterator[redis.Redis]:
    with running_valkey() as socket, client_of(socket) as client:
        yield client


@settings(
    max_examples=250,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(calls=calls)
def test_the_memory_twin_and_the_server_answer_alike(client: redis.Redis, calls: list[tuple[Any, ...]]) -> None:
    now = [1_800_000_000.0]

    def shift_clock(seconds: float) -> None:
        now[0] += seconds

    memory = MemoryState("handbook", lambda: now[0])
    twin = Driver(StateUnderTest(memory.registry, memory.leases, memory.ledger, shift_clock, memory.replace_server))
    real = Driver(fresh_redis_state(client))
    for place, (name, *args) in enumerate(calls):
        assert real.call(name, *args) == twin.call(name, *args), f"call {place}: {name}{tuple(args)}"
        if place % 8 == 0:
            assert real.visible() == twin.visible(), f"after call {place}: {name}{tuple(args)}"
    assert real.visible() == twin.visible()
