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


class Store(MemoryKeyStore):
    """One that may be out."""

    out = False

    def all(self) -> list[ApiKey]:
        if self.out:
            raise StoreDown("the keys are out")
        return super().all()


@dataclass
class World:
    url: str
    store: Store

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
    server = serve(make_app(backends, keys=store, counter=MemoryRequestCounter(time.monotonic)), "127.0.0.1", 0)
    try:
        yield World(server.url, store)
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
    assert made.status_code == 201
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
