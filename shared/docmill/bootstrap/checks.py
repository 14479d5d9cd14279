"""Checks: each part that docmill stands on, tried by itself; what ``docmill doctor`` asks for."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import redis

from docmill.adapters.embedded.lexical_store import EmbeddedLexicalStore
from docmill.adapters.embedded.valkey import ValkeyServer
from docmill.adapters.embedded.vector_store import EmbeddedVectorStore
from docmill.adapters.providers.advice import advice_for
from docmill.adapters.providers.catalog import embedding_model_for
from docmill.adapters.providers.remote import RemoteEmbeddingModel
from docmill.bootstrap.stores import connect_lexical, connect_vectors
from docmill.config import Configuration, Settings
from docmill.config.providers import model_of_chat
from docmill.domain.chunks import ChunkFilter, ChunkRecord
from docmill.domain.errors import DocmillError, StoreDown
from docmill.domain.knowledge_bases import ChatModelSpec, EmbeddingModelSpec, Similarity
from docmill.indexing.summarising import MAX_TOKENS

if TYPE_CHECKING:
    from docmill.adapters.elasticsearch import ElasticsearchLexicalStore
    from docmill.adapters.qdrant import QdrantVectorStore


@dataclass(frozen=True, slots=True)
class ServerCheck:
    """What a server said; ``warnings`` name what is set in a way that may lose data or time."""

    description: str
    warnings: Sequence[str] = ()


def check_servers(settings: Settings) -> Iterator[tuple[str, ServerCheck | DocmillError]]:
    """Each server that ``settings`` name, with what it said or what went wrong."""
    if settings.redis_url is not None:
        yield "redis", _tried(lambda: _redis(settings))
    if settings.qdrant_url is not None:
        yield "qdrant", _tried(lambda: _store(connect_vectors(settings)))
    if settings.elasticsearch_url is not None:
        yield "elasticsearch", _tried(lambda: _store(connect_lexical(settings)))


def _tried(check: Callable[[], ServerCheck]) -> ServerCheck | DocmillError:
    try:
        return check()
    except DocmillError as error:
        return error


def _redis(settings: Settings) -> ServerCheck:
    from docmill.adapters.redis.connecting import connect_redis, describe_redis, redis_warnings

    with connect_redis(settings) as client:
        return ServerCheck(describe_redis(client), redis_warnings(client))


def _store(connected: "QdrantVectorStore | ElasticsearchLexicalStore") -> ServerCheck:
    with closing(connected) as store:
        return ServerCheck(store.describe())


def check_embedded_server(folder: Path) -> str:
    """Starts and stops an embedded server in ``folder`` and says what it saw; raises what went wrong."""
    server = ValkeyServer(folder)
    server.start()
    try:
        with redis.Redis(unix_socket_path=str(server.socket)) as client:
            version = client.info("server")["valkey_version"]
    finally:
        server.stop()
    return f"Valkey {version} starts, answers and stops"


def check_embedded_engine(folder: Path) -> str:
    """Makes an index of each kind in ``folder``, writes and finds a chunk, and says so; raises what went wrong."""
    record = ChunkRecord("a.txt", 1, "f", 0, 1, "a word", "a word", "t", (), 1, 1, "a", "text/plain", vector=[1.0, 0.0])
    vectors, lexical = EmbeddedVectorStore(folder / "vectors"), EmbeddedLexicalStore(folder / "lexical")
    try:
        vectors.create("check", "dense", 2, Similarity.COSINE)
        lexical.create("check", "words", k1=1.5, b=0.75)
        vectors.write("check", [record])
        lexical.write("check", [record])
        near = vectors.search("check", [1.0, 0.0], 1, threshold=0.5, chunk_filter=ChunkFilter())
        worded = lexical.search("check", "word", 1, k1=1.5, b=0.75, threshold=0.0, chunk_filter=ChunkFilter())
    finally:
        vectors.close()
        lexical.close()
    if not near or not worded:
        raise StoreDown("the embedded engine does not find what was written")
    return "vectors and words are written and found"


def check_embedding_models(configuration: Configuration, environ: Mapping[str, str]) -> Iterator[tuple[str, str | DocmillError, str]]:
    """Embeds one text by each model that is configured, once for each way in which it is reached.

    Yields the model's name, what was seen or what went wrong, and what to do about that ("" where the error says it). A provider's gate is
    neither asked nor told: whoever asks for this wants to know now.
    """
    specifications = {
        strategy.embedding: None for kb in configuration.knowledge_bases for strategy in kb.strategies if strategy.embedding is not None
    }
    tried: set[tuple[str, str | None, str | None, int | None]] = set()
    for specification in specifications:
        access = (specification.name, specification.base_url, specification.token_key, specification.dimensions)
        if access in tried:
            continue
        tried.add(access)
        try:
            yield specification.name, _embedding_model(specification, environ), ""
        except DocmillError as error:
            yield specification.name, error, advice_for(error, specification)


def check_chat_models(configuration: Configuration, environ: Mapping[str, str]) -> Iterator[tuple[str, str | DocmillError, str]]:
    """Has each chat model write a word, once for each way in which it is reached; yields as ``check_embedding_models``."""
    specifications = {
        replace(strategy.chat_model, max_concurrency=None): None
        for kb in configuration.knowledge_bases
        for strategy in kb.strategies
        if strategy.chat_model is not None
    }
    for specification in specifications:
        try:
            yield specification.name, _chat_model(specification, environ), ""
        except DocmillError as error:
            yield specification.name, error, advice_for(error, specification)


def _chat_model(specification: ChatModelSpec, environ: Mapping[str, str]) -> str:
    from docmill.adapters.providers.language_models import chat_model_for  # most configurations have none

    started = time.perf_counter()
    with closing(chat_model_for(model_of_chat(specification), credentials=environ)) as model:
        model.complete("Answer with the word: ready", max_tokens=specification.max_tokens or MAX_TOKENS)
    where = f" at {specification.base_url}" if specification.base_url else ""
    return f"{model.name}{where} wrote an answer in {(time.perf_counter() - started) * 1000:.0f} ms"


def _embedding_model(specification: EmbeddingModelSpec, environ: Mapping[str, str]) -> str:
    model = embedding_model_for(specification, threads=1, credentials=environ)
    started = time.perf_counter()
    try:
        vector = model.embed_query("docmill")
    finally:
        if isinstance(model, RemoteEmbeddingModel):
            model.close()
    where = f" at {specification.base_url}" if specification.base_url else ""
    return f"{model.name}{where} made a vector of {len(vector)} dimensions in {(time.perf_counter() - started) * 1000:.0f} ms"
