"""Bad input over real HTTP: one clear problem document, and the service goes on."""

import json
import socket
from collections.abc import Iterator

import httpx
import pytest

from support.http_service import Service, running_service

SEARCH = "/v1/knowledge-bases/library/search"
JSON = {"content-type": "application/json"}


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    with running_service() as running:
        running.library.put("a", "apple pie a/b foo[0] field:value")
        yield running


def assert_problem(answer: httpx.Response, status: int, code: str) -> str:
    """Checks the form of a problem document; returns its detail."""
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
    problem = answer.json()
    assert (problem["status"], problem["code"], problem["type"]) == (status, code, f"urn:docmill:problem:{code}")
    assert problem["request_id"] == answer.headers["x-request-id"]
    assert problem["title"]
    assert "Traceback" not in answer.text
    assert "/" not in problem["detail"].replace("application/json", "").replace("/v1", "").replace("/openapi.json", "")
    return str(problem["detail"])


@pytest.mark.parametrize(
    "query",
    [
        "a/b",
        "foo[0]",
        '"unclosed',
        "AND OR",
        "\\",
        "field:value",
        "*/*",
        "😀",
        "x",
        "the of and",
        "NOT (a OR",
        "~^*{}",
        "a\x00b",
        "../../etc/passwd",
        "<script>",
        "' OR 1=1",
        "word " * 5000,
    ],
)
def test_any_text_is_a_query(service: Service, query: str) -> None:
    assert service.search({"query": query}).status_code == 200


@pytest.mark.parametrize("query", ["", "   ", "\n\t", "\u200b", "\x00"])
def test_a_blank_query_is_refused(service: Service, query: str) -> None:
    assert "empty" in assert_problem(service.search({"query": query}), 422, "query.invalid")


def test_a_query_of_100_kb_is_refused_with_the_bound(service: Service) -> None:
    assert "at most 32768" in assert_problem(service.search({"query": "x" * 100_000}), 422, "query.invalid")


@pytest.mark.parametrize("limit", [0, -1, 1001, 10_001, 10**9, 10**30])
def test_a_limit_out_of_bounds_is_refused(service: Service, limit: int) -> None:
    answer = service.search({"query": "apple", "limit": limit})
    assert "limit" in assert_problem(answer, 422, answer.json()["code"])
    assert answer.json()["code"] in ("query.invalid", "request.invalid")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"query": "x", "limt": 3}, "limt"),
        ({"query": "x", "filter": {"path": "a"}}, "filter.path"),
        ({"query": "x", "limit": "5"}, "limit"),
        ({"query": "x", "limit": 5.5}, "limit"),
        ({"query": "x", "limit": True}, "limit"),
        ({"query": "x", "strategies": "bm25"}, "strategies"),
        ({"query": "x", "strategies": [1]}, "strategies.0"),
        ({"query": ["x"]}, "query"),
        ({"query": None}, "query"),
        ({}, "query"),
        ({"query": "x", "explain": "yes"}, "explain"),
        ({"query": "x", "filter": []}, "filter"),
    ],
)
def test_a_wrong_field_is_named(service: Service, body: object, field: str) -> None:
    answer = service.search(body)
    assert field in assert_problem(answer, 422, "request.invalid")
    assert field in [error["field"] for error in answer.json()["errors"]]


def test_an_unknown_field_says_that_it_is_unknown(service: Service) -> None:
    assert assert_problem(service.search({"query": "x", "top_k": 3}), 422, "request.invalid") == "top_k: unknown field"


@pytest.mark.parametrize("body", [[], "x", 3, None, True, [{"query": "x"}]])
def test_a_body_that_is_no_object_is_refused(service: Service, body: object) -> None:
    answer = service.client.post(SEARCH, content=json.dumps(body), headers=JSON)
    assert "JSON object" in assert_problem(answer, 422, "request.invalid")


@pytest.mark.parametrize(
    "content",
    [
        b"{",
        b"{'query': 1}",
        b'{"query": "x", "limit": NaN}',
        b'{"query": "x", "limit": Infinity}',
        b'{"query": "x", "limit": -Infinity}',
        b'{"query": "\xff\xfe"}',
        b'{"query": "\\ud800"}',
        b"\xff" * 100,
        b'{"query": "x"} trailing',
        b'{"query": ' + b"[" * 100_000,
        b"[" * 50_000 + b"]" * 50_000,
        b'{"a":' * 10_000 + b"1" + b"}" * 10_000,
    ],
    ids=lambda content: repr(content[:40]),
)
def test_what_is_no_json_is_refused(service: Service, content: bytes) -> None:
    assert "not JSON" in assert_problem(service.client.post(SEARCH, content=content, headers=JSON), 400, "request.malformed")


def test_an_infinity_written_as_a_number_is_refused(service: Service) -> None:
    answer = service.client.post(SEARCH, content=b'{"query": "x", "filter": {"metadata": {"a": 1e999}}}', headers=JSON)
    assert_problem(answer, answer.status_code, answer.json()["code"])
    assert answer.status_code in (400, 422)


def test_no_body_is_refused(service: Service) -> None:
    assert "JSON object" in assert_problem(service.client.post(SEARCH), 422, "request.invalid")


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded"])
def test_a_body_that_a_web_page_can_send_unasked_is_refused(service: Service, content_type: str) -> None:
    answer = service.client.post(SEARCH, content=b'{"query": "apple"}', headers={"content-type": content_type})
    assert "application/json" in assert_problem(answer, 422, "request.invalid")


def test_a_body_of_more_than_a_megabyte_is_refused(service: Service) -> None:
    answer = service.client.post(SEARCH, content=b'{"query": "' + b"x" * 1024 * 1024 + b'"}', headers=JSON)
    assert "larger than 1048576 bytes" in assert_problem(answer, 413, "request.too_large")


def test_a_large_body_in_pieces_is_refused(service: Service) -> None:
    pieces = (b" " * 65536 for _ in range(20))
    assert_problem(service.client.post(SEARCH, content=pieces, headers=JSON), 413, "request.too_large")


def test_an_unknown_strategy_is_refused_with_those_that_exist(service: Service) -> None:
    detail = assert_problem(service.search({"query": "x", "strategies": ["bm52"]}), 422, "query.invalid")
    assert "bm25, chunked-embeddings" in detail


def test_an_unknown_knowledge_base_is_not_found(service: Service) -> None:
    assert_problem(service.search({"query": "x"}, kb="nope"), 404, "knowledge_base.unknown")


@pytest.mark.parametrize(
    "path", ["/", "/v1", "/v1/", "/v2/search", "/docs", "/v1/knowledge-bases/", "/%ff", "/v1/knowledge-bases/library/"]
)
def test_an_unknown_path_is_not_found(service: Service, path: str) -> None:
    answer = service.client.get(path)
    assert_problem(answer, 404, answer.json()["code"])


@pytest.mark.parametrize(("method", "path"), [("GET", SEARCH), ("PATCH", "/v1/knowledge-bases"), ("POST", "/livez"), ("TRACE", "/livez")])
def test_another_method_is_refused_with_those_that_work(service: Service, method: str, path: str) -> None:
    answer = service.client.request(method, path)
    assert_problem(answer, 405, "request.method_not_allowed")
    assert answer.headers["allow"]


def test_a_question_without_a_chat_model_is_refused(service: Service) -> None:
    answer = service.client.post("/v1/knowledge-bases/library/answer", json={"question": "what?"})
    assert_problem(answer, 501, "answer.no_model")


def test_reranking_that_is_not_configured_is_refused(service: Service) -> None:
    assert_problem(service.search({"query": "x", "rerank": True}), 422, "query.invalid")


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("PUT", "/v1/knowledge-bases/library/documents/a.md"),
        ("DELETE", "/v1/knowledge-bases/library/documents/a.md"),
    ],
)
def test_later_calls_say_that_they_are_not_available(service: Service, method: str, path: str) -> None:
    assert_problem(service.client.request(method, path), 501, "configuration.not_available")


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8700", "127.0.0.1.evil.example", "192.168.0.1", "[::2]:80", "0.0.0.0", "a@b"]
)
def test_another_host_is_refused(service: Service, host: str) -> None:
    assert_problem(service.client.get("/v1/knowledge-bases", headers={"host": host}), 403, "request.host_refused")


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1", "127.0.0.2:80", "[::1]:8700", "[::1]"])
def test_a_loopback_host_is_accepted(service: Service, host: str) -> None:
    assert service.client.get("/v1/knowledge-bases", headers={"host": host}).status_code == 200


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:1", "http://localhost", "file://"])
def test_a_web_page_of_another_origin_is_refused(service: Service, origin: str) -> None:
    answer = service.client.post(SEARCH, json={"query": "apple"}, headers={"origin": origin})
    assert_problem(answer, 403, "request.origin_refused")
    assert "access-control-allow-origin" not in answer.headers


def test_the_services_own_origin_is_accepted(service: Service) -> None:
    assert service.client.post(SEARCH, json={"query": "apple"}, headers={"origin": service.server.url}).status_code == 200


@pytest.mark.parametrize("request_id", ["a b", "x" * 129, "", "ä".encode(), "<x>"])
def test_a_strange_request_id_is_replaced(service: Service, request_id: str | bytes) -> None:
    answer = service.client.get("/livez", headers={"x-request-id": request_id})
    assert answer.status_code == 200
    assert answer.headers["x-request-id"] not in (request_id, "")


def test_a_request_id_comes_back(service: Service) -> None:
    assert service.client.get("/livez", headers={"x-request-id": "trace-1.2_3"}).headers["x-request-id"] == "trace-1.2_3"


def test_what_is_no_http_is_answered_and_the_service_goes_on(service: Service) -> None:
    with socket.create_connection((service.server.host, service.server.port), timeout=10.0) as connection:
        connection.sendall(b"\x16\x03\x01 hello\r\n\r\n")
        assert connection.recv(1000).startswith(b"HTTP/1.1 400")
    assert service.client.get("/livez").status_code == 200


@pytest.mark.parametrize(
    ("query", "field"),
    [("limit=0", "limit"), ("limit=1001", "limit"), ("limit=x", "limit"), ("state=gone", "state"), ("state=x", "state")],
)
def test_a_wrong_query_parameter_is_named(service: Service, query: str, field: str) -> None:
    answer = service.client.get(f"/v1/knowledge-bases/library/documents?{query}")
    assert field in assert_problem(answer, 422, "request.invalid")


@pytest.mark.parametrize("cursor", ["%00", "!!!", "ä", "_w", "AAAAA"])
def test_a_strange_cursor_is_refused(service: Service, cursor: str) -> None:
    answer = service.client.get("/v1/knowledge-bases/library/documents", params={"cursor": cursor})
    assert "cursor" in assert_problem(answer, 422, "query.invalid")
