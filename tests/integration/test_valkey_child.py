"""The embedded Valkey server as a child process: starting, serving, stopping."""

import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import kombu
import pytest
import redis

from docmill.adapters.embedded import valkey_process
from docmill.adapters.embedded.valkey import ValkeyServer, celery_url_of
from docmill.domain.errors import DataFolderError, DataFolderInUse


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ValkeyServer]:
    with ValkeyServer(tmp_path / "valkey") as server:
        yield server


def client_of(server: ValkeyServer) -> redis.Redis:
    return redis.Redis(unix_socket_path=str(server.socket), decode_responses=True)


def put(server: ValkeyServer, key: str, value: str) -> None:
    with client_of(server) as client:
        client.set(key, value)


def get(server: ValkeyServer, key: str) -> object:
    with client_of(server) as client:
        return client.get(key)


def configured(server: ValkeyServer, name: str) -> object:
    with client_of(server) as client:
        return client.config_get(name)[name]


def test_a_started_server_serves(server: ValkeyServer) -> None:
    put(server, "key", "value")
    assert get(server, "key") == "value"


@pytest.mark.parametrize(
    ("name", "value"),
    [("port", "0"), ("appendonly", "yes"), ("appendfsync", "everysec"), ("save", ""), ("maxmemory-policy", "noeviction")],
)
def test_it_keeps_everything_and_listens_on_no_network(server: ValkeyServer, name: str, value: str) -> None:
    assert configured(server, name) == value


def test_only_its_owner_may_connect(server: ValkeyServer) -> None:
    assert stat.S_IMODE(server.socket.stat().st_mode) == 0o700
    assert stat.S_IMODE(server.socket.parent.stat().st_mode) == 0o700


def test_data_survives_stop_and_start(tmp_path: Path) -> None:
    server = ValkeyServer(tmp_path)
    for turn in range(3):
        server.start()
        assert get(server, "turn") == (str(turn - 1) if turn else None)
        put(server, "turn", str(turn))
        server.stop()


def test_stopping_twice_or_before_a_start_does_nothing(tmp_path: Path) -> None:
    server = ValkeyServer(tmp_path)
    server.stop()
    server.start()
    server.stop()
    server.stop()
    assert server.pid is None
    assert server.error is None


def test_stopping_removes_the_socket_and_leaves_no_process(tmp_path: Path) -> None:
    server = ValkeyServer(tmp_path)
    server.start()
    pid = server.pid
    assert pid is not None
    server.stop()
    assert not server.socket.exists()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


@pytest.mark.parametrize("name", ["x" * 200, "a b'c\"d", "ünï-日本", "100%41#?&"])
def test_the_folder_may_have_any_path(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    with ValkeyServer(folder) as server:
        put(server, "key", "value")
        with kombu.Connection(celery_url_of(server.socket)) as broker, broker.SimpleQueue("queue") as queue:
            queue.put({"some": "task"})
            assert queue.get(timeout=10).payload == {"some": "task"}
        assert len(os.fsencode(server.socket)) <= 103
        socket_folder = server.socket.parent
    assert socket_folder == folder or not socket_folder.exists()
    with ValkeyServer(folder) as server:
        assert get(server, "key") == "value"


def test_the_temporary_folder_of_a_killed_owner_is_removed(tmp_path: Path) -> None:
    folder = tmp_path / ("x" * 200)
    with owner_process(folder) as owner:
        left = Path(os.fsdecode((folder / "socket-folder").read_bytes()))
        assert left.exists()
        owner.kill()
        owner.wait()
    with ValkeyServer(folder) as server:
        assert server.socket.parent != left
        assert not left.exists()


def test_a_socket_path_that_is_too_long_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataFolderError, match="too long"):
        ValkeyServer(tmp_path / "f", tmp_path / ("x" * 200)).start()


def test_the_socket_may_be_chosen(tmp_path: Path) -> None:
    with ValkeyServer(tmp_path / "folder", tmp_path / "my.sock") as server:
        assert server.socket == tmp_path / "my.sock"
        assert get(server, "key") is None


def test_two_servers_never_share_a_folder(server: ValkeyServer) -> None:
    folder = server.socket.parent
    with pytest.raises(DataFolderInUse, match=str(folder)):
        ValkeyServer(folder).start()
    assert get(server, "key") is None


def test_ctrl_c_in_the_terminal_does_not_reach_the_server(tmp_path: Path) -> None:
    with owner_process(tmp_path) as owner:
        os.killpg(owner.pid, signal.SIGINT)  # what a terminal does on Ctrl-C: the owner leads the foreground group
        assert owner.stdout is not None
        assert owner.stdout.readline() == "interrupted, and the server answers True\n"


def test_a_large_log_is_set_aside(tmp_path: Path) -> None:
    log = tmp_path / "valkey.log"
    log.write_bytes(b"old\n" * 300_000)
    with ValkeyServer(tmp_path):
        assert log.stat().st_size < 100_000
        assert (tmp_path / "valkey.log.1").stat().st_size == 1_200_000


@pytest.mark.parametrize(
    ("written", "kept"),
    [(b"command\r\n", 9), (b"command\r\n" + bytes(200_000), 9), (bytes(70_000), 0), (b"", 0), (b"a\0b\r\n\0", 5)],
)
def test_only_zeros_at_the_end_of_the_append_only_file_are_cut(tmp_path: Path, written: bytes, kept: int) -> None:
    (tmp_path / "appendonlydir").mkdir()
    file = tmp_path / "appendonlydir" / "appendonly.aof.1.incr.aof"
    file.write_bytes(written)
    valkey_process.drop_torn_zeros(tmp_path)
    assert file.read_bytes() == written[:kept]


OWNER = """
import signal, sys
from pathlib import Path
import redis
from docmill.adapters.embedded.valkey import ValkeyServer, celery_url_of
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs begin with it ignored
server = ValkeyServer(Path(sys.argv[1]))
server.start()
try:
    print(server.pid, flush=True)
    sys.stdin.read()
except KeyboardInterrupt:
    print("interrupted, and the server answers", redis.Redis(unix_socket_path=str(server.socket)).ping(), flush=True)
    server.stop()
"""


def owner_process(folder: Path) -> subprocess.Popen[str]:
    """Another process with a server on ``folder``, which answers."""
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    assert owner.stdout is not None
    assert owner.stdout.readline().strip().isdecimal()
    return owner
