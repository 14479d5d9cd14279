"""Failed and quarantined documents are tried again over real HTTP."""

from collections.abc import Iterator

import pytest

from docmill.domain.registry import CRASHES_TO_QUARANTINE, DocumentState
from support.http_service import Service, running_service

RETRY = "/v1/knowledge-bases/library/retry"
REASON = "quarantined: it ended its process"


@pytest.fixture
def service() -> Iterator[Service]:
    with running_service() as running:
        running.library.put("live", "apple")
        running.library.state.ledger.finish(running.library.begin("failed"), failed="provider: no answer", stat="1")
        quarantine(running, "quarantined")
        yield running


def quarantine(service: Service, document_id: str) -> None:
    ledger = service.library.state.ledger
    message = None
    for _ in range(CRASHES_TO_QUARANTINE):
        attempt = ledger.begin(message, 30.0) if message is not None else service.library.begin(document_id)
        assert attempt is not None
        message = ledger.crashed(attempt, "f1", stat="1", reason=REASON).next_message
    assert service.library.state.registry.counts(service.library.index_set)[0][DocumentState.QUARANTINED] == 1


def waiting(service: Service) -> list[str]:
    return [message.document_id for message in service.library.state.ledger.oldest_waiting(9)]


def test_a_quarantined_document_is_counted_listed_and_shown_with_its_reason(service: Service) -> None:
    counts = service.client.get("/v1/knowledge-bases/library").json()["documents"]
    assert (counts["live"], counts["failed"], counts["quarantined"]) == (1, 1, 1)
    (listed,) = service.client.get("/v1/knowledge-bases/library/documents?state=quarantined").json()["documents"]
    shown = service.client.get("/v1/knowledge-bases/library/documents/quarantined").json()
    assert (listed["state"], listed["reason"], shown["state"], shown["reason"]) == ("quarantined", REASON, "quarantined", REASON)


def test_all_are_tried_again_by_a_run(service: Service) -> None:
    response = service.client.post(RETRY, json={})
    assert response.status_code == 202
    reply = response.json()
    assert (reply["documents"], reply["run"]["state"]) == (2, "scanning")
    assert waiting(service) == []
    assert service.library.state.registry.stats(service.library.index_set, ["failed", "quarantined"]) == [None, None]
    assert service.client.get("/v1/knowledge-bases/library").json()["documents"]["quarantined"] == 0


def test_named_ones_are_planned_at_once(service: Service) -> None:
    reply = service.client.post(RETRY, json={"document_ids": ["quarantined", "live", "quarantined"]}).json()
    assert reply == {"documents": 1, "run": None}
    assert waiting(service) == ["quarantined"]


def test_nothing_to_try_again_starts_no_run() -> None:
    with running_service() as service:
        assert service.client.post(RETRY, json={}).json() == {"documents": 0, "run": None}
        service.library.put("live", "apple")
        assert service.client.post(RETRY, json={}).json() == {"documents": 0, "run": None}
        assert service.library.state.ledger.current_run() is None


def test_a_document_that_is_not_known_is_named(service: Service) -> None:
    service.library.remove("live")
    for unknown in ("other", "live", "", "a\nb"):
        response = service.client.post(RETRY, json={"document_ids": ["failed", unknown]})
        assert (response.status_code, response.json()["code"]) == (404, "document.unknown")
    assert waiting(service) == []


@pytest.mark.parametrize("body", [{"document_ids": []}, {"document_ids": [1]}, {"documents": ["a"]}, []])
def test_a_body_that_cannot_be_meant_is_refused(service: Service, body: object) -> None:
    response = service.client.post(RETRY, json=body)
    assert (response.status_code, response.json()["code"]) == (422, "request.invalid")
