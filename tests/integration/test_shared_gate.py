"""One gate for all that call a provider with one credential: in every process, for documents and for queries."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from docmill.adapters.memory.models import hash_vector
from docmill.bootstrap import Owner, open_engine
from docmill.bootstrap.gates import Gates, limits_of, redis_gates
from docmill.bootstrap.models import Models
from docmill.config import Configuration, Settings, load_configuration
from docmill.domain.errors import CallCancelled, ProviderLeftAlone, ProviderRateLimited
from docmill.domain.searching import SearchRequest
from docmill.ports.gate import GateState
from docmill.ports.models import Caller, EmbeddingModel
from docmill.retrieval.query_vectors import QueryVectors
from docmill_services.engine_backend import EngineBackend
from support.embedding_server import EmbeddingServer, running_embedding_server
from support.valkey_server import client_of, running_valkey
from support.waiting import wait_until

KEYS = {"FIRST_KEY": "sk-first-key-of-two", "SECOND_KEY": "sk-second-key-of-two"}


@pytest.fixture(scope="module")
def server() -> Iterator[EmbeddingServer]:
    with running_embedding_server(dimensions=8) as server:
        yield server


@pytest.fixture(scope="module")
def valkey() -> Iterator[Path]:
    with running_valkey() as socket:
        yield socket


@pytest.fixture
def configuration(server: EmbeddingServer, tmp_path: Path) -> Configuration:
    server.behave()
    (tmp_path / "documents").mkdir()
    path = tmp_path / "docmill.yaml"
    base_url = f"{server.address}/mistral/v1"
    path.write_text(
        f"""
        models:
          first: {{provider: openai, model: a, base_url: "{base_url}", token_key: FIRST_KEY}}
          second: {{provider: openai, model: a, base_url: "{base_url}", token_key: SECOND_KEY}}
        rag:
          notes:
            docs: [documents]
            strategies: [{{type: chunked-embeddings, embedding_model: first, vector_dimensions: 8}}, {{type: bm25}}]
          mails:
            docs: [documents]
            strategies: [{{type: chunked-embeddings, embedding_model: first, vector_dimensions: 8, embedding_batch_size: 2}}]
          news:
            docs: [documents]
            strategies: [{{type: chunked-embeddings, embedding_model: second, vector_dimensions: 8}}]
        """,
        encoding="utf-8",
    )
    return load_configuration(path)


class Process:
    """The models of one process."""

    def __init__(self, configuration: Configuration, valkey: Path) -> None:
        self._configuration = configuration
        self._client = client_of(valkey)
        gates = Gates(redis_gates(self._client, request_seconds=60.0), limits_of(configuration, KEYS), query_seconds=10.0)
        self._models = Models(configuration, Settings(), KEYS, gates)

    def model(self, name: str, *, is_query: bool = False) -> EmbeddingModel:
        """The model of a knowledge base, called for it."""
        [knowledge_base] = [kb for kb in self._configuration.knowledge_bases if kb.name == name]
        spec = knowledge_base.strategies[0].embedding
        assert spec is not None
        return self._models.model_of(spec).on_behalf_of(Caller(name, run_id="" if is_query else f"run of {name}", is_query=is_query))

    def close(self) -> None:
        self._models.close()
        self._client.close()


def test_processes_and_knowledge_bases_of_one_credential_leave_the_provider_alone_together(
    server: EmbeddingServer, configuration: Configuration, valkey: Path
) -> None:
    with closing(Process(configuration, valkey)) as one, closing(Process(configuration, valkey)) as another:
        server.misbehave({"status": 429, "body": {}, "headers": {"Retry-After": "40"}})
        with pytest.raises(ProviderRateLimited, match="answered 429"):
            one.model("notes").embed_passages(["text"])
        for model in (one.model("notes"), one.model("mails"), another.model("notes"), another.model("mails")):
            with pytest.raises(ProviderLeftAlone, match="left alone"):
                model.embed_passages(["text"])
        with pytest.raises(ProviderLeftAlone):
            another.model("mails", is_query=True).embed_query("text")
        assert len(server.take_requests()) == 1
        assert another.model("news").embed_passages(["text"]) == [hash_vector("text", 8)]


@pytest.fixture
def engine(configuration: Configuration, tmp_path: Path) -> Iterator[Owner]:
    with closing(open_engine(configuration, Settings(), tmp_path / "data", KEYS)) as engine:
        yield engine


def backend_of(engine: Owner, name: str, threads: ThreadPoolExecutor) -> Any:
    return EngineBackend(engine, engine.knowledge_base(name), threads, threads, QueryVectors())


def test_a_search_goes_on_without_a_provider_that_is_left_alone_and_says_why(server: EmbeddingServer, engine: Owner) -> None:
    [(provider, gate)] = engine.gates_of("notes").items()
    gate.close(40.0)
    with ThreadPoolExecutor(2) as threads:
        backend = backend_of(engine, "notes", threads)
        outcome = backend.searcher.search(SearchRequest("apple"))
        [shown] = backend.gates()
        [of_another] = backend_of(engine, "news", threads).gates()
    assert [(one.strategy, one.code) for one in outcome.degraded] == [("chunked-embeddings", "provider.left_alone")]
    assert "has asked to be left alone" in outcome.degraded[0].reason
    assert (provider, shown.provider, shown.state) == ("openai", "openai", GateState.CLOSED)
    assert shown.opens_at is not None
    assert (of_another.state, of_another.opens_at) == (GateState.OPEN, None)
    assert not server.take_requests()


def test_stopping_ends_a_request_that_hangs_and_all_that_come_later(server: EmbeddingServer, engine: Owner) -> None:
    server.misbehave({"delay_seconds": 30})
    model = engine.knowledge_base("notes").index_sets.served().models["chunked-embeddings"].on_behalf_of(Caller("notes", run_id="run"))
    with ThreadPoolExecutor(1) as threads:
        call = threads.submit(model.embed_passages, ["text"])
        wait_until(lambda: bool(server.take_requests()), "the request")
        engine.stop_calls()
        with pytest.raises(CallCancelled):
            call.result(10)
    with pytest.raises(CallCancelled):
        model.embed_passages(["text"])
    [gate] = engine.gates_of("notes").values()
    assert gate.status().state is GateState.OPEN


def test_nothing_of_the_gates_is_left_when_an_engine_is_closed(configuration: Configuration, tmp_path: Path) -> None:
    before = set(threading.enumerate())
    with closing(open_engine(configuration, Settings(), tmp_path / "data", KEYS)) as engine:
        model = engine.knowledge_base("notes").index_sets.served().models["chunked-embeddings"]
        model.on_behalf_of(Caller("notes")).embed_passages(["text"])
    wait_until(lambda: set(threading.enumerate()) <= before, "every thread to end")
