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
from support.fleet_api import Api, part_text
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


@contextmanager
def settled_fleet(
    folder: Path, name: str, *redis_options: str, settings: Mapping[str, str] | None = None
) -> Iterator[tuple[Fleet, Api, list[str]]]:
    """A whole fleet that has indexed version 1 of its documents, with their names."""
    with running_fleet(folder, name, *redis_options, more_settings=settings) as fleet:
        names = write_all(fleet, 1)
        api = fleet.start_all()
        api.wait_until_settled(len(names))
        yield fleet, api, names


def write_all(fleet: Fleet, version: int, count: int = 20) -> list[str]:
    """Saves a version of so many documents of one to four parts; returns their names."""
    names = [f"{number}.md" for number in range(count)]
    for number, name in enumerate(names):
        fleet.write(name, version, 1 + number % 4)
    return names


def assert_clean(fleet: Fleet) -> None:
    """Fails unless the index equals the documents."""
    found = fleet.verify()
    assert (found["ok"], found["findings"]) == (True, [])
