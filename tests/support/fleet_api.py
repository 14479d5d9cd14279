"""What a fleet's query service answers, and a reader that asks it all the while."""

import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import httpx

from support.waiting import wait_until

_SETTLE_SECONDS: Final = 90.0


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

        try:
            wait_until(settled, f"{documents} documents to be live, and nothing pending", seconds, pause_seconds=0.1)
        except AssertionError as error:
            raise AssertionError(f"{error}; it is {self.status()}") from error


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

    def __exit__(self, failure: type[BaseException] | None, *_: object) -> None:
        """Stops; a reader that learned nothing proves nothing."""
        self._stopping.set()
        self._thread.join(60)
        if failure is None:
            assert not self._thread.is_alive(), "a search takes longer than a minute"
            assert self.broken or self.asked > self.unverified, "no search was answered in full"

    def _ask(self) -> None:
        while not self._stopping.is_set():
            for name in self._names:
                if self._stopping.is_set():
                    return
                try:
                    self._check(name)
                except AssertionError as error:
                    self.broken.append(str(error))
                except Exception as error:  # noqa: BLE001  # whatever it is: a thread that ended would break no promise any more
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


def wait_for_versions(api: Api, names: Sequence[str], version: int) -> None:
    """Returns once this version of each document is found; a store may be out until then."""

    def all_there() -> bool:
        try:
            return all(api.version_of(name) == version for name in names)
        except NotAnswered:
            return False

    wait_until(all_there, f"version {version} everywhere", 120, pause_seconds=0.3)
