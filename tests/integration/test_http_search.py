"""Searches over real HTTP."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from docmill.domain.errors import AllStrategiesFailed, StoreDown
from docmill.domain.registry import Lane, Position
from docmill.domain.searching import SearchOutcome, SearchRequest
from support.http_service import LibraryBackend, Service, running_service
from support.library import Library


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    with running_service() as running:
        running.library.put("docs/pie.md", "apple pie\n\nbanana split")
        running.library.put("tart.md", "apple tart")
        yield running


def test_a_search_has_the_documented_shape(service: Service) -> None:
    answer = service.search({"query": "apple pie"}).json()
    assert set(answer) == {"results", "degraded", "reranked", "freshness", "took_ms"}
    first = answer["results"][0]
    assert first == {
        "rank": 1,
        "document_id": "docs/pie.md",
        "chunk_id": "docs/pie.md#0",
        "path": "docs/pie.md",
        "title": "docs/pie.md",
        "headings": [],
        "text": "apple pie",
        "start_line": 1,
        "end_line": 1,
        "metadata": {},
        "stale": False,
    }
    assert answer["freshness"] == {
        "index_set": "set1",
        "commit": 2,
        "last_complete_run": None,
        "pending": 0,
        "dropped": 0,
        "unverified": False,
    }
    assert (answer["degraded"], answer["reranked"]) == ([], False)
    assert [result["rank"] for result in answer["results"]] == list(range(1, len(answer["results"]) + 1))


def test_scores_and_places_come_when_they_are_asked_for(service: Service) -> None:
    first = service.search({"query": "apple pie", "include_score": True, "explain": True}).json()["results"][0]
    assert first["score"] == pytest.approx(1 / 61 + 1 / 61)
    assert {name: trace["rank"] for name, trace in first["strategies"].items()} == {"bm25": 1, "chunked-embeddings": 1}
    assert first["score"] == pytest.approx(sum(trace["contribution"] for trace in first["strategies"].values()))


def test_every_chunk_comes_once(service: Service) -> None:
    results = service.search({"query": "apple"}).json()["results"]
    assert len({result["chunk_id"] for result in results}) == len(results)


def test_limits_strategies_and_filters_are_followed(service: Service) -> None:
    assert len(service.search({"query": "apple", "limit": 1}).json()["results"]) == 1
    by_words = service.search({"query": "banana", "strategies": ["bm25"]}).json()["results"]
    assert [result["chunk_id"] for result in by_words] == ["docs/pie.md#1"]
    inside = service.search({"query": "apple", "filter": {"path_prefix": "docs/", "metadata": {}}}).json()["results"]
    assert {result["document_id"] for result in inside} == {"docs/pie.md"}
    assert service.search({"query": "apple", "filter": {"metadata": {"author": "nobody"}}}).json()["results"] == []


def test_full_content_is_the_whole_document(service: Service) -> None:
    results = service.search({"query": "apple", "return_full_content": True}).json()["results"]
    assert {result["document_id"]: result["text"] for result in results} == service.library.texts


def test_null_is_as_if_it_were_left_out(service: Service) -> None:
    body = {"query": "apple", "limit": None, "strategies": None, "filter": None, "rerank": None, "explain": None}
    assert service.search(body).status_code == 200


def test_a_changed_file_is_stale() -> None:
    with running_service() as service:
        service.library.put("a", "apple")
        service.library.stats["a"] = "touched"
        assert [result["stale"] for result in service.search({"query": "apple"}).json()["results"]] == [True]


def test_pending_documents_are_counted() -> None:
    with running_service() as service:
        service.library.state.ledger.enqueue(["a", "b"], Lane.BULK)
        assert service.search({"query": "apple"}).json()["freshness"]["pending"] == 2


def test_a_store_that_does_not_answer_degrades_the_search() -> None:
    with running_service() as service:
        service.library.put("a", "apple")
        service.library.vectors.drop(service.library.index_of(service.library.strategies[1]))
        answer = service.search({"query": "apple"})
        assert answer.status_code == 200
        (degraded,) = answer.json()["degraded"]
        assert (degraded["strategy"], degraded["code"]) == ("chunked-embeddings", "store.rejected")
        service.library.lexical.drop(service.library.index_of(service.library.strategies[0]))
        problem = service.search({"query": "apple"})
        assert (problem.status_code, problem.json()["code"]) == (503, "search.all_strategies_failed")


class SilentRegistry:
    """A registry that does not answer, with a path in its message."""

    def position(self) -> Position:
        raise StoreDown("/home/somebody/.docmill/state.sock does not answer")


def test_a_message_names_no_folder_of_the_machine() -> None:
    with running_service() as service:
        service.backend.own_registry = SilentRegistry()  # type: ignore[assignment]  # only position is called
        problem = service.client.get("/v1/knowledge-bases/library")
        assert (problem.status_code, problem.json()["code"]) == (503, "store.down")
        assert problem.json()["detail"] == "…/state.sock does not answer"


class Failing:
    """A searcher that has a defect."""

    can_do_without_registry = False

    def search(self, request: SearchRequest) -> SearchOutcome:
        raise RuntimeError("secret /etc/passwd detail")


def test_a_defect_is_a_problem_without_its_details() -> None:
    with running_service() as service:
        service.backend.searcher = Failing()
        problem = service.search({"query": "apple"})
        assert (problem.status_code, problem.json()["code"]) == (500, "internal")
        assert "secret" not in problem.text
        assert problem.json()["request_id"] == problem.headers["x-request-id"]
        assert service.client.get("/livez").status_code == 200


class Refusing(Failing):
    """A searcher without a working strategy."""

    def search(self, request: SearchRequest) -> SearchOutcome:
        raise AllStrategiesFailed("bm25: down")


def test_several_knowledge_bases_take_turns_and_a_failing_one_is_named() -> None:
    with running_service() as service:
        other = Library(name="other")
        service.knowledge_bases["other"] = LibraryBackend(other)
        service.library.put("a", "apple one\n\napple two")
        other.put("b", "apple three")
        answer = service.client.post("/v1/search", json={"query": "apple", "strategies": ["bm25"]}).json()
        assert [result["knowledge_base"] for result in answer["results"]] == ["library", "other", "library"]
        assert [result["rank"] for result in answer["results"]] == [1, 2, 3]
        assert set(answer["freshness"]) == {"library", "other"}

        service.knowledge_bases["other"].searcher = Refusing()
        answer = service.client.post("/v1/search", json={"query": "apple", "knowledge_bases": ["other", "library", "other"]}).json()
        assert {result["knowledge_base"] for result in answer["results"]} == {"library"}
        assert [(one["knowledge_base"], one["code"]) for one in answer["degraded"]] == [("other", "search.all_strategies_failed")]

        problem = service.client.post("/v1/search", json={"query": "apple", "knowledge_bases": ["other"]})
        assert (problem.status_code, problem.json()["code"]) == (503, "search.all_strategies_failed")
        unknown = service.client.post("/v1/search", json={"query": "apple", "knowledge_bases": ["nope"]})
        assert (unknown.status_code, unknown.json()["code"]) == (404, "knowledge_base.unknown")
        other.close()


def test_searches_are_counted_and_timed(service: Service) -> None:
    service.search({"query": "apple"})
    text = service.client.get("/metrics").text
    assert 'docmill_documents{knowledge_base="library",state="live"} 2.0' in text
    assert 'docmill_search_seconds_count{knowledge_base="library"}' in text
    assert 'docmill_http_requests_total{method="POST",route="/v1/knowledge-bases/{kb}/search",status="200"}' in text


class Hanging(Failing):
    """A searcher that answers when it is released."""

    def __init__(self) -> None:
        self.asked, self.released = threading.Event(), threading.Event()

    def search(self, request: SearchRequest) -> SearchOutcome:
        self.asked.set()
        self.released.wait(30.0)
        raise AllStrategiesFailed("released")


def test_a_search_under_way_is_answered_when_the_service_stops() -> None:
    with running_service() as service:
        hanging = Hanging()
        service.backend.searcher = hanging
        with ThreadPoolExecutor(1) as executor:
            answer = executor.submit(service.search, {"query": "apple"})
            assert hanging.asked.wait(10.0)
            assert service.server.stop()
            assert (answer.result(10.0).status_code, answer.result().json()["code"]) == (503, "server.stopping")
        hanging.released.set()
