"""Looking at what is indexed, without changing anything."""

import os
from pathlib import Path

import pytest

from docmill.adapters.embedded.data_folder import DataFolder
from docmill.bootstrap import look, open_engine
from docmill.config import Configuration, Settings, load_configuration
from docmill.domain.errors import DataFolderError, StateSetBack
from docmill.indexing.indexed import Indexed
from support.running_docmill import write_configuration


@pytest.fixture
def configuration(tmp_path: Path) -> Configuration:
    (tmp_path / "docs").mkdir()
    return load_configuration(write_configuration(tmp_path / "docmill.yaml", tmp_path / "docs"))


@pytest.fixture
def data(tmp_path: Path, configuration: Configuration) -> Path:
    """A data folder that was opened once and is closed."""
    folder = tmp_path / "data"
    open_engine(configuration, Settings(), folder, os.environ).close()
    return folder


def test_where_nothing_was_indexed_nothing_is_seen_and_nothing_is_made(tmp_path: Path, configuration: Configuration) -> None:
    with look(configuration, Settings(), tmp_path / "none") as seen:
        assert (dict(seen.registries), seen.vectors) == ({}, None)
        assert "every file counts as new" in seen.hidden
    assert not (tmp_path / "none").exists()


def test_a_data_folder_that_nobody_holds_is_read_and_no_epoch_is_raised(data: Path, configuration: Configuration) -> None:
    positions = []
    for _ in range(2):
        with look(configuration, Settings(), data) as seen:
            registry = seen.registries["kb"]
            positions.append(registry.position())
            assert seen.vectors is not None
            assert seen.vectors.epoch() == positions[0].epoch
            assert registry.stats(positions[0].index_set or "", ["a.md"]) == [None]
            assert Indexed(configuration.knowledge_bases[0], registry, seen.vectors).stats(["a.md"]) == [[None]]
            assert seen.hidden == ""
    assert positions[0] == positions[1]


def test_who_does_not_only_look_is_told_that_the_server_is_another_one(data: Path, configuration: Configuration) -> None:
    from docmill.bootstrap.connections import connect

    with look(configuration, Settings(), data):
        socket = data / "valkey" / "valkey.sock"
        if not socket.exists():
            pytest.skip("the path of the socket is too long here")
        connections = connect({"kb": configuration.knowledge_bases[0]}, Settings(), socket)
        try:
            with pytest.raises(StateSetBack):
                connections.states["kb"].registry.stats("any", ["a.md"])
        finally:
            connections.close()


def test_beside_its_holder_the_registry_of_a_data_folder_is_read_and_its_vectors_are_hidden(
    data: Path, configuration: Configuration
) -> None:
    engine = open_engine(configuration, Settings(), data, os.environ)
    try:
        before = engine.knowledge_base("kb").state.registry.position()
        with look(configuration, Settings(), data) as seen:
            assert seen.registries["kb"].position() == before
            assert seen.vectors is None
            assert f"process {os.getpid()} has the vectors" in seen.hidden
        assert engine.knowledge_base("kb").state.registry.position() == before
    finally:
        engine.close()


def test_a_folder_that_was_just_taken_shows_nothing_yet(tmp_path: Path, configuration: Configuration) -> None:
    with DataFolder.open(tmp_path / "data") as taken, look(configuration, Settings(), taken.path) as seen:
        assert (dict(seen.registries), seen.vectors) == ({}, None)
        assert "has just opened" in seen.hidden


def test_a_folder_of_other_files_is_refused_and_left_as_it_is(tmp_path: Path, configuration: Configuration) -> None:
    (tmp_path / "docs" / "a.md").touch()
    with pytest.raises(DataFolderError, match="is no docmill data folder"), look(configuration, Settings(), tmp_path / "docs"):
        pass
    assert [path.name for path in (tmp_path / "docs").iterdir()] == ["a.md"]
