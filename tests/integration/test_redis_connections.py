"""Each kind of ``DOCMILL_REDIS_URL`` reaches its server, by docmill's own client and by Celery; what cannot work says why in one line."""

import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import pytest
import redis

from docmill.adapters.redis.celery_app import QUEUES, make_celery
from docmill.adapters.redis.connecting import broker_of, connect_redis, describe_redis, redis_warnings
from docmill.adapters.redis.state import RedisState
from docmill.adapters.redis.task_queue import CeleryTaskQueue
from docmill.config.settings import Settings
from docmill.domain.errors import ConfigurationError, DocmillError, ExitCode, ServiceDown, StoreDown
from docmill.domain.registry import Lane
from support.redis_server import (
    HOST,
    Certificates,
    free_port,
    make_certificates,
    redis_at_port,
    redis_over_tls,
    running_redis,
    running_sentinels,
)
from support.waiting import wait_until

PASSWORD = "p@ss:w/rd,%é;#?"
QUOTED = quote(PASSWORD, safe="")


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return make_certificates(tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="module")
def plain_port() -> Iterator[int]:
    with redis_at_port() as port:
        yield port


@pytest.fixture(scope="module")
def tls_port(certificates: Certificates) -> Iterator[int]:
    with redis_over_tls(certificates) as port:
        yield port


@contextmanager
def plain(_: Certificates) -> Iterator[Settings]:
    with redis_at_port() as port:
        yield Settings(redis_url=f"redis://{HOST}:{port}")


@contextmanager
def with_password_and_database(_: Certificates) -> Iterator[Settings]:
    with redis_at_port("--requirepass", PASSWORD, password=PASSWORD) as port:
        yield Settings(redis_url=f"redis://:{QUOTED}@{HOST}:{port}/3")


@contextmanager
def with_acl_user(_: Certificates) -> Iterator[Settings]:
    users = ["--user", "docmill", "on", f">{PASSWORD}", "~*", "&*", "+@all", "--user", "default", "off"]
    with redis_at_port(*users, username="docmill", password=PASSWORD) as port:
        yield Settings(redis_url=f"redis://docmill:{QUOTED}@{HOST}:{port}/0")


@contextmanager
def over_tls(certificates: Certificates) -> Iterator[Settings]:
    with redis_over_tls(certificates) as port:
        yield Settings(redis_url=f"rediss://localhost:{port}/1", redis_ca_file=str(certificates.authority))


@contextmanager
def on_unix_socket(_: Certificates) -> Iterator[Settings]:
    path = f"/tmp/docmill test %41 {os.getpid()}.sock"
    client = redis.Redis(unix_socket_path=path, password=PASSWORD)
    with running_redis("--port", "0", "--unixsocket", path, "--requirepass", PASSWORD, client=client):
        yield Settings(redis_url=f"unix://:{QUOTED}@{quote(path)}?db=2")


@contextmanager
def through_sentinel(_: Certificates) -> Iterator[Settings]:
    with running_sentinels() as sentinels:
        yield Settings(redis_url=f"sentinel://{HOST}:{free_port()},{HOST}:{sentinels.ports[0]}/{sentinels.name}/1")


@contextmanager
def through_sentinel_with_passwords(_: Certificates) -> Iterator[Settings]:
    with running_sentinels(password="secret", sentinel_password="secret") as sentinels:
        yield Settings(redis_url=f"sentinel://:secret@{HOST}:{sentinels.ports[0]}/{sentinels.name}")


KINDS = [
    plain,
    with_password_and_database,
    with_acl_user,
    over_tls,
    on_unix_socket,
    through_sentinel,
    through_sentinel_with_passwords,
]


@pytest.mark.parametrize("kind", KINDS)
def test_state_and_celery_reach_the_same_server(kind: Callable[[Certificates], Iterator[Settings]], certificates: Certificates) -> None:
    with kind(certificates) as settings, connect_redis(settings) as client:  # type: ignore[attr-defined]
        state = RedisState(client, "handbook")
        state.registry.raise_epoch(1)
        messages = state.ledger.enqueue(["a.md", "b.md"], Lane.BULK)
        assert "answers" in describe_redis(client)

        broker = broker_of(settings)
        app = make_celery(
            broker.url,
            visibility_timeout_seconds=60.0,
            events=False,
            transport_options=broker.transport_options,
            use_ssl=broker.use_ssl,
        )
        try:
            queue = CeleryTaskQueue(app, client)
            queue.send(messages, Lane.BULK)
            assert queue.depth().bulk == 2
            assert taken_by_celery(app, 2) == [(message.document_id, message.ticket) for message in messages]
            wait_until(lambda: queue.depth().total == 0, "the messages to be acknowledged")
        finally:
            app.close()


def taken_by_celery(app: object, count: int) -> list[tuple[str, int]]:
    """Takes and acknowledges so many messages of the bulk queue as a Celery worker's consumer does."""
    found: list[tuple[str, int]] = []

    def take(body: tuple[list[object], object, object], message: object) -> None:
        _, document_id, ticket = body[0]
        found.append((str(document_id), int(str(ticket))))
        message.ack()  # type: ignore[attr-defined]

    with app.connection_for_read() as connection:  # type: ignore[attr-defined]
        queue = app.amqp.queues[QUEUES[Lane.BULK]]  # type: ignore[attr-defined]
        with connection.Consumer([queue], callbacks=[take], accept=["json"]):
            while len(found) < count:
                connection.drain_events(timeout=10)
    return found


def refusal(settings: Settings) -> DocmillError:
    """Why ``settings`` lead nowhere: one line, without the login, that names the setting."""
    with pytest.raises(DocmillError) as raised:
        connect_redis(settings)
    message = str(raised.value)
    assert "\n" not in message
    assert "DOCMILL_REDIS_URL" in message
    assert "secret" not in message
    assert PASSWORD not in message
    assert QUOTED not in message
    return raised.value


def test_a_port_where_nothing_listens_is_a_store_that_is_down() -> None:
    port = free_port()
    error = refusal(Settings(redis_url=f"redis://:secret@{HOST}:{port}"))
    assert isinstance(error, StoreDown)
    assert f"{HOST}:{port} cannot be reached (Connection refused)" in str(error)
    assert error.exit_code is ExitCode.SERVICE_DOWN


def test_a_host_that_does_not_exist_is_a_store_that_is_down() -> None:
    assert "cannot be reached" in str(refusal(Settings(redis_url="redis://no-such-host.invalid:6379")))


def test_a_socket_that_is_not_there_is_a_store_that_is_down(tmp_path: Path) -> None:
    error = refusal(Settings(redis_url=f"unix://{tmp_path}/nothing"))
    assert f"{tmp_path}/nothing cannot be reached (No such file or directory)" in str(error)


def test_a_login_that_is_wrong_missing_or_too_many_is_told_apart(plain_port: int) -> None:
    with redis_at_port("--requirepass", PASSWORD, password=PASSWORD) as port:
        assert "refuses the user or the password" in str(refusal(Settings(redis_url=f"redis://:secret@{HOST}:{port}")))
        assert "asks for a password" in str(refusal(Settings(redis_url=f"redis://{HOST}:{port}")))
    error = refusal(Settings(redis_url=f"redis://:secret@{HOST}:{plain_port}"))
    assert "has no password, but the URL gives one" in str(error)
    assert isinstance(error, ServiceDown)


def test_a_user_who_may_too_little_is_told_so(plain_port: int) -> None:
    users = ["--user", "reader", "on", ">secret", "~*", "+@read"]
    with redis_at_port(*users) as port:
        assert "does not let this user do what docmill needs" in str(refusal(Settings(redis_url=f"redis://reader:secret@{HOST}:{port}")))


def test_tls_that_does_not_match_is_told_apart(plain_port: int, tls_port: int, certificates: Certificates, tmp_path: Path) -> None:
    authority = str(certificates.authority)
    plain = Settings(redis_url=f"rediss://{HOST}:{plain_port}", redis_ca_file=authority, store_timeout_seconds=1.0)
    assert "does not speak TLS" in str(refusal(plain))
    assert "cannot be trusted" in str(refusal(Settings(redis_url=f"rediss://{HOST}:{tls_port}")))
    assert "begin the URL with rediss://" in str(refusal(Settings(redis_url=f"redis://{HOST}:{tls_port}")))
    other = make_certificates(tmp_path).authority
    assert "cannot be trusted" in str(refusal(Settings(redis_url=f"rediss://{HOST}:{tls_port}", redis_ca_file=str(other))))
    wrong_name = refusal(Settings(redis_url=f"rediss://127.0.0.2:{tls_port}", redis_ca_file=authority))
    assert "cannot be trusted" in str(wrong_name) or "cannot be reached" in str(wrong_name)
    with pytest.raises(ConfigurationError, match="DOCMILL_REDIS_CA_FILE is set, but DOCMILL_REDIS_URL is not encrypted"):
        connect_redis(Settings(redis_url=f"redis://{HOST}:{plain_port}", redis_ca_file=authority))


@contextmanager
def answering(answer: bytes) -> Iterator[int]:
    """A server that says ``answer`` to whoever says anything; gives its port."""
    listener = socket.create_server((HOST, 0))

    def serve() -> None:
        connections = []
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                break
            connections.append(connection)
            if answer and connection.recv(1000):
                connection.sendall(answer)
        for connection in connections:
            connection.close()

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield int(listener.getsockname()[1])
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()


def test_a_server_of_another_kind_is_told_so() -> None:
    with answering(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n") as port:
        assert "is not a Redis that docmill can use" in str(refusal(Settings(redis_url=f"redis://{HOST}:{port}")))


def test_a_server_that_says_nothing_is_not_waited_for_without_end() -> None:
    with answering(b"") as port:
        error = refusal(Settings(redis_url=f"redis://{HOST}:{port}", store_timeout_seconds=0.3))
    assert "did not answer in time" in str(error)
    assert isinstance(error, StoreDown)


def test_a_member_of_a_cluster_is_refused() -> None:
    with redis_at_port("--cluster-enabled", "yes", "--cluster-port", str(free_port())) as port:
        assert "is part of a cluster" in str(refusal(Settings(redis_url=f"redis://{HOST}:{port}")))


def test_a_replica_a_sentinel_and_an_unknown_name_are_refused() -> None:
    with running_sentinels() as sentinels:
        replica = str(refusal(Settings(redis_url=f"redis://{HOST}:{sentinels.server_ports[1]}")))
        assert f"is a replica, which cannot be written: name the server that it follows ({HOST}:{sentinels.server_ports[0]})" in replica
        assert "is a Sentinel" in str(refusal(Settings(redis_url=f"redis://{HOST}:{sentinels.ports[0]}")))
        assert "no Sentinel of nobody" in str(refusal(Settings(redis_url=f"sentinel://{HOST}:{sentinels.ports[0]}/nobody")))


def test_a_server_that_may_lose_or_forget_what_it_holds_is_warned_of() -> None:
    with redis_at_port() as port, connect_redis(Settings(redis_url=f"redis://{HOST}:{port}")) as client:
        assert describe_redis(client).startswith("Redis ")
        assert describe_redis(client).endswith(f" at {HOST}:{port} answers, append-only file off, noeviction")
        assert [warning.split(":")[0] for warning in redis_warnings(client)] == ["its append-only file is off"]
        client.config_set("appendonly", "yes")
        client.config_set("maxmemory-policy", "allkeys-lru")
        wait_until(lambda: "file on" in describe_redis(client), "the append-only file")
        assert describe_redis(client).endswith("append-only file on, allkeys-lru")
        assert ["allkeys-lru" in warning for warning in redis_warnings(client)] == [True]
