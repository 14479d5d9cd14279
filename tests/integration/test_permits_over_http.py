"""Every request that goes over the wire has a permit, and what it came to is reported: embeddings, chat, streams and scores."""

import gc
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest

from docmill.adapters.providers.accounts import Account
from docmill.adapters.providers.embedding_models import remote_model
from docmill.adapters.providers.held_slots import HeldSlots
from docmill.adapters.providers.language_models import chat_model_for, rerank_model_for
from docmill.adapters.providers.permits import Permits
from docmill.adapters.providers.remote import RemoteEmbeddingModel
from docmill.config.providers import Adapter
from docmill.domain.errors import CallCancelled, ProviderError, ProviderPermanent, RunBudgetSpent, TextRefused
from docmill.domain.knowledge_bases import EmbeddingModelSpec
from docmill.ports.gate import Limits, RequestOutcome
from docmill.ports.models import Caller
from support.embedding_apis import texts_of
from support.embedding_server import EmbeddingServer, running_embedding_server
from support.language_model_apis import openai_event
from support.language_model_connections import KEY, spec_of
from support.language_model_server import LanguageModelServer, running_language_model_server
from support.noting_gate import NotingGate
from support.waiting import wait_until

RUN = Caller("notes", run_id="run-1")
OK, REFUSED, RATE_LIMITED = RequestOutcome.OK, RequestOutcome.REFUSED, RequestOutcome.RATE_LIMITED
FAILED, CANCELLED = RequestOutcome.FAILED, RequestOutcome.CANCELLED


@pytest.fixture(scope="module")
def embeddings() -> Iterator[EmbeddingServer]:
    with running_embedding_server(dimensions=8) as server:
        yield server


@pytest.fixture(scope="module")
def languages() -> Iterator[LanguageModelServer]:
    with running_language_model_server() as server:
        yield server


@pytest.fixture
def gate() -> NotingGate:
    return NotingGate()


@pytest.fixture
def permits_of(gate: NotingGate) -> Iterator[Callable[[str, Account, Limits], Permits]]:
    slots = HeldSlots(holder="me", look_seconds=0.05)
    yield lambda provider, account, limits: Permits(gate, provider, limits, slots)
    slots.close()


@pytest.fixture(params=[(Adapter.OPENAI, "mistral", "/mistral/v1"), (Adapter.COHERE, "cohere", "")], ids=["package", "plain"])
def model(request: pytest.FixtureRequest, embeddings: EmbeddingServer, permits_of: Any) -> Iterator[RemoteEmbeddingModel]:
    embeddings.behave()
    adapter, provider, path = request.param
    spec = EmbeddingModelSpec(provider, "x", 8, base_url=embeddings.address + path, batch_size=3)
    with closing(remote_model(spec, adapter, dimensions=8, api_key=KEY, headers={}, permits_of=permits_of)) as made:
        yield made.on_behalf_of(RUN)


def outcomes(gate: NotingGate) -> list[RequestOutcome]:
    return [outcome for outcome, *_ in gate.reports]


def test_every_request_of_a_call_has_a_permit_of_its_own(
    embeddings: EmbeddingServer, gate: NotingGate, model: RemoteEmbeddingModel
) -> None:
    model.embed_passages([f"text {number}" for number in range(8)])
    assert [len(texts_of(request["body"])) for request in embeddings.take_requests()] == [3, 3, 2]
    assert outcomes(gate) == [OK] * 3
    assert {(request.knowledge_base, request.run_id) for request in gate.asked} == {("notes", "run-1")}


@pytest.mark.parametrize(
    ("fault", "outcome"),
    [
        ({"status": 429, "body": {}, "headers": {"Retry-After": "40"}}, RATE_LIMITED),
        ({"status": 200, "body": {"error": {"code": 429, "message": "slow down"}}}, RATE_LIMITED),
        ({"status": 503, "body": {}}, FAILED),
        ({"disconnect": True}, FAILED),
        ({"without": 20}, FAILED),
        ({"status": 401, "body": {"error": {"message": "wrong key"}}}, REFUSED),
        ({"status": 404, "body": {"error": {"message": "no such model"}}}, REFUSED),
        ({"status": 429, "body": {"error": {"code": "insufficient_quota", "message": "no money"}}}, REFUSED),
        ({"replace": ["[0.", "[1, 0."]}, REFUSED),
    ],
)
def test_what_a_request_came_to_is_reported(
    embeddings: EmbeddingServer, gate: NotingGate, model: RemoteEmbeddingModel, fault: dict[str, Any], outcome: RequestOutcome
) -> None:
    embeddings.misbehave(fault)
    with pytest.raises(ProviderError) as failure:
        model.embed_passages(["text"])
    [(reported, retry_after, reason, _)] = gate.reports
    assert reported is outcome
    assert reason == ("" if outcome is RATE_LIMITED else f"{failure.value.code}: {failure.value}")
    assert retry_after == (40.0 if "headers" in fault else None)


def test_a_text_that_is_refused_alone_refuses_no_run(embeddings: EmbeddingServer, gate: NotingGate, model: RemoteEmbeddingModel) -> None:
    embeddings.misbehave({"refuses": "poison"})
    with pytest.raises(TextRefused):
        model.embed_passages(["a text", "a poison text", "another text"])
    assert set(outcomes(gate)) == {OK}
    assert gate.aborted("run-1") is None


def test_a_provider_that_refuses_every_text_refuses_the_run(
    embeddings: EmbeddingServer, gate: NotingGate, model: RemoteEmbeddingModel
) -> None:
    embeddings.misbehave({"refuses": ""})
    with pytest.raises(ProviderPermanent):
        model.embed_passages(["a text"])
    assert outcomes(gate) == [OK, REFUSED]
    with pytest.raises(ProviderPermanent, match="this input is refused"):
        model.embed_passages(["a text"])
    assert len(gate.reports) == 2


def test_an_aborted_run_s_request_is_left_although_the_provider_hangs(
    embeddings: EmbeddingServer, gate: NotingGate, model: RemoteEmbeddingModel
) -> None:
    embeddings.misbehave({"delay_seconds": 30})
    with ThreadPoolExecutor(1) as threads:
        call = threads.submit(model.embed_passages, ["text"])
        wait_until(lambda: bool(embeddings.take_requests()), "the request")
        gate.abort("run-1", "cancelled by request")
        with pytest.raises(ProviderPermanent, match="cancelled by request"):
            call.result(10)
    assert outcomes(gate) == [CANCELLED]


def test_a_closed_model_reports_the_request_that_it_left(
    embeddings: EmbeddingServer, gate: NotingGate, model: RemoteEmbeddingModel
) -> None:
    embeddings.misbehave({"delay_seconds": 30})
    with ThreadPoolExecutor(1) as threads:
        call = threads.submit(model.embed_passages, ["text"])
        wait_until(lambda: bool(embeddings.take_requests()), "the request")
        model.close()
        with pytest.raises(CallCancelled):
            call.result(10)
    assert outcomes(gate) == [CANCELLED]


def chat_at(languages: LanguageModelServer, permits_of: Any) -> Any:
    languages.behave()
    return closing(chat_model_for(spec_of(languages, "openai"), credentials={"KEY": KEY}, permits_of=permits_of))


def test_a_chat_request_has_a_permit_and_says_what_it_cost_at_most(
    languages: LanguageModelServer, gate: NotingGate, permits_of: Any
) -> None:
    with chat_at(languages, permits_of) as chat:
        chat.on_behalf_of(RUN).complete("hello", max_tokens=50)
    assert outcomes(gate) == [OK]
    assert gate.asked[0].tokens > 50


@pytest.mark.parametrize(
    ("fault", "outcome"),
    [
        ({"status": 429, "body": {}}, RATE_LIMITED),
        ({"status": 401, "body": {}}, REFUSED),
        ({"disconnect": True}, FAILED),
        ({"refuses": "hello"}, OK),
    ],
)
@pytest.mark.parametrize("streams", [False, True])
def test_what_a_chat_request_came_to_is_reported(
    languages: LanguageModelServer, gate: NotingGate, permits_of: Any, fault: dict[str, Any], outcome: RequestOutcome, streams: bool
) -> None:
    with chat_at(languages, permits_of) as chat:
        languages.misbehave(fault)
        with pytest.raises(ProviderError):
            _ = list(chat.stream("hello", max_tokens=50)) if streams else chat.complete("hello", max_tokens=50)
    assert outcomes(gate)[0] is outcome
    assert not gate.open_slots


def test_a_chat_model_that_refuses_every_prompt_refuses_the_run(languages: LanguageModelServer, gate: NotingGate, permits_of: Any) -> None:
    with chat_at(languages, permits_of) as chat:
        languages.misbehave({"refuses": ""})
        with pytest.raises(ProviderPermanent):
            chat.on_behalf_of(RUN).complete("hello", max_tokens=50)
    assert outcomes(gate) == [OK, REFUSED]


def test_a_budget_that_is_smaller_than_a_request_is_spent_all_the_same(embeddings: EmbeddingServer, model: RemoteEmbeddingModel) -> None:
    texts = ["one two", "three four", "this one has too many words for what is left"]
    with pytest.raises(RunBudgetSpent) as spent:
        model.on_behalf_of(replace(RUN, max_run_tokens=5)).embed_passages(texts)
    assert [texts_of(request["body"]) for request in embeddings.take_requests()] == [["one two"], ["three four"]]
    assert len(spent.value.made) == 2


def end_it(stream: Any) -> Any:
    list(stream)
    return stream


def close_it(stream: Any) -> Any:
    next(stream)
    stream.close()
    return stream


def drop_it(stream: Any) -> None:
    next(stream)


@pytest.mark.parametrize(("how", "then", "outcome"), [(end_it, "end", OK), (close_it, "hang", CANCELLED), (drop_it, "hang", CANCELLED)])
def test_a_stream_has_a_permit_until_it_ends_however_it_does(
    languages: LanguageModelServer,
    gate: NotingGate,
    permits_of: Any,
    how: Callable[[Any], Any],
    then: str,
    outcome: RequestOutcome,
) -> None:
    events = [openai_event({"content": "hello "}), openai_event({}, "stop")][: 2 if then == "end" else 1]
    with chat_at(languages, permits_of) as chat:
        languages.misbehave({"events": events, "then": then})
        stream = chat.stream("hello", max_tokens=50)
        assert len(gate.open_slots) == 1
        kept = how(stream)
        del stream
        gc.collect()
        wait_until(lambda: not gate.open_slots, "the slot")
        assert outcomes(gate) == [outcome]
        del kept


def test_a_stream_that_gets_no_leave_says_so_when_its_first_piece_is_awaited(
    languages: LanguageModelServer, gate: NotingGate, permits_of: Any
) -> None:
    gate.close(40.0)
    with chat_at(languages, permits_of) as chat:
        stream = chat.stream("hello", max_tokens=50)
        with pytest.raises(ProviderError, match="left alone"):
            next(stream)
    assert not languages.take_requests()


@pytest.mark.parametrize("reference", ["cohere/rerank-v3.5", "openai/chat"])
def test_a_request_for_scores_has_a_permit(languages: LanguageModelServer, gate: NotingGate, permits_of: Any, reference: str) -> None:
    provider, _, name = reference.partition("/")
    languages.behave()
    query = Caller("notes", is_query=True)
    with closing(rerank_model_for(spec_of(languages, provider, name), credentials={"KEY": KEY}, permits_of=permits_of)) as reranker:
        reranker.on_behalf_of(query).score("hello", ["a hello", "a text"], criteria=None)
    assert outcomes(gate) == [OK]
    assert gate.asked[0].waits_for_nobody


def test_no_thread_is_left_when_models_and_slots_are_closed(embeddings: EmbeddingServer) -> None:
    before = set(threading.enumerate())
    spec = EmbeddingModelSpec("mistral", "x", 8, base_url=f"{embeddings.address}/mistral/v1")
    with closing(remote_model(spec, Adapter.OPENAI, dimensions=8, api_key=KEY, headers={})) as made:
        made.embed_query("text")
    wait_until(lambda: set(threading.enumerate()) <= before, "every thread to end")
