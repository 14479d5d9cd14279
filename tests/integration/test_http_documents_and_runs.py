"""Knowledge bases, documents and runs over real HTTP."""

import json
import threading
from dataclasses import replace
from urllib.parse import quote

import pytest

from docmill.domain.errors import StoreDown
from docmill.domain.registry import Lane
from docmill.domain.runs import RunState
from docmill.ports.gate import GateState
from docmill_services.query.backend import ProviderGate
from support.http_service import Service, running_service

DOCUMENTS = "/v1/knowledge-bases/library/documents"
RUNS = "/v1/knowledge-bases/library/runs"


def test_an_empty_knowledge_base_says_so(service: Service) -> None:
    assert service.client.get("/v1/knowledge-bases/library").json() == {
        "name": "library",
        "description": "",
        "state": "empty",
        "documents": {"live": 0, "pending": 0, "skipped": 0, "empty": 0, "failed": 0, "quarantined": 0},
        "chunks": {"bm25": 0, "chunked-embeddings": 0},
        "run": None,
        "last_complete_run": None,
        "gate": [],
        "reranking": [],
        "stores": {"words": {"ok": True}, "vectors": {"ok": True}},
        "watching": True,
        "producer": True,
        "index_sets": [{"id": "set1", "role": "served", "documents": {}}],
    }


def test_while_a_set_with_renamed_strategies_is_built_the_chunks_of_the_served_one_are_counted(service: Service) -> None:
    service.library.put("a", "apple\n\npear")
    configured = service.library.settings
    renamed = tuple(replace(strategy, name=f"new-{strategy.name}") for strategy in configured.strategies)
    service.library.settings = replace(configured, strategies=renamed)
    assert service.client.get("/v1/knowledge-bases/library").json()["chunks"] == {"bm25": 2, "chunked-embeddings": 2}


def test_a_knowledge_base_shows_its_documents_run_and_gates(service: Service) -> None:
    service.backend.own_gates.append(ProviderGate("openai/embedder", GateState.CLOSED, 1_800_000_000.0))
    run_id = service.client.post(RUNS).json()["id"]
    assert service.client.get("/v1/knowledge-bases/library").json()["state"] == "indexing"
    service.library.put("a", "apple\n\npear", run_id)
    service.library.put("b", "", run_id)
    service.library.skip("c", "binary: it has NUL bytes")
    service.library.state.ledger.enqueue(["d"], Lane.LIVE)
    service.library.state.ledger.scan_ended(run_id)
    assert service.library.state.ledger.complete(run_id)
    (status,) = service.client.get("/v1/knowledge-bases").json()["knowledge_bases"]
    assert status["state"] == "ready"
    assert status["documents"] == {"live": 1, "pending": 1, "skipped": 1, "empty": 1, "failed": 0, "quarantined": 0}
    assert status["chunks"] == {"bm25": 2, "chunked-embeddings": 2}
    assert (status["run"]["id"], status["run"]["state"]) == (run_id, "complete")
    assert status["run"]["counters"]["indexed"] == 1
    assert status["last_complete_run"] == status["run"]["finished_at"]
    assert status["gate"] == [{"provider": "openai/embedder", "state": "closed", "opens_at": "2027-01-15T08:00:00.000Z"}]


class SilentStore:
    """A store that does not answer."""

    def epoch(self) -> int:
        raise StoreDown("connection refused")


def test_a_store_that_does_not_answer_shows_in_status_and_readiness(service: Service) -> None:
    assert service.client.get("/readyz").json() == {"ready": True, "knowledge_bases": {"library": "ok"}}
    service.backend.own_stores = {"words": service.library.lexical, "vectors": SilentStore()}  # type: ignore[dict-item]  # only epoch is called
    stores = service.client.get("/v1/knowledge-bases/library").json()["stores"]
    assert stores == {"words": {"ok": True}, "vectors": {"ok": False, "detail": "connection refused"}}
    assert service.client.get("/readyz").status_code == 200
    service.backend.own_stores = {"vectors": SilentStore()}  # type: ignore[dict-item]  # only epoch is called
    assert service.client.get("/readyz").status_code == 503
    assert service.client.get("/livez").status_code == 200


def test_pages_of_documents_cover_all_in_order(service: Service) -> None:
    names = sorted(["a/ä.md", "z", "ü", "a", "a#b", "日本.md", "a b"])
    for name in names:
        service.library.put(name, f"text of {name}")
    seen: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        page = service.client.get(DOCUMENTS, params={"limit": 3, "cursor": cursor}).json()
        seen += [document["document_id"] for document in page["documents"]]
        cursor = page["next"]
    assert seen == names


def test_documents_are_listed_by_state(service: Service) -> None:
    service.library.put("a", "apple\n\npear")
    service.library.skip("b", "too_large: 30 MB are more than 20 MB")
    service.library.state.ledger.enqueue(["new", "a"], Lane.BULK)
    assert service.client.get(DOCUMENTS, params={"state": "skipped"}).json() == {
        "documents": [
            {
                "document_id": "b",
                "path": "b",
                "state": "skipped",
                "size_bytes": 0,
                "chunks": 0,
                "reason": "too_large: 30 MB are more than 20 MB",
            }
        ],
        "next": None,
    }
    (live,) = service.client.get(DOCUMENTS, params={"state": "live"}).json()["documents"]
    assert (live["document_id"], live["size_bytes"], live["chunks"]) == ("a", 11, 4)
    waiting = service.client.get(DOCUMENTS, params={"state": "pending", "limit": 1}).json()
    assert [(one["document_id"], one["state"]) for one in waiting["documents"]] == [("a", "pending")]
    rest = service.client.get(DOCUMENTS, params={"state": "pending", "cursor": waiting["next"]}).json()
    assert ([one["document_id"] for one in rest["documents"]], rest["next"]) == (["new"], None)


@pytest.mark.parametrize("name", ["plain.md", "a/b/c.md", "with space", "a#b?c&d", "100%25", "ä/日本.md", "/absolute/path.md"])
def test_a_document_is_read_by_its_id(service: Service, name: str) -> None:
    service.library.put(name, "apple\n\npear")
    document = service.client.get(f"{DOCUMENTS}/{quote(name)}").json()
    assert (document["document_id"], document["text"], document["stale"]) == (name, "apple\n\npear", False)
    assert "items" not in document["strategies"]["bm25"]
    with_chunks = service.client.get(f"{DOCUMENTS}/{quote(name, safe='')}?chunks=true").json()
    bm25 = with_chunks["strategies"]["bm25"]
    assert (bm25["chunks"], [item["text"] for item in bm25["items"]]) == (2, ["apple", "pear"])
    assert bm25["items"][1]["chunk_id"] == f"{name}#1"


@pytest.mark.parametrize("name", ["nope", "../secret", "%2e%2e/secret", "/etc/passwd", ""])
def test_a_document_that_was_never_indexed_is_not_found(service: Service, name: str) -> None:
    service.library.texts["/etc/passwd"] = "root"
    answer = service.client.get(f"{DOCUMENTS}/{name}")
    assert answer.status_code == 404
    assert "root" not in answer.text


def test_a_removed_document_is_not_found(service: Service) -> None:
    service.library.put("a", "apple")
    service.library.remove("a")
    assert service.client.get(f"{DOCUMENTS}/a").json()["code"] == "document.unknown"


def test_a_run_is_started_followed_and_cancelled(service: Service) -> None:
    started = service.client.post(RUNS)
    assert started.status_code == 202
    run = started.json()
    assert started.headers["location"] == f"{RUNS}/{run['id']}"
    assert service.client.post(RUNS).json()["id"] == run["id"], "a run that is going on is returned"
    assert service.client.get(f"{RUNS}/{run['id']}").json() == run
    cancelled = service.client.delete(f"{RUNS}/{run['id']}")
    assert (cancelled.status_code, cancelled.json()["state"]) == (202, "cancelled")
    assert cancelled.json()["finished_at"] is not None


def test_an_unknown_run_is_not_found(service: Service) -> None:
    for answer in (service.client.get(f"{RUNS}/nope"), service.client.delete(f"{RUNS}/nope"), service.client.get(f"{RUNS}/nope/events")):
        assert (answer.status_code, answer.json()["code"]) == (404, "run.unknown")


def test_the_events_of_a_run_end_with_it(service: Service) -> None:
    run_id = service.client.post(RUNS).json()["id"]
    states: list[str] = []
    with service.client.stream("GET", f"{RUNS}/{run_id}/events") as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        for line in stream.iter_lines():
            if line.startswith("data: "):
                states.append(json.loads(line[6:])["state"])
                if len(states) == 1:
                    service.library.state.ledger.end_run(run_id, RunState.FAILED, "/home/x/y: unreadable")
    assert states == ["scanning", "failed"]


def test_a_run_that_leaves_its_provider_alone_says_until_when(service: Service) -> None:
    run_id = service.client.post(RUNS).json()["id"]
    assert "retry_at" not in service.client.get(f"{RUNS}/{run_id}").json()
    service.library.state.ledger.back_off(run_id, 1_800_000_000.0)
    run = service.client.get(f"{RUNS}/{run_id}").json()
    assert (run["state"], run["retry_at"], run["finished_at"]) == ("backing_off", "2027-01-15T08:00:00.000Z", None)
    status = service.client.get("/v1/knowledge-bases/library").json()
    assert (status["state"], status["run"]) == ("backing_off", run)
    assert service.client.post(RUNS).json()["id"] == run_id, "it goes on"


def test_the_events_of_a_run_tell_each_wait_for_a_provider_and_its_end(service: Service) -> None:
    ledger = service.library.state.ledger
    run_id = service.client.post(RUNS).json()["id"]
    steps = [
        lambda: ledger.back_off(run_id, 1_800_000_000.0),
        lambda: ledger.back_off(run_id, 1_800_000_060.0),
        lambda: ledger.back_off(run_id, None),
        lambda: ledger.scan_ended(run_id),
        lambda: ledger.complete(run_id),
    ]
    seen: list[tuple[str, str | None]] = []
    with service.client.stream("GET", f"{RUNS}/{run_id}/events") as stream:
        for line in stream.iter_lines():
            if line.startswith("data: "):
                run = json.loads(line[6:])
                seen.append((run["state"], run.get("retry_at")))
                if steps:
                    steps.pop(0)()
    assert seen == [
        ("scanning", None),
        ("backing_off", "2027-01-15T08:00:00.000Z"),
        ("backing_off", "2027-01-15T08:01:00.000Z"),
        ("scanning", None),
        ("indexing", None),
        ("complete", None),
    ]


def test_a_run_that_waits_for_its_provider_is_cancelled_as_any_other(service: Service) -> None:
    run_id = service.client.post(RUNS).json()["id"]
    service.library.state.ledger.back_off(run_id, 1_800_000_000.0)
    cancelled = service.client.delete(f"{RUNS}/{run_id}").json()
    assert cancelled["state"] == "cancelled"
    assert cancelled["finished_at"] is not None
    assert "retry_at" not in cancelled


def test_a_run_that_has_ended_stays_as_it_is(service: Service) -> None:
    run_id = service.client.post(RUNS).json()["id"]
    service.library.state.ledger.scan_ended(run_id)
    assert service.library.state.ledger.complete(run_id)
    before = service.client.get(f"{RUNS}/{run_id}").json()
    answer = service.client.delete(f"{RUNS}/{run_id}")
    assert (answer.status_code, answer.json()) == (202, before)
    assert before["state"] == "complete"


def test_a_knowledge_base_without_a_producer_says_so(service: Service) -> None:
    service.backend.has_producer = False
    assert service.client.get("/v1/knowledge-bases/library").json()["producer"] is False


def test_open_events_do_not_delay_a_stop() -> None:
    with running_service() as service:
        run_id = service.client.post(RUNS).json()["id"]
        first, over = threading.Event(), threading.Event()

        def follow() -> None:
            with service.client.stream("GET", f"{RUNS}/{run_id}/events") as stream:
                for _ in stream.iter_lines():
                    first.set()
            over.set()

        follower = threading.Thread(target=follow)
        follower.start()
        assert first.wait(10.0)
        assert service.server.stop()
        assert over.wait(10.0), "the stream ends in good order"
        follower.join()
