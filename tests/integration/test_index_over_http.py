"""``docmill index`` and ``status`` beside a service: asking for runs, following, leaving and ending them; listing files."""

import json
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from docmill.domain.errors import ServiceDown, StateLost, UsageError
from docmill.domain.runs import Run, RunState
from docmill_services.cli import index_over_http as module
from docmill_services.cli.api import Api
from docmill_services.cli.index_command import index
from docmill_services.cli.index_over_http import index_over_http, run_of
from docmill_services.cli.progress import has_ended_or_backs_off
from docmill_services.cli.status_command import ListedState, documents_in, status
from docmill_services.query.render import run_reply
from support.failing import Failing
from support.http_service import Service
from support.running_docmill import write_configuration
from support.waiting import wait_until


@pytest.fixture
def configuration(tmp_path: Path) -> Path:
    (tmp_path / "docs").mkdir()
    return write_configuration(tmp_path / "docmill.yaml", tmp_path / "docs", name="library")


def started(service: Service) -> Run:
    """The run that was asked for, once it is there."""
    ledger = service.library.state.ledger
    wait_until(lambda: ledger.current_run() is not None, "a run to be asked for", 10)
    run = ledger.current_run()
    assert run is not None
    return run


class Following:
    """``index_over_http`` in a thread."""

    def __init__(self, service: Service, *, no_wait: bool = False) -> None:
        self.stopping = threading.Event()
        self.runs: dict[str, Run] = {}
        self.error: Exception | None = None

        def follow() -> None:
            more = {"is_over": has_ended_or_backs_off} if no_wait else {}
            try:
                self.runs = dict(index_over_http(Api(service.client), ["library"], self.stopping, **more))
            except ServiceDown as error:
                self.error = error

        self._thread = threading.Thread(target=follow)
        self._thread.start()

    def end(self) -> dict[str, Run]:
        self._thread.join(20)
        assert not self._thread.is_alive()
        return self.runs


def test_a_run_is_asked_for_and_followed_to_its_end(service: Service) -> None:
    following = Following(service)
    run = started(service)
    service.library.state.ledger.back_off(run.id, 1_800_000_000.0)
    service.library.state.ledger.back_off(run.id, None)
    service.library.state.ledger.scan_ended(run.id)
    assert service.library.state.ledger.complete(run.id)
    assert following.end()["library"].state is RunState.COMPLETE


def test_who_does_not_want_to_wait_leaves_the_run_to_itself(service: Service) -> None:
    following = Following(service, no_wait=True)
    run = started(service)
    retry_at = round(time.time()) + 3600.0
    service.library.state.ledger.back_off(run.id, retry_at)
    left = following.end()["library"]
    assert (left.state, left.retry_at) == (RunState.BACKING_OFF, retry_at)
    assert service.library.state.ledger.current_run() == left


def test_a_stop_leaves_the_run_going_on(service: Service) -> None:
    following = Following(service)
    run = started(service)
    following.stopping.set()
    assert following.end()["library"].id == run.id
    now = service.library.state.ledger.current_run()
    assert now is not None
    assert not now.state.final


def test_that_no_producer_is_there_is_noticed(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PRODUCER_SECONDS", 1.0)
    service.backend.has_producer = False
    following = Following(service)
    started(service)
    following.end()
    assert following.error is not None
    assert "no producer plans the work of library" in str(following.error)
    assert "docmill producer" in str(following.error)


def test_a_registry_that_nobody_has_opened_yet_is_waited_for(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = Failing(service.library.state.ledger)
    ledger.fail("start_run", StateLost("it was never opened"))
    monkeypatch.setattr(module, "_PRODUCER_SECONDS", 5.0)
    monkeypatch.setattr(service.library.state, "ledger", ledger)
    service.backend.has_producer = False
    following = Following(service)
    ledger.mend()
    run = started(service)
    ledger.scan_ended(run.id)
    assert ledger.complete(run.id)
    assert following.end()["library"].state is RunState.COMPLETE


def test_without_a_producer_a_registry_that_nobody_opens_is_not_waited_for(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = Failing(service.library.state.ledger)
    ledger.fail("start_run", StateLost("it was never opened"))
    monkeypatch.setattr(module, "_PRODUCER_SECONDS", 1.0)
    monkeypatch.setattr(service.library.state, "ledger", ledger)
    service.backend.has_producer = False
    following = Following(service)
    following.end()
    assert "no producer plans the work of library" in str(following.error)


def test_a_producer_that_comes_late_is_waited_for(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PRODUCER_SECONDS", 3.0)
    service.backend.has_producer = False
    following = Following(service)
    run = started(service)
    service.backend.has_producer = True
    service.library.state.ledger.scan_ended(run.id)
    assert service.library.state.ledger.complete(run.id)
    assert following.end()["library"].state is RunState.COMPLETE


def test_a_run_that_is_going_on_is_ended_on_request(
    service: Service, configuration: Path, beside_the_service: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert index(config=configuration, data_dir=beside_the_service, cancel=True, as_json=True) == 0
    said = capsys.readouterr()
    assert ("no run is going on" in said.err, json.loads(said.out)) == (True, {})
    run, _ = service.library.state.ledger.start_run()
    assert index(config=configuration, data_dir=beside_the_service, cancel=True, as_json=True) == 0
    said = capsys.readouterr()
    assert "library: cancelled; what was indexed stays" in said.err
    shown = json.loads(said.out)["library"]
    assert (shown["id"], shown["state"]) == (run.id, "cancelled")


def test_nothing_can_be_ended_where_no_docmill_answers(configuration: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no docmill answers"):
        index(config=configuration, data_dir=tmp_path / "none", cancel=True)


def test_a_run_over_http_is_the_run_itself() -> None:
    run = Run("7", RunState.BACKING_OFF, 1_800_000_000.5, retry_at=1_800_000_040.25, counters={"seen": 3}, pending=2, error="it is away")
    ended = replace(run, state=RunState.FAILED, retry_at=None, finished_at=1_800_000_099.0)
    for one in (run, ended):
        assert run_of(run_reply(one).model_dump(mode="json", exclude_unset=True)) == one


def test_files_are_listed_by_state_page_after_page(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    from docmill_services.cli import status_command

    monkeypatch.setattr(status_command, "_PAGE", 3)
    for number in range(8):
        service.library.skip(f"{number}.bin", "binary: it has NUL bytes")
    service.library.put("a.md", "apple")
    listed = [document["document_id"] for document in documents_in(Api(service.client), "library", ListedState.SKIPPED)]
    assert listed == [f"{number}.bin" for number in range(8)]


def test_each_listed_file_has_its_reason(
    service: Service, configuration: Path, beside_the_service: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    service.library.skip("docs/x [1].bin", "binary: it has NUL bytes")
    service.backend.plan(["docs/new.md"])
    assert status(state=ListedState.SKIPPED, config=configuration, data_dir=beside_the_service) == 0
    said = capsys.readouterr()
    assert (said.out, said.err) == ("docs/x [1].bin: binary: it has NUL bytes\n", "1 file is skipped\n")
    assert status(state=ListedState.PENDING, kb="library", config=configuration, data_dir=beside_the_service) == 0
    assert capsys.readouterr().out == "docs/new.md\n"
    assert status(state=ListedState.SKIPPED, config=configuration, data_dir=beside_the_service, as_json=True) == 0
    (document,) = json.loads(capsys.readouterr().out)["library"]
    assert (document["document_id"], document["reason"]) == ("docs/x [1].bin", "binary: it has NUL bytes")
    assert status(state=ListedState.FAILED, config=configuration, data_dir=beside_the_service) == 0
    assert capsys.readouterr().err == "0 files are failed\n"


def test_status_says_until_when_a_provider_is_left_alone(
    service: Service, configuration: Path, beside_the_service: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from docmill.ports.gate import GateState
    from docmill_services.query.backend import ProviderGate

    service.backend.own_gates.append(ProviderGate("openai", GateState.CLOSED, 1_800_000_000.0))
    run, _ = service.library.state.ledger.start_run()
    service.library.state.ledger.back_off(run.id, 1_800_000_000.0)
    service.backend.has_producer = False
    assert status(config=configuration, data_dir=beside_the_service) == 0
    shown = capsys.readouterr().out
    assert "backing_off until 2027-01-15T08:00:00.000Z" in shown
    assert "openai closed until 2027-01-15T08:00:00.000Z" in shown
    assert "nobody plans the run" in shown
