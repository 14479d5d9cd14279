"""Starting and stopping the HTTP server."""

import socket
from collections.abc import Iterator

import httpx
import pytest

from docmill.domain.errors import AddressInUse, ConfigurationError
from docmill_services.query.app import make_app
from docmill_services.query.listening import listen
from docmill_services.query.serve import RunningServer, serve


@pytest.fixture
def server() -> Iterator[RunningServer]:
    running = serve(make_app({}), "localhost", 0)
    yield running
    running.stop()


def test_it_answers_when_serve_returns_and_not_after_stop(server: RunningServer) -> None:
    assert httpx.get(f"{server.url}/v1/knowledge-bases", trust_env=False).json() == {"knowledge_bases": []}
    assert server.stop()
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{server.url}/livez", trust_env=False)


def test_an_idle_connection_does_not_delay_a_stop(server: RunningServer) -> None:
    with httpx.Client(trust_env=False) as client:
        client.get(f"{server.url}/livez")
        assert server.stop()


def test_stopping_twice_is_no_error(server: RunningServer) -> None:
    assert server.stop()
    assert server.stop()
    assert not server.running


def test_a_taken_port_is_named(server: RunningServer) -> None:
    with pytest.raises(AddressInUse, match=f"127.0.0.1:{server.port} is taken"):
        serve(make_app({}), "127.0.0.1", server.port)


def test_a_port_is_free_again_after_a_stop(server: RunningServer) -> None:
    httpx.get(f"{server.url}/livez", trust_env=False)
    assert server.stop()
    again = serve(make_app({}), "127.0.0.1", server.port)
    assert again.stop()


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.com", "", "127.0.0.1.example"])
def test_an_address_that_others_can_reach_is_refused(host: str) -> None:
    with pytest.raises(ConfigurationError, match="loopback"):
        serve(make_app({}), host, 0)


@pytest.mark.parametrize("port", [-1, 65536])
def test_an_impossible_port_is_refused(port: int) -> None:
    with pytest.raises(ConfigurationError, match="from 0 to 65535"):
        serve(make_app({}), "127.0.0.1", port)


@pytest.mark.skipif(not socket.has_ipv6, reason="needs IPv6")
def test_it_listens_on_the_loopback_address_of_ipv6() -> None:
    try:
        server = serve(make_app({}), "::1", 0)
    except ConfigurationError:
        pytest.skip("this machine has no IPv6 loopback address")
    assert httpx.get(f"{server.url}/livez", trust_env=False).status_code == 200
    assert server.stop()


def test_answers_do_not_wait_for_acknowledgements() -> None:
    with listen("127.0.0.1", 0) as listener:
        assert listener.proto == socket.IPPROTO_TCP, "so the event loop switches Nagle's algorithm off"


def test_the_description_covers_every_call_and_its_problems(server: RunningServer) -> None:
    description = httpx.get(f"{server.url}/openapi.json", trust_env=False).json()
    for path, operations in description["paths"].items():
        for method, operation in operations.items():
            assert operation.get("description") or operation.get("summary"), (method, path)
            for status, response in operation["responses"].items():
                if path.startswith("/v1") and int(status) >= 400:
                    assert "application/problem+json" in response["content"], (method, path, status)
    assert "HTTPValidationError" not in description["components"]["schemas"]
    search = description["paths"]["/v1/knowledge-bases/{kb}/search"]["post"]
    assert search["requestBody"]["content"]["application/json"]["schema"]["$ref"].endswith("/SearchBody")
    assert search["responses"]["200"]["content"]["application/json"]["schema"]["$ref"].endswith("/SearchReply")
