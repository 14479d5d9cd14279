"""A fleet of docmill processes on real servers, as several hosts would run it: a producer, workers, a query service."""

import json
import os
import re
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx
import redis

from support.elasticsearch_server import elasticsearch_url
from support.qdrant_server import QdrantServer, qdrant_server_process
from support.redis_server import RedisServer, free_port, running_redis
from support.running_docmill import PROGRAM, START_SECONDS, STOP_SECONDS, docmill, environment
from support.waiting import wait_until

#: Times short enough for tests: what takes half a minute in production takes seconds here.
QUICK_TIMES: Final = {
    "DOCMILL_LEASE_SECONDS": "3",
    "DOCMILL_LEASE_RENEWAL_SECONDS": "0.5",
    "DOCMILL_GRACE_SECONDS": "4",
    "DOCMILL_GROUP_COMMIT_SECONDS": "0.2",
    "DOCMILL_STORE_TIMEOUT_SECONDS": "5",
}
_SETTLE_SECONDS: Final = 90.0
_CONFIGURATION: Final = """
rag:
  {name}:
    docs: [{docs}]
    strategies:
      - {{type: chunked-embeddings, embedding_model: local/wordllama-256, threshold: 0.0, limit: 50, chunking: {{size: 300, overlap: 0}}}}
      - {{type: bm25, limit: 50, chunking: {{size: 300, overlap: 0}}}}
    results: {{limit: 50}}
"""


class Member:
    """One docmill process of the fleet."""

    def __init__(self, verb: str, arguments: list[str], settings: Mapping[str, str]) -> None:
        """Starts it."""
        self.verb = verb
        self._said: list[str] = []
        self.process = subprocess.Popen(
            [str(PROGRAM), verb, *arguments],
            env=environment(settings),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def said(self) -> str:
        """What it printed so far."""
        return "".join(self._said)

    def wait_until_it_says(self, pattern: str) -> str:
        """The first match's first group, or the match."""

        def said() -> bool:
            assert self.process.poll() is None, f"docmill {self.verb} ended with {self.process.returncode}:\n{self.said}"
            return re.search(pattern, self.said) is not None

        wait_until(said, f"docmill {self.verb} to say {pattern!r}", START_SECONDS, pause_seconds=0.05)
        found = re.search(pattern, self.said)
        assert found is not None
        return found.group(1) if found.groups() else found.group()

    def health(self) -> httpx.Response:
        """What it answers to who asks whether it is well."""
        return httpx.get(self.wait_until_it_says(r"(http://\S+/livez)"), timeout=30)

    def kill(self) -> None:
        """kill -9, with its children."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(STOP_SECONDS)

    def pause(self) -> None:
        """Holds it still."""
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        """Lets it move again."""
        self.process.send_signal(signal.SIGCONT)

    def stop(self, seconds: float = 20.0) -> int:
        """SIGTERM; its exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(seconds)

    def _read(self) -> None:
        assert self.process.stderr is not None
        with self.process.stderr as stream:
            for line in stream:
                self._said.append(line)


@dataclass
class Fleet:
    """Servers, documents, and the docmill processes that were started on them."""

    folder: Path
    name: str
    redis: RedisServer
    redis_url: str
    qdrant: QdrantServer
    elasticsearch_url: str
    more_settings: dict[str, str] = field(default_factory=dict)
    members: list[Member] = field(default_factory=list)

    @property
    def documents(self) -> Path:
        """The folder that is indexed."""
        return self.folder / "documents"

    @property
    def configuration(self) -> Path:
        """The configuration file of all processes."""
        return self.folder / "docmill.yaml"

    @property
    def settings(self) -> dict[str, str]:
        """The environment of all processes."""
        servers = {
            "DOCMILL_REDIS_URL": self.redis_url,
            "DOCMILL_QDRANT_URL": self.qdrant.url,
            "DOCMILL_ELASTICSEARCH_URL": self.elasticsearch_url,
        }
        return QUICK_TIMES | servers | self.more_settings

    def start(self, verb: str, *arguments: str, settings: Mapping[str, str] | None = None) -> Member:
        """Starts ``producer``, ``worker`` or ``api`` on free ports."""
        port = ["--port", "0"] if verb == "api" else ["--health-port", "0"]
        member = Member(verb, ["--config", str(self.configuration), *port, *arguments], self.settings | dict(settings or {}))
        self.members.append(member)
        return member

    def start_all(self, workers: int = 2) -> "Api":
        """A producer, workers and a query service, which is returned once it answers."""
        self.start("producer")
        for _ in range(workers):
            self.start("worker", "--threads", "2")
        return self.start_api()

    def start_api(self) -> "Api":
        """A query service that answers."""
        member = self.start("api")
        return Api(member.wait_until_it_says(r"answers at (http://\S+);"), self.name)

    def write(self, name: str, version: int, parts: int) -> None:
        """Saves a version of a document, as editors do: every part names the document, the version, itself and how many there are."""
        path = self.documents / name
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_name(f".{path.name}.tmp")
        beside.write_text("\n\n".join(part_text(name, version, part, parts) for part in range(1, parts + 1)))
        beside.replace(path)

    def verify(self, *arguments: str) -> dict[str, Any]:
        """What ``docmill verify --json`` prints."""
        command = ("verify", "--json", "--config", self.configuration, *arguments)
        found = docmill(*command, settings=self.settings, cwd=self.folder, seconds=120)
        assert found.returncode in (0, 1), found.stderr
        answer: dict[str, Any] = json.loads(found.stdout)
        return answer

    def close(self) -> None:
        """Ends what is left."""
        for member in self.members:
            if member.process.poll() is None:
                member.go_on()
                member.kill()

    def said(self) -> str:
        """What all processes printed, for a failure."""
        return "\n".join(f"--- docmill {member.verb} ({member.process.pid}):\n{member.said[-6000:]}" for member in self.members)


class NotAnswered(AssertionError):
    """A search was answered with a problem."""


@dataclass(frozen=True)
class Api:
    """The query service over HTTP."""

    url: str
    kb: str

    def search(self, query: str) -> dict[str, Any]:
        """What a search by words answers."""
        body = {"query": query, "strategies": ["bm25"], "limit": 50}
        response = httpx.post(f"{self.url}/v1/knowledge-bases/{self.kb}/search", json=body, timeout=30)
        if not response.is_success:
            raise NotAnswered(response.text)
        answer: dict[str, Any] = response.json()
        return answer

    def status(self) -> dict[str, Any]:
        """How the knowledge base stands."""
        response = httpx.get(f"{self.url}/v1/knowledge-bases/{self.kb}", timeout=30)
        assert response.is_success, response.text
        answer: dict[str, Any] = response.json()
        return answer

    def version_of(self, name: str) -> int | None:
        """The version of a document that is found, whole; None when there is none."""
        return whole_version(name, self.search(word_of(name))["results"])

    def wait_until_settled(self, documents: int, seconds: float = _SETTLE_SECONDS) -> None:
        """Returns when a run is complete, nothing is pending, and so many documents are live."""

        def settled() -> bool:
            status = self.status()
            run = status["run"]
            ended = run is not None and run["finished_at"] is not None
            counts = status["documents"]
            return ended and counts["pending"] == 0 and counts["live"] == documents

        wait_until(settled, f"{documents} documents to be live, and nothing pending", seconds, pause_seconds=0.1)


def word_of(name: str) -> str:
    """The word that only this document has: consonants, of which no stemmer makes another document's."""
    return "ident" + "".join("bkfghmnpqr"[int(digit)] for digit in re.sub(r"\D", "", name)) + "z"


def part_text(name: str, version: int, part: int, parts: int) -> str:
    """About 250 characters, so that each part is a chunk of its own."""
    marks = f"{word_of(name)} version{version}x part{part}x of{parts}x"
    return marks + " lorem ipsum dolor sit amet" * ((250 - len(marks)) // 27)


def whole_version(name: str, results: list[dict[str, Any]]) -> int | None:
    """The version that the results show; fails on a mix, a part missing or a part twice."""
    texts = [result["text"] for result in results]
    if not texts:
        return None
    found = [re.search(r"version(\d+)x part(\d+)x of(\d+)x", text) for text in texts]
    marks = [tuple(map(int, one.groups())) for one in found if one is not None]
    versions = {version for version, _, _ in marks}
    assert len(versions) == 1, f"{name}: versions {versions} at once"
    parts = sorted(part for _, part, _ in marks)
    assert parts == list(range(1, marks[0][2] + 1)), f"{name}: version {versions} shows parts {parts} of {marks[0][2]}"
    return versions.pop()


class Reader:
    """Asks for known documents all the while, and notes every answer that breaks the promise."""

    def __init__(self, api: Api, names: list[str], *, may_go_back: bool = False, may_fail: bool = False) -> None:
        """Asks for nothing yet.

        Args:
            api: the query service.
            names: documents that exist, and are live, from now until the end.
            may_go_back: whether an older version, whole, may follow a newer one: when the registry itself is set back.
            may_fail: whether a query may find no store that answers.
        """
        self._may_go_back = may_go_back
        self._may_fail = may_fail
        self._api = api
        self._names = names
        self._seen: dict[str, int] = {}
        self._stopping = threading.Event()
        self.asked = 0
        self.unverified = 0
        self.broken: list[str] = []
        self._thread = threading.Thread(target=self._ask, daemon=True)

    def __enter__(self) -> "Reader":
        """Starts asking."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stops."""
        self._stopping.set()
        self._thread.join(60)

    def _ask(self) -> None:
        while not self._stopping.is_set():
            for name in self._names:
                if self._stopping.is_set():
                    return
                try:
                    self._check(name)
                except AssertionError as error:
                    self.broken.append(str(error))
                except httpx.HTTPError as error:
                    self.broken.append(f"{name}: {type(error).__name__}: {error}")

    def _check(self, name: str) -> None:
        try:
            answer = self._api.search(word_of(name))
        except NotAnswered:
            if not self._may_fail:
                raise
            return
        self.asked += 1
        if answer["freshness"].get("unverified"):
            self.unverified += 1
            return  # outside the promise
        version = whole_version(name, answer["results"])
        assert version is not None, f"{name}: nothing found; {answer['freshness']} {answer['degraded']}"
        assert self._may_go_back or version >= self._seen.get(name, 0), f"{name}: version {version} after {self._seen[name]}"
        self._seen[name] = version


@contextmanager
def running_fleet(folder: Path, name: str, *redis_options: str, more_settings: Mapping[str, str] | None = None) -> Iterator[Fleet]:
    """Servers and an empty folder of documents; everything is ended afterwards."""
    port = free_port()
    client = redis.Redis(host="127.0.0.1", port=port)
    options = ("--port", str(port), "--bind", "127.0.0.1", *(redis_options or ("--appendonly", "yes", "--appendfsync", "always")))
    with running_redis(*options, client=client) as server, qdrant_server_process(folder / "qdrant") as qdrant:
        fleet = Fleet(folder, name, server, f"redis://127.0.0.1:{port}/0", qdrant, elasticsearch_url(), dict(more_settings or {}))
        fleet.documents.mkdir()
        fleet.configuration.write_text(_CONFIGURATION.format(name=name, docs=json.dumps(str(fleet.documents))))
        try:
            yield fleet
        finally:
            fleet.close()
            print(fleet.said())  # noqa: T201  # shown with a failure
