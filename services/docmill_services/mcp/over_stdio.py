"""MCP over standard input and output: nothing but the protocol is written to standard output."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

import anyio
from mcp.server.stdio import stdio_server

from docmill.domain.knowledge_bases import KnowledgeBase
from docmill_services.cli.api import Api
from docmill_services.mcp.asking import CommandAsker
from docmill_services.mcp.server import DocmillServer
from docmill_services.mcp.tools import Tools


async def serve_stdio(
    connect: Callable[[], AbstractContextManager[Api]],
    look: Callable[[], AbstractContextManager[Api]],
    knowledge_bases: Sequence[KnowledgeBase],
) -> None:
    """Serves until standard input ends.

    Args:
        connect: as for ``CommandAsker``, to answer with.
        look: the same, to see what has changed; it opens no data folder, which ``docmill up`` could not have meanwhile.
        knowledge_bases: those that are configured.
    """
    answering, looking = (Tools(CommandAsker(ask), knowledge_bases, shows_all=True) for ask in (connect, look))
    server = DocmillServer(lambda authorization: looking if authorization is None else answering)
    async with stdio_server() as (received, sent), anyio.create_task_group() as tasks:
        tasks.start_soon(server.announce_changes)
        await server.run(received, sent, server.create_initialization_options())
        tasks.cancel_scope.cancel()
