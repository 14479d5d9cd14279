"""What queries are measured on: a service over 5,000 chunks of about 1,000 characters, and queries of rare, common and mixed words."""

import os
import random
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from itertools import cycle
from pathlib import Path

from benchmarks.corpus import text_of, words
from docmill.adapters.memory.models import HashEmbeddingModel
from docmill.adapters.providers.minilm import MiniLmModel
from docmill.bootstrap import Engine, open_engine
from docmill.config import Configuration, Settings, configuration_for_folder
from docmill.domain.chunks import Vector
from docmill.domain.knowledge_bases import KnowledgeBase
from docmill.ports.models import Caller
from docmill.retrieval.query_vectors import QueryVectors
from docmill.retrieval.retrievers import make_retrievers
from docmill.retrieval.search import Searcher
from docmill_services.embedded import EmbeddedService
from docmill_services.origin import Origin

CHUNKS = 5_000
CHARACTERS = 1_000
NAME = "bench"
#: After a run the worker tidies up for a moment.
_SETTLE_SECONDS = 2.0
VOCABULARY = words(4000)


class QueriesByMiniLm:
    """Embeds queries as ``local/all-minilm-l6-v2`` does, and passages at once by a hash: how long a search takes is the same."""

    name = "benchmark/minilm-queries"
    dimensions = 384

    def __init__(self) -> None:
        self._queries, self._passages = MiniLmModel(threads=2), HashEmbeddingModel(dimensions=384)

    def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        return self._passages.embed_passages(texts)

    def embed_query(self, text: str) -> Vector:
        return self._queries.embed_query(text)

    def on_behalf_of(self, caller: Caller) -> "QueriesByMiniLm":
        return self


def write_corpus(folder: Path, *, seed: int = 5) -> list[str]:
    """``CHUNKS`` Markdown files, each of one chunk; returns their texts."""
    chance = random.Random(seed)
    texts = []
    for number in range(CHUNKS):
        if number % 100 == 0:
            (folder / f"part{number // 100:03}").mkdir(parents=True, exist_ok=True)
        texts.append(f"# Note {number}\n\n{text_of(chance, VOCABULARY, CHARACTERS - 20)}\n")
        (folder / f"part{number // 100:03}" / f"note{number:05}.md").write_text(texts[-1], encoding="utf-8")
    return texts


def queries_of(kind: str, count: int, seed: int = 9) -> list[str]:
    """``count`` queries: ``rare`` words are in about one chunk of 200, ``common`` ones in most."""
    chance = random.Random(seed)
    pools = {"rare": (VOCABULARY[3000:], 2), "common": (VOCABULARY[:20], 3), "mixed": (VOCABULARY[:2000], 6)}
    pool, length = pools[kind]
    return [" ".join(chance.sample(pool, length)) for _ in range(count)]


@contextmanager
def indexed(folder: Path, data: Path) -> Iterator[EmbeddedService]:
    """A service that has indexed ``folder``; its strategies have no threshold, so that every search finds as many as it asks for."""
    configuration = _without_thresholds(configuration_for_folder(folder, name=NAME))
    model = QueriesByMiniLm()
    engine = open_engine(configuration, Settings.from_environment(os.environ), data, os.environ, model_of=lambda _: model)
    service = EmbeddedService(engine, Origin(folder=folder, name=NAME), watch=False, log_level="warning")
    try:
        service.start("127.0.0.1", 0)
        wait_for_run(engine, service.runs[NAME])
        time.sleep(_SETTLE_SECONDS)
        yield service
    finally:
        service.stop()
        engine.close()


def wait_for_run(engine: Engine, run_id: str) -> None:
    """Until the run has ended."""
    ledger = engine.knowledge_base(NAME).state.ledger
    while (run := ledger.run(run_id)) is not None and not run.state.final:
        time.sleep(0.05)


def _without_thresholds(configuration: Configuration) -> Configuration:
    (kb,) = configuration.knowledge_bases
    return replace(configuration, knowledge_bases=(replace(kb, strategies=tuple(replace(one, threshold=-1.0) for one in kb.strategies)),))


def searcher(engine: Engine, *, limit: int, executor: ThreadPoolExecutor, vectors: QueryVectors) -> Searcher:
    """The query path of the service, with another limit of its strategies."""
    opened = engine.knowledge_base(NAME)
    target = opened.index_sets.served()
    kb: KnowledgeBase = replace(
        target.knowledge_base, strategies=tuple(replace(one, limit=limit) for one in target.knowledge_base.strategies)
    )
    retrievers = make_retrievers(
        kb,
        vectors=engine.vectors,
        lexical=engine.lexical,
        models=target.models,
        query_vectors=vectors,
        vectors_in_process=True,
        lexical_in_process=True,
    )
    return Searcher(
        kb,
        retrievers,
        opened.state.registry,
        executor=executor,
        clock=engine.clock,
        read_text=opened.source.text_of,
        stat_of=opened.source.stat_of,
    )


@contextmanager
def indexing_goes_on(service: EmbeddedService, folder: Path) -> Iterator[None]:
    """Runs over files of which many have changed, one after another, until the block ends."""
    ended = threading.Event()
    paths = sorted(folder.rglob("*.md"))
    ledger = service.engine.knowledge_base(NAME).state.ledger

    def edit_and_run() -> None:
        chance = random.Random(3)
        for number in cycle(range(1_000_000)):
            for path in paths[number % 2 :: 2]:
                if ended.is_set():
                    return
                path.write_text(f"# Changed {number}\n\n{text_of(chance, VOCABULARY[:200], 100)} {path.stem * 40}\n", encoding="utf-8")
            wait_for_run(service.engine, ledger.start_run()[0].id)

    thread = threading.Thread(target=edit_and_run)
    thread.start()
    while sum(ledger.outstanding()) == 0:
        time.sleep(0.01)
    yield
    ended.set()
    thread.join()
