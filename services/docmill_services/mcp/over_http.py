"""MCP over streamable HTTP, as a part of the query service."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

import httpx
from starlette.types import ASGIApp, Receive, Scope, Send

from docmill.domain.access import ApiKey
from docmill.domain.knowledge_bases import KnowledgeBase
from docmill_services.query.edge import COUNTED_KEY
from docmill_services.query.guard import CALLER
from docmill_services.query.problems import RefusedRequest

if TYPE_CHECKING:
    from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager


class McpOverHttp:
    """An ASGI application that is started by its first request: most services have no agents, and need not wait for what it imports."""

    def __init__(
        self, app: Callable[[], ASGIApp], knowledge_bases: Callable[[], Sequence[KnowledgeBase]], own_key: str, stopping: asyncio.Event
    ) -> None:
        """Asks ``app``, the whole query service, with the key of whoever asks, and with its own to see what has changed.

        All sessions end when ``stopping`` is set: their streams would keep the server waiting.
        """
        self._app = app
        self._knowledge_bases = knowledge_bases
        self._own = f"Bearer {own_key}"
        self._manager: StreamableHTTPSessionManager | None = None
        self._running: asyncio.Task[None] | None = None
        self._started = asyncio.Event()
        self._stopping = stopping

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves one request; who may ask was checked before. A session is that of the key which began it, and no other key's."""
        if self._stopping.is_set():
            raise RefusedRequest("server.stopping", "docmill is stopping; ask again when it runs")
        if self._running is None:
            self._running = asyncio.create_task(self._run(), name="docmill-mcp")
        waiting = asyncio.create_task(self._started.wait())
        await asyncio.wait({waiting, self._running}, return_when=asyncio.FIRST_COMPLETED)
        waiting.cancel()
        if self._manager is None:
            self._running.result()  # raises what it ended with
            raise RuntimeError("MCP ended before it had begun")
        key = CALLER.get()
        await self._manager.handle_request(scope if key is None else {**scope, "user": _user_of(key)}, receive, send)

    async def close(self) -> None:
        """Ends all sessions."""
        self._stopping.set()
        if self._running is not None:
            await self._running

    async def _run(self) -> None:
        """All that lives as long as the service: entered and left in one task, as task groups must be."""
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        from docmill_services.mcp.asking import ServiceAsker
        from docmill_services.mcp.server import MOST_SESSIONS, DocmillServer
        from docmill_services.mcp.tools import Tools

        async with AsyncExitStack() as stack:
            transport = httpx.ASGITransport(app=_counted(self._app()))
            client = await stack.enter_async_context(httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", timeout=None))

            def tools_for(authorization: str | None) -> Tools:
                asker = ServiceAsker(client, self._own if authorization is None else authorization)
                return Tools(asker, self._knowledge_bases(), shows_all=False)

            server = DocmillServer(tools_for)
            manager = StreamableHTTPSessionManager(server, max_sessions=MOST_SESSIONS)
            await stack.enter_async_context(manager.run())
            announcing = asyncio.create_task(server.announce_changes())
            self._manager = manager
            self._started.set()
            try:
                await self._stopping.wait()
            finally:
                announcing.cancel()


def _user_of(key: ApiKey) -> "AuthenticatedUser":
    """What sessions know the owner of a key by."""
    from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
    from mcp.server.auth.provider import AccessToken

    return AuthenticatedUser(AccessToken(token="", client_id=key.id, scopes=[]))


def _counted(app: ASGIApp) -> ASGIApp:
    """``app`` for what is asked on behalf of a request that was counted."""

    async def ask(scope: Scope, receive: Receive, send: Send) -> None:
        await app({**scope, COUNTED_KEY: True}, receive, send)

    return ask
