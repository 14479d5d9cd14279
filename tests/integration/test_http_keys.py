"""API keys over real HTTP: who sees what, who may do what, how often, and until when."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import anyio
import httpx
import pytest
from mcp.client.client import Client

from docmill.adapters.memory.keys import MemoryKeyStore, MemoryRequestCounter
from docmill.domain.access import ApiKey, Right
from docmill.domain.errors import StoreDown
from docmill_services.query.app import make_app
from docmill_services.query.guard import new_key
from docmill_services.query.serve import serve
from support.http_service import LibraryBackend
from support.library import Library

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}


class Store(MemoryKeyStore):
    """One that may be out."""

    out = False

    def all(self) -> list[ApiKey]:
        if self.out:
            raise StoreDown("the keys are out")
        return super().all()


class Counter(MemoryRequestCounter):
    """One that says how many requests it has counted."""

    counted = 0

    def wait_of(self, key: ApiKey) -> float:
        self.counted += 1
        return super().wait_of(key)


@dataclass
class World:
    url: str
    store: Store
    library: Library
    counter: Counter

    def key(self, right: Right = Right.READ, *knowledge_bases: str, **more: float | int | None) -> str:
        """A new key, known to the service at once."""
        made, secret = new_key("test", right, knowledge_bases or None)
        self.store.put(replace(made, **more))  # type: ignore[arg-type]
        self.wait_until(lambda: self.ask("GET", "/v1/knowledge-bases", secret).status_code != 401 or "expires_at" in more)
        return secret

    def ask(self, method: str, path: str, key: str | None = None, **request: object) -> httpx.Response:
        headers = {} if key is None else {"authorization": f"Bearer {key}"}
        return httpx.request(method, self.url + path, headers=headers, timeout=30, **request)  # type: ignore[arg-type]

    def wait_until(self, condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 15
        while not condition():
            assert time.monotonic() < deadline
            time.sleep(0.05)


@pytest.fixture
def world() -> Iterator[World]:
    library, payroll, store = Library(), Library(), Store()
    library.put("guide.md", "one apple")
    payroll.put("salaries.md", "one apple costs a salary")
    payroll.settings = replace(payroll.settings, name="payroll")
    backends = {"library": LibraryBackend(library), "payroll": LibraryBackend(payroll)}
    counter = Counter(time.monotonic)
    server = serve(make_app(backends, keys=store, counter=counter), "127.0.0.1", 0)
    try:
        yield World(server.url, store, library, counter)
    finally:
        assert server.stop()
        library.close()
        payroll.close()


def test_without_any_key_everybody_on_this_machine_may_ask_and_from_the_first_key_on_nobody_without(world: World) -> None:
    assert world.ask("GET", "/v1/knowledge-bases").status_code == 200
    world.key()
    world.wait_until(lambda: world.ask("GET", "/v1/knowledge-bases").status_code != 200)
    answer = world.ask("GET", "/v1/knowledge-bases")
    assert (answer.status_code, answer.json()["code"]) == (401, "request.unauthorized")
    assert world.ask("GET", "/livez").status_code == 200


def test_a_key_never_sees_another_knowledge_base(world: World) -> None:
    key = world.key(Right.READ, "library")
    answers = [
        world.ask("GET", "/v1/knowledge-bases", key),
        world.ask("GET", "/v1/knowledge-bases/payroll", key),
        world.ask("GET", "/v1/knowledge-bases/payroll/documents", key),
        world.ask("GET", "/v1/knowledge-bases/payroll/documents/salaries.md", key),
        world.ask("POST", "/v1/knowledge-bases/payroll/search", key, json={"query": "apple"}),
        world.ask("POST", "/v1/knowledge-bases/payroll/answer", key, json={"question": "apple"}),
        world.ask("POST", "/v1/search", key, json={"query": "apple"}),
        world.ask("POST", "/v1/search", key, json={"query": "apple", "knowledge_bases": ["payroll"]}),
        world.ask("POST", "/v1/knowledge-bases/nothing/search", key, json={"query": "apple"}),
        world.ask("GET", "/metrics", key),
        world.ask("GET", "/readyz"),
        world.ask("GET", "/readyz", key),
    ]
    assert [answer.status_code for answer in answers] == [200, 404, 404, 404, 404, 404, 200, 404, 404, 403, 200, 200]
    for answer in answers:
        said = answer.text.replace("no knowledge base is called 'payroll'", "")  # what was asked for itself
        assert "payroll" not in said
        assert "salar" not in said
    assert {one["document_id"] for one in answers[6].json()["results"]} == {"guide.md"}
    assert answers[10].json()["knowledge_bases"] == {}


def test_each_right_may_do_what_is_below_it(world: World) -> None:
    requests = {
        "search": ("POST", "/v1/knowledge-bases/library/search", {"query": "apple"}),
        "run": ("POST", "/v1/knowledge-bases/library/runs", {}),
        "verify": ("POST", "/v1/knowledge-bases/library/verify", {}),
        "keys": ("GET", "/v1/keys", None),
    }

    def allowed(key: str) -> list[str]:
        answers = {name: world.ask(method, path, key, json=body) for name, (method, path, body) in requests.items()}
        assert all(answer.status_code < 300 or answer.json()["code"] == "request.forbidden" for answer in answers.values())
        return [name for name, answer in answers.items() if answer.status_code < 300]

    assert allowed(world.key(Right.READ)) == ["search"]
    assert allowed(world.key(Right.WRITE)) == ["search", "run"]
    assert allowed(world.key(Right.ADMIN)) == ["search", "run", "verify", "keys"]
    assert allowed(world.key(Right.ADMIN, "library")) == ["search", "run"]


def test_no_way_of_writing_a_path_gives_a_key_more_than_its_right(world: World) -> None:
    reads, writes = world.key(Right.READ), world.key(Right.WRITE)
    for key, method, path in (
        (reads, "GET", "/v1/keys%0A"),
        (writes, "POST", "/v1/keys%0A"),
        (reads, "GET", "/metrics%0A"),
        (writes, "POST", "/v1/knowledge-bases/library/verify%0A"),
        (reads, "DELETE", "/v1/knowledge-bases/library/documents/search"),
        (reads, "PUT", "/v1/knowledge-bases/library/documents/api/answer"),
        (reads, "DELETE", "/v1/knowledge-bases/library/runs/search"),
    ):
        body = {"name": "more", "right": "admin"} if method == "POST" and "keys" in path else {}
        answer = world.ask(method, path, key, **({} if method in ("GET", "DELETE") else {"json": body}))
        assert (answer.status_code, answer.json()["code"]) == (403, "request.forbidden"), path
    for path in ("//v1/keys", "/v1//keys", "/v1/keys/", "/V1/keys", "/v1%2fkeys", "/v1/./keys", "/v1/x/../keys"):
        assert world.ask("GET", path, reads).status_code in (403, 404), path


def test_a_document_may_be_called_like_a_call(world: World) -> None:
    world.library.put("bin/verify", "one apple")
    key = world.key(Right.READ)
    assert world.ask("GET", "/v1/knowledge-bases/library/documents/bin/verify", key).status_code == 200


def test_on_an_address_of_the_network_nobody_is_let_in_when_the_last_key_is_gone() -> None:
    store = Store()
    key, secret = new_key("test", Right.READ)
    store.put(key)
    server = serve(make_app({}, keys=store), "0.0.0.0", 0)
    try:
        url = f"http://127.0.0.1:{server.port}/v1/knowledge-bases"
        assert httpx.get(url, headers={"authorization": f"Bearer {secret}"}).status_code == 200
        store.remove(key.id)
        deadline = time.monotonic() + 15
        while (answer := httpx.get(url, headers={"authorization": f"Bearer {secret}"})).status_code == 200:
            assert time.monotonic() < deadline
            assert httpx.get(url).status_code == 401
            time.sleep(0.05)
        assert answer.status_code == 401
        assert httpx.get(url).status_code == 401
    finally:
        assert server.stop()


def test_a_key_has_so_many_requests_a_minute_and_then_is_told_when_to_come_again(world: World) -> None:
    made, key = new_key("limited", Right.READ, requests_per_minute=3)
    world.store.put(made)
    world.wait_until(lambda: world.ask("GET", "/v1/keys", key).status_code == 403)  # known; what is refused does not count
    answers = [world.ask("GET", "/v1/knowledge-bases", key) for _ in range(4)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
    assert answers[-1].json()["code"] == "request.too_many"
    assert 1 <= int(answers[-1].headers["retry-after"]) <= 61


def test_an_expired_key_is_refused(world: World) -> None:
    key = world.key(expires_at=time.time() - 1)
    world.wait_until(lambda: world.ask("GET", "/v1/knowledge-bases").status_code == 401)
    assert world.ask("GET", "/v1/knowledge-bases", key).status_code == 401


def test_keys_are_made_shown_once_listed_and_revoked(world: World) -> None:
    admin = world.key(Right.ADMIN)
    made = world.ask("POST", "/v1/keys", admin, json={"name": "agent", "knowledge_bases": ["library"]})
    assert (made.status_code, made.headers["cache-control"]) == (201, "no-store")
    key = made.json()["key"]
    assert world.ask("GET", "/v1/knowledge-bases", key).status_code == 200
    listed = world.ask("GET", "/v1/keys", admin)
    assert [one["name"] for one in listed.json()["keys"]] == ["test", "agent"]
    assert key not in listed.text
    assert all(key not in repr(one) for one in world.store.all())
    assert world.ask("DELETE", f"/v1/keys/{made.json()['id']}", admin).status_code == 204
    assert world.ask("GET", "/v1/knowledge-bases", key).status_code == 401
    assert world.ask("DELETE", f"/v1/keys/{made.json()['id']}", admin).json()["code"] == "key.unknown"
    assert world.ask("POST", "/v1/keys", admin, json={"name": "x", "knowledge_bases": ["nothing"]}).status_code == 404
    assert world.ask("POST", "/v1/keys", admin, json={"name": "x", "right": "all"}).status_code == 422


def test_keys_that_are_known_hold_while_their_store_is_out(world: World) -> None:
    key = world.key()
    world.store.out = True
    deadline = time.monotonic() + 3
    while time.monotonic() < deadline:
        assert world.ask("GET", "/v1/knowledge-bases", key).status_code == 200
        assert world.ask("GET", "/v1/knowledge-bases").status_code == 401
        time.sleep(0.2)


def test_a_service_that_has_never_read_its_keys_lets_nobody_in() -> None:
    store = Store()
    store.out = True
    server = serve(make_app({}, keys=store), "127.0.0.1", 0)
    try:
        answer = httpx.get(f"{server.url}/v1/knowledge-bases")
        assert (answer.status_code, answer.json()["code"]) == (503, "store.down")
    finally:
        assert server.stop()


@pytest.mark.parametrize("key", ["x", "dm_", "dm_0_0", "dm_" + "a" * 5000, "Bearer"])
def test_what_is_no_key_is_refused(world: World, key: str) -> None:
    world.key()
    world.wait_until(lambda: world.ask("GET", "/v1/knowledge-bases").status_code == 401)
    assert world.ask("GET", "/v1/knowledge-bases", key).status_code == 401


def test_an_agent_sees_the_tools_of_its_keys_knowledge_bases_alone(world: World) -> None:
    key = world.key(Right.READ, "library")

    async def run() -> tuple[list[str], bool, str]:
        import httpx2
        from mcp.client.streamable_http import streamable_http_client

        http = httpx2.AsyncClient(headers={"authorization": f"Bearer {key}"}, timeout=30)
        async with http, Client(streamable_http_client(f"{world.url}/mcp", http_client=http), read_timeout_seconds=30) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            found = await client.call_tool("library", {"query": "apple"})
            other = await client.call_tool("payroll", {"query": "apple"})
            assert other.is_error
            return names, bool(found.is_error), str(other.content)

    names, failed, said = anyio.run(run)
    assert ("library" in names, "payroll" in names, failed) == (True, False, False)
    assert "salar" not in said


def test_a_request_of_an_agent_counts_once(world: World) -> None:
    made, key = new_key("agent", Right.READ, requests_per_minute=1000)
    world.store.put(made)
    world.wait_until(lambda: world.ask("GET", "/v1/keys", key).status_code == 403)
    headers = {"authorization": f"Bearer {key}", "accept": "application/json, text/event-stream"}
    with httpx.Client(base_url=world.url, headers=headers, timeout=30) as client:
        opened = client.post("/mcp", json=INITIALIZE)
        client.headers["mcp-session-id"] = opened.headers["mcp-session-id"]
        assert client.post("/mcp", json={"jsonrpc": "2.0", "method": "notifications/initialized"}).is_success
        call = {"name": "library", "arguments": {"query": "apple"}}
        assert "guide.md" in client.post("/mcp", json={"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}).text
    assert world.counter.counted == 3


def test_the_session_of_a_key_is_none_of_another_keys(world: World) -> None:
    headers = {"accept": "application/json, text/event-stream"}
    own, other = ({**headers, "authorization": f"Bearer {world.key()}"} for _ in range(2))
    opened = httpx.post(f"{world.url}/mcp", json=INITIALIZE, headers=own, timeout=30)
    session = {"mcp-session-id": opened.headers["mcp-session-id"]}
    said = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert httpx.post(f"{world.url}/mcp", json=said, headers={**other, **session}, timeout=30).status_code == 404
    assert httpx.delete(f"{world.url}/mcp", headers={**other, **session}, timeout=30).status_code == 404
    assert httpx.post(f"{world.url}/mcp", json=said, headers={**own, **session}, timeout=30).is_success
