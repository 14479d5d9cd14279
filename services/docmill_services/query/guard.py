"""Who may ask: keys, what each may do, and how often."""

import asyncio
import hashlib
import math
import re
import secrets
import time
from collections.abc import Callable
from contextvars import ContextVar
from hmac import compare_digest
from typing import Final

import structlog

from docmill.domain.access import ApiKey, Right
from docmill.domain.errors import DocmillError, StoreDown
from docmill.ports.keys import KeyStore, RequestCounter
from docmill_services.query.problems import Problem, problem_of, request_problem

#: A key that is revoked is refused at the latest after so long, in every process.
REFRESH_SECONDS: Final = 2.0
#: So long is waited for keys that are older than that; a store that takes longer is out, and its keys hold as they are known.
_PATIENCE_SECONDS: Final = 0.5
_PREFIX: Final = "dm"
#: The rights that calls need which are more, or less, than another ``POST``.
_CALL: Final = re.compile("/v1/knowledge-bases/[^/]+/(search|answer|verify)")
_log = structlog.get_logger("docmill.http")

#: The key of the request that is being served; None while none is needed.
CALLER: ContextVar[ApiKey | None] = ContextVar("docmill_caller", default=None)
#: What a request without a key may see where one is needed: nothing.
NOBODY: Final = ApiKey("nobody", "nobody", "", Right.READ, (), 0.0)


def new_key(
    name: str,
    right: Right,
    knowledge_bases: tuple[str, ...] | None = None,
    *,
    expires_at: float | None = None,
    requests_per_minute: int | None = None,
) -> tuple[ApiKey, str]:
    """A key as it is kept, and the key itself: ``dm_<id>_<secret>``."""
    key_id = secrets.token_hex(4)
    secret = f"{_PREFIX}_{key_id}_{secrets.token_urlsafe(32)}"
    digest = _digest(secret)
    return ApiKey(key_id, name, digest, right, knowledge_bases, time.time(), expires_at, requests_per_minute), secret


class Guard:
    """Decides whether a request is answered.

    While there is no key at all, everybody on this machine is. From the first key on every request but those for the service's own health
    must bring one: one of the stored keys, the settings' key, or the service's own, which may do everything. What is known of the stored
    keys is at most ``REFRESH_SECONDS`` old, or as old as the time for which their store has not answered.
    """

    def __init__(
        self,
        store: KeyStore | None = None,
        counter: RequestCounter | None = None,
        *,
        master: str | None = None,
        now: Callable[[], float] = time.time,
    ) -> None:
        """Asks nothing yet.

        Args:
            store: of the keys; None has none.
            counter: of their requests.
            master: the key of the settings; None where they have none.
            now: seconds since 1970.
        """
        self._store = store
        self._counter = counter
        self._now = now
        #: For commands of this machine, and for the service itself.
        self.own_key = secrets.token_urlsafe(32)
        everything = ApiKey("own", "docmill", _digest(self.own_key), Right.ADMIN, None, 0.0)
        self._masters = (
            [everything] if master is None else [everything, ApiKey("master", "DOCMILL_API_KEY", _digest(master), Right.ADMIN, None, 0.0)]
        )
        self._wants_key = master is not None
        self._keys: list[ApiKey] | None = None
        self._read_at = -math.inf
        self._reading: asyncio.Task[DocmillError | None] | None = None
        self._reading_since = 0.0

    async def caller(self, authorization: bytes) -> ApiKey | Problem | None:
        """Whose request it is; None where nobody needs a key, and the problem where it has none, or a void one."""
        problem = await self._refresh()
        if problem is not None:
            return problem
        scheme, _, given = authorization.partition(b" ")
        found = self._key_of(given.strip()) if scheme.lower() == b"bearer" else None
        if found is not None:
            return found
        if not self._wants_key and not self._keys:
            return None
        return request_problem("request.unauthorized", "this service wants a key: Authorization: Bearer KEY")

    async def too_many(self, key: ApiKey) -> Problem | None:
        """The problem when ``key`` has had its requests; a counter that does not answer lets them pass."""
        if key.requests_per_minute is None or self._counter is None:
            return None
        try:
            wait = await asyncio.to_thread(self._counter.wait_of, key)
        except StoreDown as error:
            _log.warning("requests_not_counted", error=str(error))
            return None
        if not wait:
            return None
        limit = f"this key has {key.requests_per_minute} requests a minute"
        return request_problem("request.too_many", limit, retry_after_seconds=max(1, round(wait + 0.5)))

    def is_guarded(self) -> bool:
        """Whether a key is needed now; asks the store, and raises ``StoreDown``."""
        return self._wants_key or bool(self._store is not None and self._store.all())

    def always_want_a_key(self) -> None:
        """Lets nobody in without a key, also when the last one is revoked, or their store has lost them."""
        self._wants_key = True

    def forget(self) -> None:
        """Lets the next request read the keys anew; what is being read may be from before."""
        self._read_at = -math.inf
        self._reading = None

    def _key_of(self, given: bytes) -> ApiKey | None:
        """The key; every one is compared, each in the same time."""
        digest = hashlib.sha256(given).hexdigest()
        matching = [key for key in (*self._masters, *(self._keys or ())) if compare_digest(key.digest, digest)]
        return next((key for key in matching if not key.is_expired(self._now())), None)

    async def _refresh(self) -> Problem | None:
        """Lets the keys be read where they are old, and waits for that where they are too old; the problem when they were never read."""
        if self._store is None or self._age() < REFRESH_SECONDS / 2:
            return None
        reading = self._read_once(self._store)
        while self._age() >= REFRESH_SECONDS:
            reading = self._read_once(self._store)
            patience = None if self._keys is None else max(0.0, self._reading_since + _PATIENCE_SECONDS - time.monotonic())
            await asyncio.wait({reading}, timeout=patience)
            if not reading.done() or reading is self._reading:
                break  # else they were forgotten meanwhile
        if self._keys is None and (error := reading.result()) is not None:
            return problem_of(error)
        return None

    def _age(self) -> float:
        return time.monotonic() - self._read_at

    def _read_once(self, store: KeyStore) -> asyncio.Task[DocmillError | None]:
        """The one reading that goes on."""
        if self._reading is None or self._reading.done():
            self._reading_since = time.monotonic()
            self._reading = asyncio.create_task(self._read(store))
        return self._reading

    async def _read(self, store: KeyStore) -> DocmillError | None:
        """Reads the keys; what went wrong, where their store does not answer: then those that are known hold on."""
        error, keys = None, self._keys
        try:
            keys = await asyncio.to_thread(store.all)
        except DocmillError as raised:
            error = raised
            _log.debug("keys_not_read", error=str(error))
        if keys is not None and self._reading is asyncio.current_task():
            self._keys, self._read_at = keys, time.monotonic()
        return error


def right_for(method: str, path: str) -> Right | None:
    """The right that a request needs; None for what everybody may have."""
    path = path.removesuffix("\n")  # the patterns of routes let one pass
    if path in ("/livez", "/readyz"):
        return None
    if path in ("/metrics", "/v1/keys") or path.startswith("/v1/keys/"):
        return Right.ADMIN
    if method in ("GET", "HEAD", "OPTIONS") or path in ("/mcp", "/v1/search"):
        return Right.READ
    call = _CALL.fullmatch(path) if method == "POST" else None
    if call is None:
        return Right.WRITE
    return Right.ADMIN if call[1] == "verify" else Right.READ


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
