"""Removals that wait, over real HTTP."""

from docmill.indexing.held_removals import APPROVED, HELD, HeldRemovals
from docmill.indexing.index_sets import WATCHING
from docmill.indexing.watch_note import polled
from support.http_service import Service

HELD_NOW = HeldRemovals(300, ("docs",), 12, "300 of 400 documents are missing at once", 1_800_000_000.0, "1")
STATUS = "/v1/knowledge-bases/library"


def test_what_waits_is_said_and_can_be_approved(service: Service) -> None:
    registry = service.library.state.registry
    registry.note(HELD, HELD_NOW.as_json())
    registry.note(WATCHING, polled("too few watches"))
    found = service.client.get(STATUS).json()
    assert found["removals_held"] == {"documents": 312, "reason": HELD_NOW.reason, "since": "2027-01-15T08:00:00.000Z"}
    assert found["watching_trouble"] == "too few watches"
    assert service.client.get("/readyz").json() == {"ready": True, "knowledge_bases": {"library": "degraded: too few watches"}}
    answer = service.client.post(f"{STATUS}/approve-removals", json={})
    assert (answer.status_code, answer.json()["documents"]) == (202, 312)
    assert answer.json()["run"]["state"] == "scanning"
    assert HeldRemovals.from_json(registry.noted(APPROVED)) == HELD_NOW


def test_where_nothing_waits_nothing_is_approved(service: Service) -> None:
    assert "removals_held" not in service.client.get(STATUS).json()
    assert service.client.post(f"{STATUS}/approve-removals", json={}).json() == {"documents": 0, "run": None}
    assert service.library.state.registry.noted(APPROVED) is None
