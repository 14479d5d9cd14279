"""The guard: whose keys are known when, and which right a request needs."""

import asyncio
import threading
from collections.abc import Callable

import pytest

from docmill.adapters.memory.keys import MemoryKeyStore
from docmill.domain.access import ApiKey, Right
from docmill.domain.errors import StoreDown
from docmill_services.query import guard as guarding
from docmill_services.query.guard import Guard, new_key, right_for
from docmill_services.query.problems import Problem


class Store(MemoryKeyStore):
    """One that calls ``before_answer`` when it has read its keys."""

    before_answer: Callable[[], object] = staticmethod(lambda: None)

    def all(self) -> list[ApiKey]:
        found = super().all()
        self.before_answer()
        return found


def store_with_key() -> tuple[Store, ApiKey, bytes]:
    store = Store()
    key, secret = new_key("test", Right.READ)
    store.put(key)
    return store, key, f"Bearer {secret}".encode()


def test_a_key_that_another_process_revoked_long_ago_is_refused_with_the_first_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guarding, "REFRESH_SECONDS", 0.0)
    store, key, header = store_with_key()
    other, _ = new_key("other", Right.READ)
    store.put(other)
    guard = Guard(store)

    async def scenario() -> None:
        assert await guard.caller(header) == key
        store.remove(key.id)
        assert isinstance(await guard.caller(header), Problem)

    asyncio.run(scenario())


def test_keys_that_were_being_read_when_one_was_revoked_do_not_count() -> None:
    store, key, header = store_with_key()
    guard = Guard(store)
    is_read, may_answer = threading.Event(), threading.Event()

    def wait() -> None:
        is_read.set()
        may_answer.wait(30)

    async def scenario() -> None:
        store.before_answer = wait
        asking = asyncio.create_task(guard.caller(header))
        await asyncio.to_thread(is_read.wait, 30)
        store.remove(key.id)
        guard.forget()
        may_answer.set()
        assert await asking is None
        assert await guard.caller(header) is None

    asyncio.run(scenario())


def test_a_store_that_hangs_delays_nobody_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    store, key, header = store_with_key()
    guard = Guard(store)
    may_answer = threading.Event()

    async def scenario() -> None:
        assert await guard.caller(header) == key
        monkeypatch.setattr(guarding, "REFRESH_SECONDS", 0.0)
        store.before_answer = lambda: may_answer.wait(60)
        assert await asyncio.wait_for(guard.caller(header), 30) == key
        may_answer.set()

    asyncio.run(scenario())


def test_keys_that_were_never_read_let_nobody_in_and_are_asked_for_again() -> None:
    store, key, header = store_with_key()
    guard = Guard(store)

    def fail() -> None:
        raise StoreDown("out")

    async def scenario() -> None:
        store.before_answer = fail
        refused = await guard.caller(header)
        assert isinstance(refused, Problem)
        assert refused.code == "store.down"
        store.before_answer = lambda: None
        assert await guard.caller(header) == key

    asyncio.run(scenario())


@pytest.mark.parametrize("scheme", ["bearer", "BEARER"])
def test_the_scheme_may_be_written_in_any_case(scheme: str) -> None:
    store, key, header = store_with_key()
    assert asyncio.run(Guard(store).caller(header.replace(b"Bearer", scheme.encode()))) == key


@pytest.mark.parametrize(
    ("method", "path", "right"),
    [
        ("GET", "/livez", None),
        ("GET", "/readyz", None),
        ("GET", "/openapi.json", Right.READ),
        ("GET", "/metrics", Right.ADMIN),
        ("GET", "/metrics\n", Right.ADMIN),
        ("GET", "/v1/keys", Right.ADMIN),
        ("GET", "/v1/keys\n", Right.ADMIN),
        ("POST", "/v1/keys\n", Right.ADMIN),
        ("DELETE", "/v1/keys/search", Right.ADMIN),
        ("POST", "/mcp", Right.READ),
        ("DELETE", "/mcp", Right.READ),
        ("POST", "/v1/search", Right.READ),
        ("GET", "/v1/knowledge-bases/kb", Right.READ),
        ("POST", "/v1/knowledge-bases/kb/search", Right.READ),
        ("POST", "/v1/knowledge-bases/kb/answer", Right.READ),
        ("POST", "/v1/knowledge-bases/kb/verify", Right.ADMIN),
        ("POST", "/v1/knowledge-bases/kb/verify\n", Right.ADMIN),
        ("POST", "/v1/knowledge-bases/kb/runs", Right.WRITE),
        ("POST", "/v1/knowledge-bases/kb/retry", Right.WRITE),
        ("POST", "/v1/knowledge-bases/kb/approve-removals", Right.WRITE),
        ("DELETE", "/v1/knowledge-bases/kb/runs/search", Right.WRITE),
        ("GET", "/v1/knowledge-bases/kb/documents/bin/verify", Right.READ),
        ("PUT", "/v1/knowledge-bases/kb/documents/search", Right.WRITE),
        ("DELETE", "/v1/knowledge-bases/kb/documents/api/answer", Right.WRITE),
        ("POST", "/v1/knowledge-bases/kb/documents/search", Right.WRITE),
    ],
)
def test_the_right_is_that_of_the_call_and_not_of_what_its_path_ends_with(method: str, path: str, right: Right | None) -> None:
    assert right_for(method, path) is right
