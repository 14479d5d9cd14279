"""Embedding models behind providers' own APIs: what each is sent, and what is made of every way to fail."""

import math
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from docmill.adapters.memory.models import hash_vector
from docmill.adapters.providers.embedding_models import remote_model
from docmill.adapters.providers.remote import RemoteEmbeddingModel
from docmill.config.prefixes import prefixes_of
from docmill.config.providers import adapter_for
from docmill.domain.errors import CallCancelled, ProviderError, ProviderPermanent, ProviderRateLimited, ProviderTransient, TextRefused
from docmill.domain.knowledge_bases import EmbeddingModelSpec
from support.embedding_apis import texts_of
from support.embedding_server import EmbeddingServer, running_embedding_server

KEY = "a-very-secret-key"
PATHS = {"google": "/v1beta", "cohere": "", "voyage": "/voyage/v1", "mistral": "/mistral/v1", "ollama": "/v1", "dmr": "/engines/v1"}
#: One model of each API.
EACH = ["google/gemini-embedding-001", "cohere/embed-english-v3.0", "voyage/voyage-law-2", "mistral/mistral-embed", "ollama/x", "dmr/ai/x"]


@pytest.fixture(scope="module")
def server() -> Iterator[EmbeddingServer]:
    with running_embedding_server(dimensions=8) as server:
        yield server


class Models:
    def __init__(self, server: EmbeddingServer) -> None:
        self._server = server
        self._made: list[RemoteEmbeddingModel] = []

    def make(
        self,
        name: str,
        *,
        dimensions: int = 8,
        batch_size: int = 50,
        api_key: str | None = KEY,
        headers: dict[str, str] | None = None,
        timeout_seconds: float = 20.0,
    ) -> RemoteEmbeddingModel:
        provider, _, model = name.partition("/")
        wanted = prefixes_of(model)
        spec = EmbeddingModelSpec(
            provider,
            model,
            dimensions,
            base_url=self._server.address + PATHS[provider],
            batch_size=batch_size,
            query_prefix=wanted.query,
            passage_prefix=wanted.passage,
        )
        adapter = adapter_for(spec)
        assert adapter is not None
        made = remote_model(spec, adapter, dimensions=dimensions, api_key=api_key, headers=headers or {}, timeout_seconds=timeout_seconds)
        self._made.append(made)
        return made

    def close(self) -> None:
        for model in self._made:
            model.close()


@pytest.fixture
def models(server: EmbeddingServer) -> Iterator[Models]:
    server.behave()
    models = Models(server)
    yield models
    models.close()


def gemini(task: str | None, text: str, **more: Any) -> dict[str, Any]:
    own = {} if task is None else {"taskType": task}
    return {**own, "content": {"parts": [{"text": text}]}, **more}


@pytest.mark.parametrize(
    ("name", "dimensions", "path", "query", "passage"),
    [
        (
            "google/gemini-embedding-001",
            768,
            "/v1beta/models/gemini-embedding-001:batchEmbedContents",
            {"requests": [gemini("RETRIEVAL_QUERY", "hi", model="models/gemini-embedding-001", outputDimensionality=768)]},
            {"requests": [gemini("RETRIEVAL_DOCUMENT", "hi", model="models/gemini-embedding-001", outputDimensionality=768)]},
        ),
        (
            "google/gemini-embedding-2",
            3072,
            "/v1beta/models/gemini-embedding-2:batchEmbedContents",
            {"requests": [gemini(None, "task: search result | query: hi", model="models/gemini-embedding-2", outputDimensionality=3072)]},
            {"requests": [gemini(None, "title: none | text: hi", model="models/gemini-embedding-2", outputDimensionality=3072)]},
        ),
        (
            "cohere/embed-v4.0",
            256,
            "/v2/embed",
            {"texts": ["hi"], "input_type": "search_query", "embedding_types": ["float"], "truncate": "NONE", "output_dimension": 256},
            {"texts": ["hi"], "input_type": "search_document", "embedding_types": ["float"], "truncate": "NONE", "output_dimension": 256},
        ),
        (
            "cohere/embed-multilingual-v3.0",
            8,
            "/v2/embed",
            {"texts": ["hi"], "input_type": "search_query", "embedding_types": ["float"], "truncate": "NONE"},
            {"texts": ["hi"], "input_type": "search_document", "embedding_types": ["float"], "truncate": "NONE"},
        ),
        (
            "voyage/voyage-3.5",
            512,
            "/voyage/v1/embeddings",
            {"input": ["hi"], "input_type": "query", "truncation": False, "output_dimension": 512},
            {"input": ["hi"], "input_type": "document", "truncation": False, "output_dimension": 512},
        ),
        (
            "voyage/voyage-law-2",
            8,
            "/voyage/v1/embeddings",
            {"input": ["hi"], "input_type": "query", "truncation": False},
            {"input": ["hi"], "input_type": "document", "truncation": False},
        ),
        (
            "mistral/mistral-embed",
            8,
            "/mistral/v1/embeddings",
            {"input": ["hi"], "encoding_format": "float"},
            {"input": ["hi"], "encoding_format": "float"},
        ),
        (
            "mistral/codestral-embed",
            512,
            "/mistral/v1/embeddings",
            {"input": ["hi"], "encoding_format": "float", "output_dimension": 512},
            {"input": ["hi"], "encoding_format": "float", "output_dimension": 512},
        ),
        (
            "ollama/nomic-embed-text",
            256,
            "/api/embed",
            {"input": ["search_query: hi"], "truncate": False, "dimensions": 256},
            {"input": ["search_document: hi"], "truncate": False, "dimensions": 256},
        ),
        (
            "ollama/all-minilm",
            8,
            "/api/embed",
            {"input": ["hi"], "truncate": False},
            {"input": ["hi"], "truncate": False},
        ),
        (
            "dmr/ai/embeddinggemma",
            8,
            "/engines/v1/embeddings",
            {"input": ["task: search result | query: hi"], "encoding_format": "float"},
            {"input": ["title: none | text: hi"], "encoding_format": "float"},
        ),
    ],
)
def test_each_api_is_asked_in_its_own_way_for_a_query_and_for_a_passage(
    server: EmbeddingServer, models: Models, name: str, dimensions: int, path: str, query: dict[str, Any], passage: dict[str, Any]
) -> None:
    model = models.make(name, dimensions=dimensions)
    vectors = [model.embed_query("hi"), *model.embed_passages(["hi"])]
    assert [len(vector) for vector in vectors] == [dimensions, dimensions]
    of_query, of_passage = server.take_requests()
    assert of_query["path"] == of_passage["path"] == path
    named = {} if name.startswith("google/") else {"model": name.partition("/")[2]}
    assert of_query["body"] == {**named, **query}
    assert of_passage["body"] == {**named, **passage}


@pytest.mark.parametrize("name", EACH)
def test_the_key_and_more_headers_go_where_the_api_wants_them(server: EmbeddingServer, models: Models, name: str) -> None:
    models.make(name, headers={"X-Team": "search"}).embed_query("hi")
    [request] = server.take_requests()
    header = ("x-goog-api-key", KEY) if name.startswith("google/") else ("authorization", f"Bearer {KEY}")
    assert request["headers"][header[0]] == header[1]
    assert request["headers"]["x-team"] == "search"


@pytest.mark.parametrize("name", ["ollama/x", "dmr/ai/x"])
def test_where_there_is_no_key_none_is_sent(server: EmbeddingServer, models: Models, name: str) -> None:
    models.make(name, api_key=None).embed_query("hi")
    [request] = server.take_requests()
    assert "authorization" not in request["headers"]


def test_a_header_may_be_the_credential(server: EmbeddingServer, models: Models) -> None:
    models.make("dmr/ai/x", api_key=None, headers={"Authorization": "Basic c2VjcmV0"}).embed_query("hi")
    [request] = server.take_requests()
    assert request["headers"]["authorization"] == "Basic c2VjcmV0"


def test_shortened_vectors_of_google_are_made_one_long(models: Models) -> None:
    vector = models.make("google/gemini-embedding-001", dimensions=768).embed_query("hi")
    assert math.isclose(math.sqrt(math.fsum(entry * entry for entry in vector)), 1.0, rel_tol=1e-9)


@pytest.mark.parametrize(
    ("name", "texts", "requests"),
    [
        ("google/gemini-embedding-001", ["a text"] * 250, [100, 100, 50]),
        ("cohere/embed-english-v3.0", ["a text"] * 100, [96, 4]),
        ("mistral/mistral-embed", ["a text"] * 300, [256, 44]),
        ("mistral/mistral-embed", ["some words of a text " * 70] * 20, [15, 5]),
        ("voyage/voyage-law-2", ["日本語のテキスト" * 500] * 12, [9, 3]),
    ],
)
def test_requests_are_as_large_as_the_provider_takes(
    server: EmbeddingServer, models: Models, name: str, texts: list[str], requests: list[int]
) -> None:
    models.make(name, batch_size=2048).embed_passages(texts)
    assert [len(texts_of(request["body"])) for request in server.take_requests()] == requests


@pytest.mark.parametrize("name", ["google/gemini-embedding-001", "cohere/embed-english-v3.0", "dmr/ai/embeddinggemma"])
def test_a_text_beyond_the_models_window_is_sent_in_windows_and_nothing_of_it_is_left_out(
    server: EmbeddingServer, models: Models, name: str
) -> None:
    text = "水在高山上的沸点较低。" * 400
    model = models.make(name)
    [before, vector, after] = model.embed_passages(["before", text, "after"])
    sent = [text for request in server.take_requests() for text in texts_of(request["body"])]
    windows = [window.removeprefix(prefixes_of(name).passage) for window in sent][1:-1]
    assert len(windows) > 1
    assert "".join(windows) == text
    assert [before, after] == model.embed_passages(["before", "after"])
    assert math.isclose(math.sqrt(math.fsum(entry * entry for entry in vector)), 1.0, rel_tol=1e-6)
    assert model.embed_query(text) == vector


@pytest.mark.parametrize("name", EACH)
@pytest.mark.parametrize(
    ("fault", "kind", "words"),
    [
        ({"status": 429, "body": {}, "headers": {"Retry-After": "40"}}, ProviderRateLimited, "answered 429"),
        ({"status": 200, "body": {"error": {"code": 429, "message": "slow down"}}}, ProviderRateLimited, "answered 200: slow down"),
        ({"status": 503, "body": "<html><title>Down for maintenance</title></html>"}, ProviderTransient, "503: Down for maintenance"),
        ({"status": 401, "body": {"error": {"message": f"wrong key {KEY}"}}}, ProviderPermanent, r"wrong key \*\*\*"),
        ({"status": 404, "body": {"error": {"message": "no such model"}}}, ProviderPermanent, "404: no such model"),
        ({"status": 307, "body": "", "headers": {"Location": "http://127.0.0.1:9/"}}, ProviderError, "answered 307|cannot be reached"),
        ({"status": 200, "body": "<html>Welcome</html>"}, ProviderPermanent, "cannot be used: the answer is not JSON"),
        ({"status": 200, "body": {}}, ProviderPermanent, "cannot be used: the answer has no"),
        ({"status": 200, "body": {"embeddings": 5, "data": 5}}, ProviderPermanent, "cannot be used: the answer has no"),
        ({"without": 20}, ProviderTransient, "cut off"),
        ({"cut": 20}, ProviderTransient, "cannot be reached"),
        ({"disconnect": True}, ProviderTransient, "cannot be reached"),
        ({"reset": True}, ProviderTransient, "cannot be reached"),
        ({"replace": ["[0.", "[NaN, 0."]}, ProviderPermanent, "cannot be used: .* dimensions|not a finite"),
        ({"replace": ["0.", "1e999"]}, ProviderPermanent, "not a finite"),
    ],
)
def test_every_way_to_fail_is_one_kind_of_error(
    server: EmbeddingServer, models: Models, name: str, fault: dict[str, Any], kind: type[ProviderError], words: str
) -> None:
    server.misbehave(fault)
    with pytest.raises(kind, match=words) as failure:
        models.make(name).embed_query("hi")
    assert str(failure.value).startswith(f"{name} at {server.address}")
    assert KEY not in str(failure.value)
    assert getattr(failure.value, "retry_after_seconds", None) == (40.0 if "headers" in fault and fault["status"] == 429 else None)
    assert len(server.take_requests()) == 1
    assert models.make(name).embed_query("hi")


@pytest.mark.parametrize("name", EACH)
@pytest.mark.parametrize("fault", [{"delay_seconds": 60}, {"drip_seconds": 0.05}, {"drip_seconds": 0.05, "from": "head"}])
def test_an_answer_that_does_not_end_in_time_is_left(server: EmbeddingServer, models: Models, name: str, fault: dict[str, Any]) -> None:
    server.misbehave(fault)
    with pytest.raises(ProviderTransient, match=r"did not answer in time \(0.4 s\)"):
        models.make(name, timeout_seconds=0.4).embed_query("hi")


@pytest.mark.parametrize("name", EACH)
def test_closing_a_model_ends_a_call_that_hangs(server: EmbeddingServer, models: Models, name: str) -> None:
    model = models.make(name, timeout_seconds=60.0)
    server.misbehave({"delay_seconds": 30})
    failures: list[ProviderError] = []

    def call() -> None:
        try:
            model.embed_query("hi")
        except ProviderError as error:
            failures.append(error)

    caller = threading.Thread(target=call)
    caller.start()
    deadline = time.monotonic() + 20
    while not server.take_requests():
        assert time.monotonic() < deadline
    model.close()
    caller.join(20)
    assert not caller.is_alive()
    assert [type(failure) for failure in failures] == [CallCancelled]


@pytest.mark.parametrize("name", EACH)
def test_a_text_that_is_refused_alone_is_named_by_its_place_and_what_came_before_is_kept(
    server: EmbeddingServer, models: Models, name: str
) -> None:
    server.misbehave({"refuses": "poison"})
    texts = [f"text {number}" for number in range(7)]
    texts[4] = "a poison text"
    with pytest.raises(TextRefused, match="answered 400") as refused:
        models.make(name).embed_passages(texts)
    assert refused.value.place == 4
    assert refused.value.made == models.make(name).embed_passages(texts[:4])


def test_a_refused_window_names_the_text_that_it_is_of(server: EmbeddingServer, models: Models) -> None:
    server.misbehave({"refuses": "poison"})
    texts = ["some words of a text " * 200, "one", "some words of a text " * 200 + "poison " + "more words " * 100]
    with pytest.raises(TextRefused) as refused:
        models.make("cohere/embed-english-v3.0").embed_passages(texts)
    assert refused.value.place == 2
    assert refused.value.made == models.make("cohere/embed-english-v3.0").embed_passages(texts[:2])


def test_vectors_of_a_provider_with_an_index_are_placed_by_it(models: Models) -> None:
    texts = ["one", "two", "three"]
    assert models.make("voyage/voyage-law-2").embed_passages(texts) == [hash_vector(text, 8) for text in texts]
