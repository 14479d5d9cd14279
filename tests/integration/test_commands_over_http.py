"""Commands in this process: beside a service, and with a data folder that they open themselves."""

import os
from pathlib import Path

import pytest

from docmill.bootstrap import open_engine
from docmill.config import Settings
from docmill.domain.errors import StoreDown, StoreRejected
from docmill.domain.runs import RunState
from docmill.indexing.index_sets import WATCHING
from docmill.retrieval.search import Searcher
from docmill_services.cli.api import ApiError, open_api
from docmill_services.cli.explain_command import explain
from docmill_services.cli.finding import configuration_of
from docmill_services.cli.search_command import search
from docmill_services.origin import Origin
from support.failing import Failing
from support.http_service import Service, SystemClock
from support.running_docmill import write_configuration


@pytest.fixture
def configuration(tmp_path: Path) -> Path:
    """A file for a knowledge base with one document."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("An aardvark.\n", encoding="utf-8")
    return write_configuration(tmp_path / "docmill.yaml", tmp_path / "docs", name="library")


def test_explain_says_that_a_file_is_unknown(
    beside_the_service: Path, configuration: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert explain(tmp_path / "docs" / "a.md", config=configuration, data_dir=beside_the_service) == 1
    assert "not indexed yet" in capsys.readouterr().out


def test_explain_says_that_a_new_file_waits(
    service: Service, beside_the_service: Path, configuration: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    service.backend.plan(["docs/a.md"])
    assert explain(tmp_path / "docs" / "a.md", config=configuration, data_dir=beside_the_service) == 0
    assert capsys.readouterr().out == "docs/a.md: pending\n"


def test_explain_says_that_an_indexed_file_has_changed(
    service: Service, beside_the_service: Path, configuration: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    service.library.put("docs/a.md", "apple")
    assert explain(tmp_path / "docs" / "a.md", config=configuration, data_dir=beside_the_service) == 0
    assert "changed" not in capsys.readouterr().out
    service.library.stats["docs/a.md"] = "another"
    assert explain(tmp_path / "docs" / "a.md", config=configuration, data_dir=beside_the_service) == 0
    assert "the file has changed, or is gone, since it was indexed" in capsys.readouterr().out


def test_explain_says_that_a_file_beside_the_documents_is_not_there(
    beside_the_service: Path, configuration: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert explain(tmp_path / "elsewhere.md", config=configuration, data_dir=beside_the_service) == 1
    assert "there is no such file" in capsys.readouterr().out
    (tmp_path / "elsewhere.md").touch()
    assert explain(tmp_path / "elsewhere.md", config=configuration, data_dir=beside_the_service) == 1
    assert "not under any of the configured docs" in capsys.readouterr().out


def test_a_search_before_the_first_complete_run_says_so(
    service: Service, beside_the_service: Path, configuration: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert search("aardvark", config=configuration, data_dir=beside_the_service) == 1
    assert "not everything was indexed once yet; docmill status" in capsys.readouterr().err
    service.backend.plan(["docs/a.md"])
    assert search("aardvark", config=configuration, data_dir=beside_the_service) == 1
    assert "1 document waits or is in work, and not everything was indexed once yet" in capsys.readouterr().err


def test_a_search_without_the_registry_says_so(
    service: Service, beside_the_service: Path, configuration: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    service.library.put("docs/a.md", "aardvark")
    registry = Failing(service.library.state.registry)
    library = service.library
    service.backend.searcher = Searcher(
        library.settings,
        library.retrievers(),
        registry,  # type: ignore[arg-type]  # it passes on what it has not itself
        executor=library.executor,
        clock=SystemClock(),
        read_text=library.texts.get,
        stat_of=library.stats.get,
    )
    search("aardvark", config=configuration, data_dir=beside_the_service)
    assert "registry" not in capsys.readouterr().err
    for call in ("position", "entries", "entries_now"):
        registry.fail(call, StoreDown("it is away"))
    search("aardvark", config=configuration, data_dir=beside_the_service)
    said = capsys.readouterr().err
    assert "the registry does not answer" in said
    assert "indexed once yet" not in said


def test_explain_does_not_take_another_failure_for_an_unknown_file(
    service: Service, beside_the_service: Path, configuration: Path, tmp_path: Path
) -> None:
    registry = Failing(service.library.state.registry)
    registry.fail("entries", StoreRejected("the registry refuses"))
    service.backend.own_registry = registry  # type: ignore[assignment]  # it passes on what it has not itself
    with pytest.raises(ApiError) as raised:
        explain(tmp_path / "docs" / "a.md", config=configuration, data_dir=beside_the_service)
    assert raised.value.code == StoreRejected.code


def test_what_a_killed_docmill_was_doing_is_not_shown_as_going_on(configuration: Path, tmp_path: Path) -> None:
    origin, data = Origin(config=configuration), tmp_path / "data"
    engine = open_engine(configuration_of(origin), Settings(), data, os.environ)
    try:
        origin.save(data)
        state = engine.knowledge_base("library").state
        state.registry.note(WATCHING, "yes")
        run, _ = state.ledger.start_run()
    finally:
        engine.close()
    with open_api(origin, data) as api:
        status = api.get("/v1/knowledge-bases/library")
    assert not status["watching"]
    assert (status["state"], status["run"]["id"], status["run"]["state"]) == ("empty", run.id, RunState.CANCELLED.value)
