"""Private Redis servers for tests: over TCP, TLS or a unix socket, with or without a login, and under Sentinels; killed at the end."""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import redis

from support.waiting import wait_until

HOST = "127.0.0.1"


def redis_server_binary() -> str:
    """Where the server is; skips the test on a machine without one, fails it under CI."""
    found = shutil.which("redis-server")
    if found is None:
        if os.environ.get("CI"):
            pytest.fail("redis-server is not installed")
        pytest.skip("redis-server is not installed")
    return found


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


@dataclass
class RedisServer:
    """One server process, which can be killed and started again on its folder."""

    folder: Path
    options: tuple[str, ...]
    process: "subprocess.Popen[bytes]"
    client: redis.Redis = field(repr=False)

    def kill(self) -> None:
        """As a power loss does, but for what the system has already been given to write."""
        self.process.kill()
        self.process.wait()

    def pause(self) -> None:
        """Holds it still."""
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        """Lets it move again."""
        self.process.send_signal(signal.SIGCONT)

    def start(self) -> None:
        """Starts it on what is in its folder."""
        self.process = _spawn(self.folder, self.options)
        _wait_until_it_answers(self)


@contextmanager
def running_redis(*options: str, client: redis.Redis, folder: Path | None = None) -> Iterator[RedisServer]:
    """Runs a server with further command-line options until ``client``, which is closed at the end, gets its PONG."""
    # A socket's path must be shorter than 108 bytes, which pytest's own folders can exceed.
    made = folder or Path(tempfile.mkdtemp(prefix="redis-"))
    server = RedisServer(made, options, _spawn(made, options), client)
    try:
        _wait_until_it_answers(server)
        yield server
    finally:
        client.close()
        server.process.kill()
        server.process.wait()
        shutil.rmtree(made)


@contextmanager
def redis_at_port(*options: str, username: str | None = None, password: str | None = None) -> Iterator[int]:
    """Runs a server on a port of this machine; a login is for the client that waits for it."""
    port = free_port()
    client = redis.Redis(host=HOST, port=port, username=username, password=password)
    with running_redis("--port", str(port), "--bind", HOST, *options, client=client):
        yield port


@dataclass(frozen=True)
class Sentinels:
    """Sentinels that watch two servers under one name."""

    name: str
    ports: tuple[int, ...]
    servers: tuple[RedisServer, ...]
    server_ports: tuple[int, ...]


@contextmanager
def running_sentinels(*, password: str = "", sentinel_password: str = "", sentinels: int = 1) -> Iterator[Sentinels]:
    """Runs two servers, the second a replica of the first, and Sentinels that notice a death within a second."""
    login = ("--requirepass", password, "--masterauth", password) if password else ()
    with ExitStack() as stack:
        ports = (free_port(), free_port())
        servers = []
        for number, port in enumerate(ports):
            follows = ("--replicaof", f"{HOST} {ports[0]}") if number else ()
            options = ("--port", str(port), "--bind", HOST, "--appendonly", "yes", "--repl-diskless-sync-delay", "0", *login, *follows)
            client = redis.Redis(host=HOST, port=port, password=password or None)
            servers.append(stack.enter_context(running_redis(*options, client=client)))
        wait_until(lambda: servers[1].client.info("replication")["master_link_status"] == "up", "the replica to follow")
        sentinel_ports = tuple(free_port() for _ in range(sentinels))
        for port in sentinel_ports:
            stack.enter_context(_running_sentinel(port, ports[0], password, sentinel_password, quorum=sentinels // 2 + 1))
        yield Sentinels("docmill-servers", sentinel_ports, tuple(servers), ports)


@contextmanager
def _running_sentinel(port: int, master_port: int, password: str, sentinel_password: str, *, quorum: int) -> Iterator[None]:
    folder = Path(tempfile.mkdtemp(prefix="sentinel-"))
    lines = [
        f"port {port}",
        f"bind {HOST}",
        f"dir {folder}",
        f"sentinel monitor docmill-servers {HOST} {master_port} {quorum}",
        "sentinel down-after-milliseconds docmill-servers 700",
        "sentinel failover-timeout docmill-servers 3000",
        *([f"sentinel auth-pass docmill-servers {password}"] if password else []),
        *([f"requirepass {sentinel_password}"] if sentinel_password else []),
    ]
    (folder / "sentinel.conf").write_text("\n".join(lines) + "\n")
    client = redis.Redis(host=HOST, port=port, password=sentinel_password or None)
    with running_redis(str(folder / "sentinel.conf"), "--sentinel", client=client, folder=folder):
        wait_until(lambda: client.sentinel_slaves("docmill-servers"), "Sentinel to know the replica")
        yield


@dataclass(frozen=True)
class Certificates:
    """An authority's certificate, and a server's certificate and key signed by it for localhost and 127.0.0.1."""

    authority: Path
    certificate: Path
    key: Path


def make_certificates(folder: Path) -> Certificates:
    """Makes them with openssl."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl is not installed")
    authority, authority_key = folder / "ca.pem", folder / "ca.key"
    certificate, key, request = folder / "server.pem", folder / "server.key", folder / "server.csr"
    names = folder / "names"
    names.write_text("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
    new_key = ["-newkey", "rsa:2048", "-nodes"]
    authority_extensions = ["-addext", "basicConstraints=critical,CA:TRUE", "-addext", "keyUsage=critical,keyCertSign"]
    subject = ["-subj", "/CN=docmill test authority"]
    _openssl("req", "-x509", *new_key, "-days", "2", *subject, *authority_extensions, "-keyout", str(authority_key), "-out", str(authority))
    _openssl("req", *new_key, "-subj", "/CN=localhost", "-keyout", str(key), "-out", str(request))
    signed_by = ["-CA", str(authority), "-CAkey", str(authority_key), "-CAcreateserial"]
    _openssl("x509", "-req", "-in", str(request), *signed_by, "-days", "2", "-extfile", str(names), "-out", str(certificate))
    return Certificates(authority, certificate, key)


@contextmanager
def redis_over_tls(certificates: Certificates) -> Iterator[int]:
    """Runs a server that speaks TLS alone; gives its port."""
    port = free_port()
    files = ["--tls-cert-file", str(certificates.certificate), "--tls-key-file", str(certificates.key)]
    options = [
        "--port",
        "0",
        "--tls-port",
        str(port),
        *files,
        "--tls-ca-cert-file",
        str(certificates.authority),
        "--tls-auth-clients",
        "no",
    ]
    client = redis.Redis(host="localhost", port=port, ssl=True, ssl_ca_certs=str(certificates.authority))
    with running_redis("--bind", HOST, *options, client=client):
        yield port


def _openssl(*arguments: str) -> None:
    subprocess.run(["openssl", *arguments], check=True, capture_output=True)


def _spawn(folder: Path, options: tuple[str, ...]) -> "subprocess.Popen[bytes]":
    keeping = () if "--appendonly" in options or "--sentinel" in options else ("--appendonly", "no")
    saving = () if "--sentinel" in options else ("--save", "")
    command = [redis_server_binary(), *options, "--dir", str(folder), *keeping, *saving]
    with (folder / "log").open("ab") as log:
        return subprocess.Popen(command, stdout=log, stderr=log)


def _wait_until_it_answers(server: RedisServer) -> None:
    def answers() -> bool:
        if server.process.poll() is not None:
            raise RuntimeError(f"the server did not start: {(server.folder / 'log').read_text()}")
        try:
            return bool(server.client.ping())
        except redis.ConnectionError:
            return False

    wait_until(answers, "the server to answer", pause_seconds=0.02)
