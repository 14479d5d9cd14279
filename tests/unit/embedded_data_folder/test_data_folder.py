"""The data folder: one holder, a layout, a format, and errors that a user can act on."""

import errno
import json
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from docmill.adapters.embedded.data_folder import FORMAT, DataFolder, RunningServer, folder_error, running_server
from docmill.domain.errors import DataFolderError, DataFolderInUse, DataFolderTooNew, DiskFull

HOLD = """
import sys
from pathlib import Path
from docmill.adapters.embedded.data_folder import DataFolder
folder = DataFolder.open(Path(sys.argv[1]))
folder.announce("http://127.0.0.1:8700")
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "project" / ".docmill"


@pytest.fixture
def other_process(path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the folder."""
    with subprocess.Popen([sys.executable, "-c", HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_opening_makes_the_folder_for_its_owner_alone(path: Path) -> None:
    with DataFolder.open(path) as folder:
        assert stat.S_IMODE(path.stat().st_mode) == 0o700
        for sub_folder in (folder.valkey, folder.vectors, folder.lexical, folder.logs):
            assert sub_folder.parent == path
            assert stat.S_IMODE(sub_folder.stat().st_mode) == 0o700


@pytest.mark.parametrize("name", [".gitignore", ".docmillignore"])
def test_everything_in_the_folder_is_ignored_by_git_and_by_docmill(path: Path, name: str) -> None:
    with DataFolder.open(path):
        assert (path / name).read_text(encoding="utf-8").splitlines()[-1] == "*"


def test_an_ignore_file_that_is_there_is_kept(path: Path) -> None:
    path.mkdir(parents=True)
    (path / ".gitignore").write_text("mine\n", encoding="utf-8")
    with DataFolder.open(path):
        assert (path / ".gitignore").read_text(encoding="utf-8") == "mine\n"


def test_the_folder_can_be_opened_again_after_it_was_closed(path: Path) -> None:
    with DataFolder.open(path) as folder:
        (folder.vectors / "kept").write_text("data", encoding="utf-8")
    with DataFolder.open(path) as folder:
        assert (folder.vectors / "kept").read_text(encoding="utf-8") == "data"


def test_closing_twice_leaves_the_next_holder_alone(path: Path) -> None:
    first = DataFolder.open(path)
    first.close()
    with DataFolder.open(path):
        first.close()
        assert running_server(path) == RunningServer(os.getpid(), None)


def test_a_second_open_is_refused_and_says_who_holds_the_folder_and_what_to_do(path: Path, other_process: subprocess.Popen[str]) -> None:
    with pytest.raises(DataFolderInUse) as caught:
        DataFolder.open(path)
    message = str(caught.value)
    for part in (str(path), str(other_process.pid), "http://127.0.0.1:8700", "docmill search", "--data-dir"):
        assert part in message
    assert "\n" not in message


def test_a_second_open_in_the_same_process_is_refused(path: Path) -> None:
    with DataFolder.open(path), pytest.raises(DataFolderInUse):
        DataFolder.open(path)


def test_a_killed_holder_leaves_the_folder_free(path: Path, other_process: subprocess.Popen[str]) -> None:
    other_process.kill()
    other_process.wait()
    assert running_server(path) is None
    DataFolder.open(path).close()


def test_the_lock_is_not_inherited_by_a_program_that_the_holder_starts(path: Path) -> None:
    folder = DataFolder.open(path)
    with subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE, close_fds=False):
        folder.close()
        DataFolder.open(path).close()


@pytest.mark.filterwarnings("ignore:This process.*is multi-threaded, use of fork:DeprecationWarning")
def test_the_lock_is_not_kept_by_a_forked_copy_of_the_holder(path: Path) -> None:
    folder = DataFolder.open(path)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(writer)
        folder.close()
        os.read(reader, 1)
        os._exit(0)
    try:
        assert running_server(path) == RunningServer(os.getpid(), None)
        folder.close()
        DataFolder.open(path).close()
    finally:
        os.close(reader)
        os.close(writer)
        assert os.waitpid(child, 0)[1] == 0


def test_other_commands_find_the_running_server(path: Path, other_process: subprocess.Popen[str]) -> None:
    assert running_server(path) == RunningServer(other_process.pid, "http://127.0.0.1:8700")


def test_a_server_that_does_not_listen_yet_has_no_url(path: Path) -> None:
    with DataFolder.open(path):
        assert running_server(path) == RunningServer(os.getpid(), None)


def test_no_server_runs_where_nothing_was_ever_opened(path: Path) -> None:
    assert running_server(path) is None


def test_no_server_runs_after_the_folder_was_closed(path: Path) -> None:
    with DataFolder.open(path) as folder:
        folder.announce("http://127.0.0.1:8700")
    assert running_server(path) is None


def test_what_a_dead_holder_announced_is_not_believed(path: Path) -> None:
    DataFolder.open(path).close()
    (path / "server.json").write_text(json.dumps({"pid": 1, "url": "http://127.0.0.1:1"}), encoding="utf-8")
    assert running_server(path) is None
    with DataFolder.open(path):
        assert running_server(path) == RunningServer(os.getpid(), None)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"pid": "x"}', '{"pid": 1}'])
def test_an_unreadable_announcement_is_as_good_as_none(path: Path, content: str) -> None:
    with DataFolder.open(path):
        (path / "server.json").write_text(content, encoding="utf-8")
        assert running_server(path) is None


def test_a_folder_of_a_newer_version_is_refused_and_left_as_it_is(path: Path) -> None:
    DataFolder.open(path).close()
    (path / "format.json").write_text(json.dumps({"format": FORMAT + 1}), encoding="utf-8")
    before = sorted(path.iterdir())
    with pytest.raises(DataFolderTooNew, match=f"format {FORMAT + 1}"):
        DataFolder.open(path)
    assert sorted(path.iterdir()) == before


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"format": "1"}', '{"format": true}', '{"format": 0}', '{"format": null}'])
def test_a_broken_format_file_is_refused_by_name(path: Path, content: str) -> None:
    DataFolder.open(path).close()
    (path / "format.json").write_text(content, encoding="utf-8")
    with pytest.raises(DataFolderError, match=r"format\.json is broken"):
        DataFolder.open(path)
    (path / "format.json").write_text(json.dumps({"format": FORMAT}), encoding="utf-8")
    DataFolder.open(path).close()


def test_a_folder_full_of_other_things_is_not_taken_over(path: Path) -> None:
    path.mkdir(parents=True)
    (path / "thesis.md").write_text("mine", encoding="utf-8")
    with pytest.raises(DataFolderError, match=r"thesis\.md"):
        DataFolder.open(path)
    assert [entry.name for entry in path.iterdir()] == ["thesis.md"]


def test_a_first_opening_that_was_killed_midway_can_be_repeated(path: Path) -> None:
    path.mkdir(parents=True)
    (path / "lock").touch()
    (path / "format.json.1234abcd.tmp").write_text("{", encoding="utf-8")
    with DataFolder.open(path):
        assert not (path / "format.json.1234abcd.tmp").exists()


def test_a_file_in_the_place_of_the_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(DataFolderError, match="a file is in its place"):
            DataFolder.open(path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written_is_named(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(DataFolderError, match="cannot be written"):
        DataFolder.open(tmp_path / "below")


@pytest.mark.parametrize(
    ("number", "kind", "part"),
    [
        (errno.ENOSPC, DiskFull, "free some space"),
        (errno.EDQUOT, DiskFull, "free some space"),
        (errno.EROFS, DataFolderError, "cannot be written"),
        (errno.EACCES, DataFolderError, "cannot be written"),
        (errno.EPERM, DataFolderError, "cannot be written"),
        (errno.EIO, DataFolderError, "cannot be used"),
        (errno.ENAMETOOLONG, DataFolderError, "cannot be used"),
    ],
)
def test_a_failed_file_operation_becomes_one_line_that_says_what_to_do(number: int, kind: type[DataFolderError], part: str) -> None:
    error = folder_error(OSError(number, os.strerror(number)), Path("/data/.docmill"))
    assert type(error) is kind
    assert part in str(error)
    assert "/data/.docmill" in str(error)
    assert "\n" not in str(error)
