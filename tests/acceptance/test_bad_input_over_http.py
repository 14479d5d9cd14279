"""Bad input over HTTP on real engines: never a 5xx, never a hang, and nothing outside of the documents is ever shown."""

import http.client
import json
import os
import random
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import pytest

from support.running_docmill import RunningDocmill, write_configuration

SEARCH: Final = "/v1/knowledge-bases/kb/search"
JSON: Final = {"content-type": "application/json"}
SEED: Final = 20261130
#: Values that every field of a body is tried with.
ODD: Final[tuple[Any, ...]] = (
    *(
        "",
        "a/b",
        "**",
        "[",
        "[!",
        "{a,b",
        "\\",
        "\0",
        "😀",
        "e\u0301",
        "\ud800",
        "..",
        "/",
        "%00",
        "%2e%2e",
        "x" * 5000,
        "*" * 500,
        "**/" * 300,
    ),
    *(0, -1, 1, 1000, 1001, 10**400, 1.5, 1e308, True, False, None),
    *([], {}, [""], ["bm25"], ["chunked-embeddings", "bm25"], [["bm25"]], {"a": 1}, {"path_glob": "**"}, {"metadata": {"a": [1]}}),
)


class Answers:
    """A running docmill, and its answers."""

    def __init__(self, running: RunningDocmill) -> None:
        self.port = int(running.url.rpartition(":")[2])

    def ask(self, method: str, path: str, body: str | None = None, headers: dict[str, str] | None = None) -> tuple[int, bytes]:
        """Status and body; the path goes out as it is."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.request(method, path, body, headers or {})
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        if answer.status >= 400:
            assert answer.headers["content-type"] == "application/problem+json"
            assert b"Traceback" not in content
        return answer.status, content

    def search(self, body: object) -> int:
        return self.ask("POST", SEARCH, json.dumps(body), JSON)[0]


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Answers]:
    base = tmp_path_factory.mktemp("http")
    (base / "docs").mkdir()
    (base / "docs" / "a.md").write_text("# Apple\n\napple pie\n", encoding="utf-8")
    (base / "outside.md").write_text("outsideword", encoding="utf-8")
    with RunningDocmill(write_configuration(base / "docmill.yaml", base / "docs"), base / "data") as running:
        running.wait_until_found("apple", ["docs/a.md"])
        yield Answers(running)
        assert running.found("apple") == ["docs/a.md"]
        assert "Traceback" not in running.said
        assert running.stop() == 4


@pytest.mark.parametrize("path", [SEARCH, "/v1/search"])
def test_no_body_makes_the_service_fail(answers: Answers, path: str) -> None:
    chosen = random.Random(SEED)
    statuses = set()
    for _ in range(500):
        body = {"query": "apple"} | {
            field: chosen.choice(ODD)
            for field in ("query", "limit", "strategies", "include_score", "return_full_content", "explain", "knowledge_bases", "other")
            if chosen.random() < 0.2
        }
        if chosen.random() < 0.6:
            fields = ("path_glob", "path_prefix", "language", "mime", "metadata")
            body["filter"] = {field: chosen.choice(ODD) for field in fields if chosen.random() < 0.3}
        status, content = answers.ask("POST", path, json.dumps(body), JSON)
        statuses.add(status)
        assert status in (200, 400, 404, 422), (body, content)
    assert 200 in statuses


@pytest.mark.parametrize(
    "document_id",
    [
        *("../outside.md", "..%2foutside.md", "%2e%2e/outside.md", "docs/../../outside.md", "docs%2f..%2foutside.md", "outside.md"),
        *("/etc/passwd", "%2fetc%2fpasswd", "..%2f..%2f..%2f..%2f..%2fetc%2fpasswd", "~root/.profile", "docmill.yaml"),
        *("data/origin.json", "data/format.json", "docs//a.md", "./docs/a.md", "docs/a.md/", "docs/a.md%00", "docs/A.md", "docs%5ca.md"),
        *("%00", "%ff", "%25", "%ED%A0%80", "a%0d%0aX: y", "docs/a.md;x", "x" * 5000),
    ],
)
def test_only_documents_are_read(answers: Answers, document_id: str) -> None:
    quoted = document_id.replace(" ", "%20")
    status, content = answers.ask("GET", f"/v1/knowledge-bases/kb/documents/{quoted}?chunks=true")
    assert status == 404
    assert b"outsideword" not in content
    assert b"root:" not in content


@pytest.mark.parametrize(
    ("parameters", "status"),
    [
        ("cursor=", 200),
        ("cursor=ZG9jcy9hLm1k", 200),
        ("cursor=x", 422),
        ("cursor=%00", 422),
        ("cursor=_____w", 422),
        ("limit=0", 422),
        ("limit=1e3", 422),
        ("limit=", 422),
        ("limit=99999999999999999999", 422),
        ("state=", 422),
        ("state=gone", 422),
    ],
)
def test_pages_are_asked_for_rightly_or_refused(answers: Answers, parameters: str, status: int) -> None:
    assert answers.ask("GET", f"/v1/knowledge-bases/kb/documents?{parameters}")[0] == status


def test_clients_that_hang_up_hinder_nobody(answers: Answers) -> None:
    body = json.dumps({"query": "apple pie"}).encode()
    head = f"POST {SEARCH} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    sent = (head + body, head + body[:10], head[:40], b"GET /v1/knowledge-bases/kb/runs/1-1/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
    before = len(os.listdir("/proc/self/fd"))
    hanging = []
    for number in range(200):
        connection = socket.create_connection(("127.0.0.1", answers.port), timeout=10)
        connection.sendall(sent[number % 4])
        if number % 3:
            connection.close()
        else:
            hanging.append(connection)
    with ThreadPoolExecutor(50) as threads:
        statuses = list(threads.map(lambda _: answers.search({"query": "apple"}), range(200)))
    for connection in hanging:
        connection.close()
    assert set(statuses) == {200}
    assert len(os.listdir("/proc/self/fd")) <= before + 1


def test_many_words_and_long_words_are_answered(answers: Answers) -> None:
    for query in (" ".join(f"word{number}" for number in range(5000))[:32_000], "x" * 32_000, "\u200f\u202e" + "א" * 100, "\u0301" * 5000):
        assert answers.search({"query": query}) == 200
    assert answers.search({"query": "x" * 100_000}) == 422
