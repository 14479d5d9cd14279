"""Every request needs a permit, which is reported once, whatever happens."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress

import pytest
from structlog.testing import capture_logs

from docmill.adapters.providers.cancellation import Cancellation
from docmill.adapters.providers.failures import RequestRefused
from docmill.adapters.providers.held_slots import HeldSlots, outcome_of
from docmill.adapters.providers.permits import Answered, Permits
from docmill.domain.errors import (
    CallCancelled,
    ProviderError,
    ProviderLeftAlone,
    ProviderPermanent,
    ProviderRateLimited,
    ProviderTransient,
    RunBudgetSpent,
    StoreDown,
    TextRefused,
)
from docmill.ports.gate import RUN_ENDED, GateState, Limits, Request, RequestOutcome
from docmill.ports.models import Caller
from support.noting_gate import NotingGate
from support.waiting import wait_until

RUN = Caller("notes", run_id="run-1")
QUERY = Caller("notes", is_query=True)
PROVIDER = "acme/model-x at https://llm.acme.example/v1"


@pytest.fixture
def gate() -> NotingGate:
    return NotingGate()


@contextmanager
def permits_of(gate: NotingGate, limits: Limits | None = None, *, query_seconds: float = 10.0) -> Iterator[Permits]:
    slots = HeldSlots(holder="me", look_seconds=0.02)
    permits = Permits(gate, PROVIDER, limits or Limits(), slots, query_seconds=query_seconds)
    yield permits
    permits.stop()
    slots.close()


@pytest.fixture
def permits(gate: NotingGate) -> Iterator[Permits]:
    with permits_of(gate) as made:
        yield made


def answering(cancellation: Cancellation) -> Answered[str]:
    return Answered("an answer", 7)


def failing(failure: BaseException) -> Callable[[Cancellation], Answered[str]]:
    def ask(cancellation: Cancellation) -> Answered[str]:
        raise failure

    return ask


@pytest.mark.parametrize(
    ("failure", "is_plain", "outcome"),
    [
        (None, False, RequestOutcome.OK),
        (ProviderRateLimited("429"), False, RequestOutcome.RATE_LIMITED),
        (ProviderTransient("503"), False, RequestOutcome.FAILED),
        (ProviderPermanent("401"), False, RequestOutcome.REFUSED),
        (ProviderPermanent("401"), True, RequestOutcome.REFUSED),
        (RequestRefused("400"), False, RequestOutcome.OK),
        (RequestRefused("400"), True, RequestOutcome.REFUSED),
        (TextRefused("it does not want to", 0), False, RequestOutcome.OK),
        (CallCancelled("stopping"), False, RequestOutcome.CANCELLED),
        (KeyboardInterrupt(), False, RequestOutcome.CANCELLED),
        (ValueError("a defect"), False, RequestOutcome.CANCELLED),
    ],
)
def test_each_way_to_end_is_one_outcome(failure: BaseException | None, is_plain: bool, outcome: RequestOutcome) -> None:
    assert outcome_of(failure, is_plain=is_plain) is outcome


def test_an_answer_is_returned_and_reported_with_what_it_cost(gate: NotingGate, permits: Permits) -> None:
    assert permits.call(RUN, 10, answering) == "an answer"
    assert gate.asked == [Request("notes", "run-1", 10)]
    assert gate.reports == [(RequestOutcome.OK, None, "", 7)]


@pytest.mark.parametrize(
    ("failure", "report"),
    [
        (ProviderRateLimited("slow down", 40.0), (RequestOutcome.RATE_LIMITED, 40.0, "", None)),
        (ProviderTransient("it broke", 3.0), (RequestOutcome.FAILED, 3.0, "provider.transient: it broke", None)),
        (ProviderPermanent("no such key"), (RequestOutcome.REFUSED, None, "provider.permanent: no such key", None)),
        (KeyboardInterrupt(), (RequestOutcome.CANCELLED, None, "", None)),
    ],
)
def test_no_permit_is_leaked_when_a_request_fails(
    gate: NotingGate, permits: Permits, failure: BaseException, report: tuple[object, ...]
) -> None:
    with pytest.raises(type(failure)) as raised:
        permits.call(RUN, 10, failing(failure))
    assert raised.value is failure
    assert gate.reports == [report]
    assert not gate.open_slots


def test_who_meets_a_closed_gate_is_told_at_once_when_the_provider_is_asked_again(gate: NotingGate, permits: Permits) -> None:
    gate.close(40.0)
    for caller in (RUN, QUERY):
        with pytest.raises(ProviderLeftAlone, match=rf"^{PROVIDER} has asked to be left alone; it is asked again in 40 s$") as left:
            permits.call(caller, 1, answering)
        assert left.value.retry_after_seconds == 40.0
    assert not gate.reports


def test_a_run_that_was_aborted_is_refused_in_the_words_of_the_first_refusal(gate: NotingGate, permits: Permits) -> None:
    with pytest.raises(ProviderPermanent, match="no such key"):
        permits.call(RUN, 1, failing(ProviderPermanent("no such key")))
    with pytest.raises(ProviderPermanent, match=r"^no such key$"):
        permits.call(RUN, 1, answering)
    assert len(gate.reports) == 1
    assert permits.call(Caller("notes", run_id="run-2"), 1, answering) == "an answer"


def test_a_run_that_was_aborted_since_its_provider_never_answers_is_refused_for_what_may_pass(gate: NotingGate, permits: Permits) -> None:
    gate.abort(RUN.run_id, "provider.transient: openai/x at http://127.0.0.1/v1 answered 503: overloaded")
    with pytest.raises(ProviderTransient, match=r"^openai/x at http://127.0.0.1/v1 answered 503: overloaded$"):
        permits.call(RUN, 1, answering)


def test_what_a_run_that_has_ended_still_asks_for_has_not_failed(gate: NotingGate, permits: Permits) -> None:
    gate.abort(RUN.run_id, RUN_ENDED)
    with pytest.raises(CallCancelled, match="the run has ended"):
        permits.call(RUN, 1, answering)


def test_a_run_that_has_spent_its_tokens_is_told_so(gate: NotingGate, permits: Permits) -> None:
    caller = Caller("notes", run_id="run-1", max_run_tokens=10)
    assert permits.call(caller, 10, answering) == "an answer"
    with pytest.raises(RunBudgetSpent, match="10"):
        permits.call(caller, 4, answering)
    assert permits.call(caller, 3, answering) == "an answer"


def test_documents_wait_for_redis_and_queries_do_not(gate: NotingGate, permits: Permits) -> None:
    gate.silent = True
    with pytest.raises(StoreDown):
        permits.call(RUN, 1, answering)
    assert permits.call(QUERY, 1, answering) == "an answer"
    with pytest.raises(ProviderTransient):
        permits.call(QUERY, 1, failing(ProviderTransient("503")))


def test_an_answer_is_not_lost_with_its_report(gate: NotingGate, permits: Permits) -> None:
    def ask(cancellation: Cancellation) -> Answered[str]:
        gate.silent = True
        return Answered("an answer")

    assert permits.call(RUN, 1, ask) == "an answer"


def test_an_estimate_above_the_limit_of_a_minute_gets_leave_all_the_same(gate: NotingGate) -> None:
    with permits_of(gate, Limits(tokens_per_minute=50)) as permits:
        assert permits.call(RUN, 5_000, answering) == "an answer"
    assert gate.asked[0].tokens == 50


def test_a_query_does_not_wait_for_longer_than_it_may_take(gate: NotingGate) -> None:
    with permits_of(gate, Limits(requests_per_minute=1)) as permits:
        assert permits.call(QUERY, 1, answering) == "an answer"
        with pytest.raises(ProviderLeftAlone, match="is asked as often as it may be; it is asked again in"):
            permits.call(QUERY, 1, answering)


class Hanging:
    """A request that ends when it is cancelled.

    Attributes:
        begun: how many have begun.
    """

    def __init__(self) -> None:
        self.begun = threading.Semaphore(0)

    def __call__(self, cancellation: Cancellation) -> Answered[str]:
        call: Future[None] = Future()
        ended = threading.Event()
        call.add_done_callback(lambda _: ended.set())
        cancellation.ends(call)
        self.begun.release()
        assert ended.wait(20)
        raise CallCancelled("it was left")


def test_stopping_ends_the_waiting_for_a_slot_and_all_that_comes_later(gate: NotingGate) -> None:
    hanging = Hanging()
    with permits_of(gate, Limits(concurrency=1)) as permits, ThreadPoolExecutor(2) as threads:
        held = permits.begin(RUN, 1)
        waiting = threads.submit(permits.call, RUN, 1, hanging)
        wait_until(lambda: len(gate.asked) >= 2, "a second request")
        permits.stop()
        with pytest.raises(CallCancelled, match="docmill is stopping"):
            waiting.result(20)
        with pytest.raises(CallCancelled, match="docmill is stopping"):
            permits.call(QUERY, 1, answering)
        held.end(CallCancelled("stopping"))
    assert [outcome for outcome, *_ in gate.reports] == [RequestOutcome.CANCELLED]


def test_a_request_is_left_when_its_run_is_aborted_while_it_is_under_way(gate: NotingGate, permits: Permits) -> None:
    hanging = Hanging()
    with ThreadPoolExecutor(2) as threads:
        calls = [threads.submit(permits.call, RUN, 1, hanging) for _ in range(2)]
        for _ in calls:
            assert hanging.begun.acquire(timeout=20)
        gate.abort("run-1", "cancelled by request")
        for call in calls:
            with pytest.raises(ProviderPermanent, match=r"^cancelled by request$"):
                call.result(20)
    assert [outcome for outcome, *_ in gate.reports] == [RequestOutcome.CANCELLED] * 2
    assert not gate.open_slots


def test_a_request_is_left_without_a_failure_when_its_run_ends(gate: NotingGate, permits: Permits) -> None:
    hanging = Hanging()
    with ThreadPoolExecutor(1) as pool:
        call = pool.submit(permits.call, RUN, 1, hanging)
        assert hanging.begun.acquire(timeout=20)
        gate.abort(RUN.run_id, RUN_ENDED)
        with pytest.raises(CallCancelled, match="the run has ended"):
            call.result(20)


def test_a_process_says_that_it_lives_while_it_holds_a_slot(gate: NotingGate, permits: Permits) -> None:
    held = permits.begin(RUN, 1)
    wait_until(lambda: len(gate.heartbeats) > 1, "heartbeats")
    held.end(None)
    held.end(ProviderTransient("too late"))
    assert set(gate.heartbeats) == {"me"}
    assert [outcome for outcome, *_ in gate.reports] == [RequestOutcome.OK]


def test_who_waits_for_a_slot_of_this_process_gets_it_when_it_is_free(gate: NotingGate) -> None:
    with permits_of(gate, Limits(concurrency=1)) as permits, ThreadPoolExecutor(4) as threads:
        calls = [threads.submit(permits.call, RUN, 1, answering) for _ in range(20)]
        assert [call.result(20) for call in calls] == ["an answer"] * 20
    assert not gate.open_slots


def test_one_line_is_said_of_an_outage_and_one_of_its_end(gate: NotingGate, permits: Permits) -> None:
    failures = [ProviderRateLimited("slow down"), ProviderRateLimited("slow down"), ProviderTransient("503"), None, None]
    with capture_logs() as logs:
        for failure in failures:
            gate.now += 400.0
            with suppress(ProviderError):
                permits.call(RUN, 1, answering if failure is None else failing(failure))
    assert [(line["log_level"], line["event"]) for line in logs] == [
        ("warning", "provider_left_alone"),
        ("debug", "provider_left_alone_again"),
        ("debug", "provider_left_alone_again"),
        ("info", "provider_answers_again"),
    ]
    assert (logs[0]["seconds"], logs[0]["provider"], logs[0]["reason"]) == (15.0, PROVIDER, "slow down")
    assert gate.status().state is GateState.OPEN
