"""Queries over 5,000 chunks of about 1,000 characters: in process, over HTTP, and over HTTP while an indexing run goes on."""

import argparse
import json
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from statistics import quantiles
from typing import Any, cast

import uvicorn
from qdrant_edge import Bm25Params, Query, QueryRequest, TextQuery

from benchmarks.machine import machine, table
from benchmarks.query_service import NAME, indexed, indexing_goes_on, queries_of, searcher, write_corpus
from docmill.adapters.embedded.lexical_store import EmbeddedLexicalStore
from docmill.adapters.embedded.vector_store import EmbeddedVectorStore
from docmill.bootstrap import Engine
from docmill.domain.chunks import Vector
from docmill.domain.searching import SearchRequest
from docmill.ports.models import Caller
from docmill.retrieval.query_vectors import QueryVectors
from docmill_services.embedded import EmbeddedService
from docmill_services.query.listening import listen

TURN = 25
CALLER = Caller(NAME, is_query=True)

Rows = list[tuple[str, ...]]
HEAD = ("what", "p50 ms", "p99 ms", "goal ms", "p50 against")


def in_turns(calls: Mapping[str, Callable[[str], object]], queries: Sequence[str]) -> dict[str, list[float]]:
    """Milliseconds of each call with each query.

    The calls take turns, ``TURN`` queries each, so that whatever else the machine does is in all of them, and none runs on caches that
    another one has just emptied.
    """
    for call in calls.values():
        for query in queries[:20]:
            call(query)
    taken: dict[str, list[float]] = {label: [] for label in calls}
    for begin in range(0, len(queries), TURN):
        for label, call in calls.items():
            for query in queries[begin : begin + TURN]:
                begun = time.perf_counter()
                call(query)
                taken[label].append((time.perf_counter() - begun) * 1000)
    return taken


def percentiles(taken: Sequence[float]) -> tuple[float, float]:
    """The median and the 99th percentile."""
    cuts = quantiles(taken, n=100)
    return cuts[49], cuts[98]


def row(label: str, taken: Sequence[float], goal: str, beside: Sequence[tuple[str, Sequence[float]]]) -> tuple[str, ...]:
    """One line; the ratios are of medians."""
    p50, p99 = percentiles(taken)
    ratios = ", ".join(f"{p50 / percentiles(other)[0]:.2f} x {name}" for name, other in beside)
    return label, f"{p50:.2f}", f"{p99:.2f}", goal, ratios


def fts5(texts: Sequence[str]) -> Callable[[str, int], object]:
    """The same texts in SQLite's own BM25, in memory."""
    database = sqlite3.connect(":memory:")
    database.execute("CREATE VIRTUAL TABLE chunks USING fts5(text, tokenize = 'porter')")
    database.executemany("INSERT INTO chunks VALUES (?)", [(text,) for text in texts])

    def search(query: str, limit: int) -> object:
        any_word = " OR ".join(query.split())
        return database.execute("SELECT rowid, text FROM chunks WHERE chunks MATCH ? ORDER BY rank LIMIT ?", (any_word, limit)).fetchall()

    return search


def bare_engine(engine: Engine) -> tuple[Callable[[str, int], object], Callable[[Vector, int], object]]:
    """The engine's own search for ids and scores, by words and by a vector, without anything of ours around it."""
    target = engine.knowledge_base(NAME).index_sets.served()
    lexical, vectors = cast("EmbeddedLexicalStore", engine.lexical), cast("EmbeddedVectorStore", engine.vectors)
    words_shard: Any = lexical._shards.index(target.index("bm25")).shard._engine
    vector_shard: Any = vectors._shards.index(target.index("chunked-embeddings")).shard._engine
    parameters = Bm25Params(k=1.5, b=0.75)
    return (
        lambda query, limit: words_shard.query(QueryRequest(limit=limit, query=TextQuery("terms", query, parameters))),
        lambda vector, limit: vector_shard.query(QueryRequest(limit=limit, query=Query.Nearest(cast("list[float]", vector)))),
    )


def in_process_rows(service: EmbeddedService, texts: Sequence[str], rounds: int) -> Rows:
    """BM25 and hybrid searches by ``Searcher``, with the real state and the real engine."""
    engine = service.engine
    in_sqlite = fts5(texts)
    by_words, by_vector = bare_engine(engine)
    vectors = QueryVectors(capacity=10_000)
    rows: Rows = []
    with ThreadPoolExecutor(8) as executor:
        # The first row meets chunks that no query has found before; the others mostly meet chunks that one has.
        for kind, limit, goal, what in (
            ("rare", 20, "1", ", chunks new"),
            *((kind, limit, goal, "") for limit in (20, 5) for kind, goal in (("rare", "1"), ("common", "1"), ("mixed", ""))),
        ):
            ours = searcher(engine, limit=limit, executor=executor, vectors=vectors)
            calls: dict[str, Callable[[str], object]] = {
                "docmill": lambda query, ours=ours: ours.search(SearchRequest(query, strategies=("bm25",))),  # type: ignore[misc]
                "fts5": lambda query, limit=limit: in_sqlite(query, limit),  # type: ignore[misc]
                "engine": lambda query, limit=limit: by_words(query, limit),  # type: ignore[misc]
            }
            taken = in_turns(calls, queries_of(kind, rounds))
            beside = [("SQLite FTS5", taken["fts5"]), ("bare engine", taken["engine"])]
            rows.append(row(f"in process, bm25, {kind} words, limit {limit}{what}", taken["docmill"], goal, beside))
        ours = searcher(engine, limit=20, executor=executor, vectors=vectors)
        model = engine.knowledge_base(NAME).index_sets.served().models["chunked-embeddings"]
        queries = queries_of("mixed", rounds)
        for query in queries:
            vectors.vector_of(model, query, CALLER)
        taken = in_turns(
            {
                "docmill": lambda query: ours.search(SearchRequest(query)),
                "engine": lambda query: (by_words(query, 20), by_vector(vectors.vector_of(model, query, CALLER), 20)),
            },
            queries,
        )
        rows.append(row("in process, hybrid, vector cached, limit 20", taken["docmill"], "", [("bare engine, both", taken["engine"])]))
    return rows


async def constant(scope: Any, receive: Any, send: Any) -> None:
    """An ASGI application that always says the same."""
    if scope["type"] != "http":
        return
    await receive()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"{}"})


@contextmanager
def bare_server() -> Iterator[int]:
    """uvicorn with nothing behind it, in a thread of this process as docmill's is; gives its port."""
    listener = listen("127.0.0.1", 0)
    server = uvicorn.Server(uvicorn.Config(constant, log_config=None, access_log=False, lifespan="off", ws="none"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join(5)


def ask(jobs: Mapping[str, Mapping[str, object]], rounds: int) -> dict[str, list[float]]:
    """Milliseconds of each request, as a client in another process sees them."""
    work = json.dumps({"rounds": rounds, "jobs": jobs})
    client = [sys.executable, str(Path(__file__).with_name("http_client.py"))]
    done = subprocess.run(client, input=work, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    answer: dict[str, list[float]] = json.loads(done.stdout)
    return answer


def http_rows(service: EmbeddedService, rounds: int, while_what: str, goals: Mapping[str, str]) -> Rows:
    """Hybrid searches over HTTP, the vectors of half of them new."""
    port = int((service.engine.data_folder.path / "server.json").exists() and 0) or _port_of(service)
    path = f"/v1/knowledge-bases/{NAME}/search"
    known, new = queries_of("mixed", 20, seed=1), queries_of("mixed", rounds, seed=time.time_ns())

    def search(queries: Sequence[str], **more: object) -> dict[str, object]:
        return {"port": port, "method": "POST", "path": path, "bodies": [json.dumps({"query": query, **more}) for query in queries]}

    with bare_server() as bare:
        jobs = {
            "constant": {"port": bare, "method": "POST", "path": "/", "bodies": ["{}"]},
            "cached": search(known),
            "new": search(new),
            "bm25": search(known, strategies=["bm25"]),
        }
        ask({"cached": jobs["cached"]}, 20)
        taken = ask(jobs, rounds)
    beside = [("constant by uvicorn", taken["constant"])]
    labels = {"cached": "hybrid, vector cached", "new": "hybrid, query embedded (MiniLM)", "bm25": "bm25"}
    rows = [row(f"HTTP {while_what}, {labels[name]}", taken[name], goals.get(name, ""), beside) for name in labels]
    rows.append(row(f"HTTP {while_what}, constant by uvicorn", taken["constant"], "", []))
    return rows


def _port_of(service: EmbeddedService) -> int:
    assert service._http is not None
    return service._http.port


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=500)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="docmill-bench-") as scratch:
        folder, data = Path(scratch) / "notes", Path(scratch) / "data"
        texts = write_corpus(folder)
        with indexed(folder, data) as service:
            rows: Rows = [HEAD, *in_process_rows(service, texts, options.rounds)]
            rows += http_rows(service, options.rounds, "idle", {"cached": "5", "new": "15"})
            with indexing_goes_on(service, folder):
                rows += http_rows(service, options.rounds, "while indexing", {"cached": "p99 150", "new": "p99 150"})
    print(machine())
    print(table(rows))


if __name__ == "__main__":
    main()
