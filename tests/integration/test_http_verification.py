"""Verification over real HTTP, and the command beside a service."""

import json
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread

import httpx
import pytest

from docmill.adapters.embedded.data_folder import DataFolder
from docmill.domain.errors import RootUnavailable
from docmill.domain.verification import Finding, FindingKind, Verification
from docmill_services.cli.verify_command import verify
from support.http_service import Service
from support.running_docmill import write_configuration

VERIFY = "/v1/knowledge-bases/library/verify"
STALE = Finding(FindingKind.STALE, "a.md", "registry", "its source has another content than what is live")
DOWN = Finding(FindingKind.STORE, None, "lexical", "store.down: connection refused")


def test_the_result_is_returned_as_it_is(service: Service) -> None:
    assert service.client.post(VERIFY, json={}).json() == {"ok": True, "documents": 0, "findings": [], "pending": 0}
    service.backend.own_verification = Verification(3, (STALE,), 2)
    assert service.client.post(VERIFY, json={"repair": True}).json() == {
        "ok": False,
        "documents": 3,
        "findings": [{"kind": "stale", "document_id": "a.md", "store": "registry", "detail": STALE.detail}],
        "pending": 2,
    }
    assert service.backend.repairs == [False, True]


def test_what_cannot_be_compared_is_a_problem(service: Service) -> None:
    def fail(*, repair: bool) -> Verification:
        raise RootUnavailable("/mnt/docs cannot be read; its documents are kept")

    service.backend.verify = fail  # type: ignore[method-assign]
    answer = service.client.post(VERIFY, json={})
    assert (answer.status_code, answer.json()["code"]) == (503, "root.unavailable")


@pytest.mark.parametrize("body", [{"repair": "yes"}, {"mend": True}, []])
def test_a_body_that_asks_for_something_else_is_refused(service: Service, body: object) -> None:
    assert service.client.post(VERIFY, json=body).status_code == 422
    assert service.backend.repairs == []


def test_one_knowledge_base_is_verified_once_at_a_time(service: Service) -> None:
    begun, may_end = Event(), Event()

    def slow(*, repair: bool) -> Verification:
        begun.set()
        assert may_end.wait(20)
        return Verification(1)

    service.backend.verify = slow  # type: ignore[method-assign]
    answers: list[httpx.Response] = []
    first = Thread(target=lambda: answers.append(service.client.post(VERIFY, json={})))
    first.start()
    assert begun.wait(20)
    try:
        second = service.client.post(VERIFY, json={})
    finally:
        may_end.set()
        first.join(20)
    assert (second.status_code, second.json()["code"]) == (503, "server.busy")
    assert answers[0].json()["ok"] is True
    assert service.client.post(VERIFY, json={}).status_code == 200


@pytest.fixture
def beside_the_service(tmp_path: Path, service: Service) -> Iterator[tuple[Path, Path]]:
    """A configuration, and a data folder whose holder answers at the service's address."""
    (tmp_path / "docs").mkdir()
    configuration = write_configuration(tmp_path / "docmill.yaml", tmp_path / "docs", name="library")
    with DataFolder.open(tmp_path / "data") as data_folder:
        data_folder.announce(service.server.url)
        yield configuration, data_folder.path


def test_the_command_asks_the_process_that_holds_the_data_folder(
    service: Service, beside_the_service: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    config, data_dir = beside_the_service
    assert verify(config=config, data_dir=data_dir, as_json=True) == 0
    assert json.loads(capsys.readouterr().out) == {"ok": True, "documents": 0, "findings": [], "pending": 0}
    service.backend.own_verification = Verification(3, (STALE,), 1)
    assert verify(repair=True, config=config, data_dir=data_dir) == 1
    shown = capsys.readouterr()
    assert shown.out.startswith("stale   a.md: its source has another content")
    assert "1 documents are still being worked on" in shown.err
    service.backend.own_verification = Verification(3, (DOWN, STALE))
    assert verify(config=config, data_dir=data_dir) == 3
    assert service.backend.repairs == [False, True, False]
