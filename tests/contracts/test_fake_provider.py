"""The fake provider speaks as providers do: to the ``openai`` package, and in the forms that the adapters are tested with."""

import math
import time
from collections.abc import Iterator, Mapping
from email.utils import parsedate_to_datetime
from typing import Any, Final

import httpx
import pytest
from openai import APIConnectionError, AuthenticationError, OpenAI, RateLimitError

from docmill.adapters.memory.models import hash_vector
from support.embedding_server import EmbeddingServer, running_embedding_server
from support.fake_provider import FakeProvider, fake_provider, times_paid
from support.fake_provider_faults import Ending, Fault, Spoiling, poison, rate_limited, unavailable, wrong_key
from support.fake_provider_limits import RateLimit
from support.fake_provider_log import ANSWERED, BROKEN, HUNG_UP, UNDER_WAY, fingerprint
from support.language_model_server import LanguageModelServer, running_language_model_server
from support.openai_server import running_openai_server

KEY: Final = "sk-of-a-test"
_HEADERS: Final = {"authorization": f"Bearer {KEY}", "x-goog-api-key": KEY, "anthropic-version": "2023-06-01"}
_TEXTS: Final = ["one", "two words"]
_MESSAGES: Final = [{"role": "user", "content": "Count."}]
_CONTENTS: Final = [{"role": "user", "parts": [{"text": "Count."}]}]


@pytest.fixture(scope="module")
def running() -> Iterator[FakeProvider]:
    with fake_provider(dimensions=8) as provider:
        yield provider


@pytest.fixture
def provider(running: FakeProvider) -> FakeProvider:
    running.behave()
    return running


@pytest.fixture(scope="module")
def embedding_server() -> Iterator[EmbeddingServer]:
    with running_embedding_server(dimensions=8) as server:
        yield server


@pytest.fixture(scope="module")
def language_model_server() -> Iterator[LanguageModelServer]:
    with running_language_model_server() as server:
        yield server


@pytest.fixture
def client(provider: FakeProvider) -> Iterator[OpenAI]:
    with OpenAI(api_key=KEY, base_url=provider.base_url, max_retries=0, timeout=20) as client:
        yield client


@pytest.mark.parametrize("form", ["float", "base64"])
def test_the_openai_package_gets_vectors_in_both_forms(client: OpenAI, form: Any) -> None:
    answer = client.embeddings.create(model="text-embedding-3-small", input=_TEXTS, encoding_format=form, dimensions=16)
    for text, item in zip(_TEXTS, answer.data, strict=True):
        entries = item.embedding
        if isinstance(entries, str):  # what was asked for explicitly is left as it comes
            entries = client.embeddings.create(model="text-embedding-3-small", input=[text], dimensions=16).data[0].embedding
        assert entries == pytest.approx(hash_vector(text, 16), rel=1e-5)
        assert math.hypot(*entries) == pytest.approx(1.0)
    assert answer.usage.total_tokens == 4


def test_the_openai_package_chats(client: OpenAI) -> None:
    answer = client.chat.completions.create(model="gpt-x", messages=[{"role": "user", "content": "What is this?"}])
    said = answer.choices[0].message.content
    with client.chat.completions.create(model="gpt-x", messages=[{"role": "user", "content": "What is this?"}], stream=True) as stream:
        pieces = [event.choices[0].delta.content or "" for event in stream if event.choices]
    assert said == "".join(pieces) != ""
    assert answer.usage is not None


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1beta/models/gemini-x:batchEmbedContents", {"requests": [{"model": "models/gemini-x", "content": {"parts": [{"text": "a"}]}}]}),
        ("/v2/embed", {"model": "embed-x", "texts": _TEXTS, "input_type": "search_query", "embedding_types": ["float"]}),
        ("/voyage/v1/embeddings", {"model": "voyage-x", "input": _TEXTS, "input_type": "query"}),
        ("/mistral/v1/embeddings", {"model": "mistral-x", "input": _TEXTS}),
        ("/engines/v1/embeddings", {"model": "ai/x", "input": _TEXTS}),
        ("/api/embed", {"model": "x", "input": _TEXTS}),
    ],
)
def test_embeddings_have_the_form_that_the_adapters_are_tested_with(
    provider: FakeProvider, embedding_server: EmbeddingServer, path: str, body: dict[str, Any]
) -> None:
    assert _form_of(provider, path, body) == _form_of(embedding_server, path, body)


def test_openai_embeddings_have_the_form_that_the_adapter_is_tested_with(provider: FakeProvider) -> None:
    body = {"model": "text-embedding-3-small", "input": _TEXTS, "encoding_format": "float", "dimensions": 8}
    with running_openai_server() as other:
        assert _form_of(provider, "/v1/embeddings", body) == _form_of(other, "/v1/embeddings", body)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/chat/completions", {"model": "m", "messages": _MESSAGES}),
        ("/v1/messages", {"model": "m", "messages": _MESSAGES, "max_tokens": 100}),
        ("/v1beta/models/m:generateContent", {"contents": _CONTENTS}),
        ("/v2/rerank", {"model": "m", "query": "a b", "documents": ["a", "b c"]}),
        ("/rerank", {"model": "m", "query": "a b", "documents": ["a", "b c"]}),
        ("/v1/nothing", {"model": "m", "messages": _MESSAGES}),
    ],
)
def test_language_models_have_the_form_that_the_adapters_are_tested_with(
    provider: FakeProvider, language_model_server: LanguageModelServer, path: str, body: dict[str, Any]
) -> None:
    assert _form_of(provider, path, body) == _form_of(language_model_server, path, body)


def test_one_gemini_content_is_embedded_alone(provider: FakeProvider) -> None:
    body = {"model": "models/gemini-x", "content": {"parts": [{"text": "a"}]}, "outputDimensionality": 8}
    answer = _post(provider, "/v1beta/models/gemini-x:embedContent", body)
    assert answer.json()["embedding"]["values"] == pytest.approx(hash_vector("a", 8))


def test_requests_are_noted_with_their_key_texts_and_fate(provider: FakeProvider, client: OpenAI) -> None:
    before = time.time()
    _embed(client)
    provider.fault(unavailable(times=1))
    with pytest.raises(Exception, match="overloaded"):
        _embed(client)
    good, bad = provider.take()
    assert (good.key, good.texts) == (fingerprint(KEY), tuple(map(fingerprint, _TEXTS)))
    assert (good.status, good.state, bad.status, bad.state) == (200, ANSWERED, 503, ANSWERED)
    assert before <= good.at <= (good.ended_at or 0) <= bad.at
    assert KEY not in repr((good, bad))
    assert times_paid([good, bad]) == {fingerprint(text): 1 for text in _TEXTS}
    assert provider.log() == []


def test_a_fault_meets_those_it_is_for(provider: FakeProvider, client: OpenAI) -> None:
    provider.fault(poison("two"), Fault(status=500, body="", key="another"), rate_limited(path="/chat"), unavailable(after_seconds=1e6))
    assert [_status(client, ["one"]), _status(client, ["one", "two"]), _status(client, ["three"])] == [200, 400, 200]


def test_a_fault_counts_and_takes_its_share(provider: FakeProvider, client: OpenAI) -> None:
    provider.fault(unavailable(times=2, after_requests=1))
    assert [_status(client, ["one"]) for _ in range(4)] == [200, 503, 503, 200]
    provider.fault(unavailable(share=0.3))
    assert 20 < [_status(client, ["one"]) for _ in range(100)].count(503) < 40
    provider.heal()
    assert _status(client, ["one"]) == 200


def test_headers_may_be_dates_to_come(provider: FakeProvider, client: OpenAI) -> None:
    provider.fault(rate_limited(retry_after="date in 90"))
    with pytest.raises(RateLimitError) as caught:
        _embed(client)
    assert 80 < parsedate_to_datetime(caught.value.response.headers["retry-after"]).timestamp() - time.time() < 91


def test_an_answer_can_repeat_the_key(provider: FakeProvider, client: OpenAI) -> None:
    provider.fault(wrong_key())
    with pytest.raises(AuthenticationError, match=KEY):
        _embed(client)


@pytest.mark.parametrize("ending", [Ending.RESET, Ending.CLOSE])
def test_a_connection_can_break(provider: FakeProvider, client: OpenAI, ending: Ending) -> None:
    provider.fault(Fault(ending=ending, times=1))
    with pytest.raises(APIConnectionError):
        _embed(client)
    assert [seen.state for seen in provider.log()] == [BROKEN]
    assert _status(client, ["one"]) == 200


@pytest.mark.parametrize("fault", [Fault(ending=Ending.HANG), Fault(ending=Ending.DRIP, drip_seconds=5.0), Fault(delay_seconds=60.0)])
def test_an_answer_can_be_awaited_in_vain(provider: FakeProvider, fault: Fault) -> None:
    provider.fault(fault)
    with OpenAI(api_key=KEY, base_url=provider.base_url, max_retries=0) as client, pytest.raises(APIConnectionError):
        client.embeddings.create(model="text-embedding-3-small", input=_TEXTS, timeout=httpx.Timeout(0.3))
    provider.wait_for(lambda log: log[0].state != UNDER_WAY, "the client to be gone", 10)
    assert [seen.state for seen in provider.log()] == [HUNG_UP]


def test_a_slow_answer_comes_whole(provider: FakeProvider, client: OpenAI) -> None:
    provider.fault(Fault(ending=Ending.DRIP, drip_seconds=0.0001))
    assert len(_embed(client).data) == 2


@pytest.mark.parametrize("spoiling", Spoiling)
def test_an_answer_can_be_spoilt(provider: FakeProvider, spoiling: Spoiling) -> None:
    body = {"model": "text-embedding-3-small", "input": _TEXTS, "dimensions": 8}
    good = _post(provider, "/v1/embeddings", body)
    provider.fault(Fault(spoiling=spoiling))
    spoilt = _post(provider, "/v1/embeddings", body)
    assert spoilt.status_code == 200
    assert spoilt.content != good.content


def test_a_limit_refuses_what_comes_too_soon_and_takes_what_comes_later(provider: FakeProvider, client: OpenAI) -> None:
    provider.limit(RateLimit(requests_per_second=2, header="Retry-After"))
    assert [_status(client, ["one"]) for _ in range(3)] == [200, 200, 429]
    with OpenAI(api_key="another", base_url=provider.base_url, max_retries=0) as other:
        assert _status(other, ["one"]) == 200
    accepted = [seen.at for seen in provider.log() if seen.status == 200 and seen.key == fingerprint(KEY)]
    while (status := _status(client, ["one"])) == 429:
        time.sleep(0.05)
    assert status == 200
    assert provider.log()[-1].at - accepted[0] >= 0.99


def test_a_limit_counts_tokens_and_requests_at_once(provider: FakeProvider, client: OpenAI) -> None:
    provider.limit(RateLimit(tokens_per_minute=3))
    assert [_status(client, ["one"]), _status(client, ["a longer text"]), _status(client, ["one"])] == [200, 429, 200]


def _embed(client: OpenAI) -> Any:
    return client.embeddings.create(model="text-embedding-3-small", input=_TEXTS, encoding_format="float", dimensions=8)


def _status(client: OpenAI, texts: list[str]) -> int:
    body = {"model": "text-embedding-3-small", "input": texts, "dimensions": 8}
    return httpx.post(f"{client.base_url}embeddings", json=body, headers={"authorization": f"Bearer {client.api_key}"}).status_code


def _post(server: Any, path: str, body: Mapping[str, Any]) -> httpx.Response:
    return httpx.post(server.address + path, json=body, headers=_HEADERS, timeout=20)


def _form_of(server: Any, path: str, body: Mapping[str, Any]) -> tuple[int, object]:
    answer = _post(server, path, body)
    return answer.status_code, _form(answer.json())


def _form(value: object) -> object:
    """The keys of objects and the types of values; of a list, the different forms of its items."""
    if isinstance(value, dict):
        return {key: _form(entry) for key, entry in value.items()}
    if isinstance(value, list):
        forms = [_form(entry) for entry in value]
        return [form for place, form in enumerate(forms) if form not in forms[:place]]
    return "number" if isinstance(value, int | float) else type(value).__name__
