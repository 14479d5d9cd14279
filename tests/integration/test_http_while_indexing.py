"""Fifty clients ask over HTTP while documents are edited and indexed again: every answer shows whole versions."""

import json
import os
import random
import re
import threading
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from http.client import HTTPConnection
from pathlib import Path
from time import monotonic

import pytest

from docmill.adapters.memory.models import HashEmbeddingModel
from docmill.bootstrap import open_engine
from docmill.config import Settings, configuration_for_folder
from docmill_services.embedded import EmbeddedService
from docmill_services.origin import Origin
from support.waiting import wait_until

CLIENTS = 50
DOCUMENTS = 6
SECONDS_OF_EDITS = 3.0
LINE = re.compile(r"line (\d+) of (\d+) in version (\d+)")


@pytest.fixture
def seed() -> int:
    return int(os.environ.get("DOCMILL_TEST_SEED", random.randrange(1_000_000)))


def text_of(version: int, chance: random.Random) -> str:
    """A document that is several chunks long; each of its lines says which it is, of how many, in which version."""
    lines = chance.randint(40, 160)
    return "".join(f"apple line {number} of {lines} in version {version}, {'x' * 30}\n" for number in range(1, lines + 1))


def save(path: Path, text: str) -> None:
    beside = path.with_suffix(".tmp")
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)


@contextmanager
def serving(folder: Path, data: Path) -> Iterator[tuple[EmbeddedService, int]]:
    """A real service whose searches find every chunk of every document, and its port."""
    configuration = configuration_for_folder(folder, name="notes")
    (kb,) = configuration.knowledge_bases
    strategies = tuple(replace(strategy, threshold=-1.0, limit=200) for strategy in kb.strategies)
    kb = replace(kb, strategies=strategies, results=replace(kb.results, limit=400))
    model = HashEmbeddingModel()
    settings = Settings.from_environment(os.environ)
    engine = open_engine(replace(configuration, knowledge_bases=(kb,)), settings, data, os.environ, model_of=lambda _: model)
    service = EmbeddedService(engine, Origin(folder=folder, name="notes"), watch=False, log_level="error")
    try:
        url = service.start("127.0.0.1", 0)
        assert url is not None
        yield service, int(url.rpartition(":")[2])
    finally:
        service.stop(10.0)
        engine.close()


class Client:
    """Asks over one kept connection and checks each answer against those that it had before."""

    def __init__(self, port: int, seed: int) -> None:
        self.connection = HTTPConnection("127.0.0.1", port, timeout=30)
        self.chance = random.Random(seed)
        self.newest: dict[str, int] = defaultdict(int)
        self.answers = 0

    def ask(self) -> dict[str, int]:
        """The version of each document in an answer, once all of it was found right."""
        strategies = self.chance.choice([["bm25"], ["chunked-embeddings"], ["bm25", "chunked-embeddings"]])
        body = json.dumps({"query": "apple", "strategies": strategies})
        self.connection.request("POST", "/v1/knowledge-bases/notes/search", body, {"content-type": "application/json"})
        response = self.connection.getresponse()
        answer = json.loads(response.read())
        assert (response.status, answer.get("degraded")) == (200, []), answer
        lines: dict[str, set[tuple[str, ...]]] = defaultdict(set)
        for result in answer["results"]:
            lines[result["document_id"]].update(LINE.findall(result["text"]))
        versions = {document_id: whole_version(document_id, found) for document_id, found in lines.items()}
        left_out = DOCUMENTS - len(versions)
        assert left_out <= answer["freshness"]["dropped"], f"{left_out} documents are missing: {answer['freshness']}"
        for document_id, version in versions.items():
            assert version >= self.newest[document_id], f"{document_id} went back from version {self.newest[document_id]} to {version}"
            self.newest[document_id] = version
        self.answers += 1
        return versions


def whole_version(document_id: str, found: set[tuple[str, ...]]) -> int:
    """The one version that the lines are of; all of its lines must be there."""
    versions = {int(version) for _, _, version in found}
    assert len(versions) == 1, f"{document_id} is a mix of versions {sorted(versions)}"
    (count,) = {int(count) for _, count, _ in found}
    missing = set(range(1, count + 1)) - {int(number) for number, _, _ in found}
    assert not missing, f"{document_id} lacks lines {sorted(missing)[:10]} of {count}"
    return versions.pop()


def test_every_answer_holds_whole_versions_while_documents_are_edited(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    folder = tmp_path / "notes"
    folder.mkdir()
    paths = [folder / f"note{number}.txt" for number in range(DOCUMENTS)]
    written = dict.fromkeys((path.name for path in paths), 1)
    for path in paths:
        save(path, text_of(1, chance))
    with serving(folder, tmp_path / "data") as (service, port):
        wait_until(lambda: all(run.state.final for run in service.runs_now().values()), "the first run")
        ledger = service.engine.knowledge_base("notes").state.ledger
        clients = [Client(port, seed + number) for number in range(CLIENTS)]
        edits_ended = threading.Event()

        def ask_until_edits_end(client: Client) -> None:
            while not edits_ended.is_set():
                client.ask()

        with ThreadPoolExecutor(CLIENTS) as pool:
            asking = [pool.submit(ask_until_edits_end, client) for client in clients]
            try:
                deadline = monotonic() + SECONDS_OF_EDITS
                while monotonic() < deadline and not any(one.done() for one in asking):
                    for path in chance.sample(paths, chance.randint(1, DOCUMENTS)):
                        written[path.name] += 1
                        save(path, text_of(written[path.name], chance))
                    run = ledger.start_run()[0].id
                    wait_until(lambda run=run: (found := ledger.run(run)) is None or found.state.final, "a run")  # type: ignore[misc]
            finally:
                edits_ended.set()
            for one in asking:
                one.result()
        assert min(client.answers for client in clients) > 0
        assert max(clients[0].newest.values()) > 1
        wait_until(lambda: clients[0].ask() == written, "the last version of every document")
        for client in clients:
            client.connection.close()
