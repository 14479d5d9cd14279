"""Runs the HTTP application in a thread of this process."""

import socket
import threading
from typing import Final

import uvicorn
from fastapi import FastAPI

from docmill.domain.errors import ServiceDown
from docmill_services.query.context import Context
from docmill_services.query.edge import is_loopback
from docmill_services.query.listening import listen

START_SECONDS: Final = 30.0
#: Open requests have this long to end after a stop.
GRACEFUL_SECONDS: Final = 1


class RunningServer:
    """A server that answers.

    Attributes:
        own_key: with which commands of this machine may ask it everything.
    """

    def __init__(self, host: str, port: int, server: uvicorn.Server, thread: threading.Thread, own_key: str) -> None:
        self.own_key = own_key
        self.host = host
        self.port = port
        self._server = server
        self._thread = thread

    @property
    def url(self) -> str:
        """``http://host:port``."""
        return f"http://[{self.host}]:{self.port}" if ":" in self.host else f"http://{self.host}:{self.port}"

    @property
    def running(self) -> bool:
        """Whether the thread that serves is alive."""
        return self._thread.is_alive()

    def stop(self, timeout_seconds: float = 3.0) -> bool:
        """Stops listening, ends streams, gives open requests a second; True when all is over within the time."""
        self._server.should_exit = True
        self._thread.join(timeout_seconds)
        if self._thread.is_alive():
            self._server.force_exit = True
        return not self._thread.is_alive()


def serve(app: FastAPI, host: str, port: int) -> RunningServer:
    """Starts to serve ``app`` and returns when it answers.

    Args:
        app: made by ``make_app``.
        host: ``localhost`` or a loopback address; any address of this machine where the application wants a key.
        port: 0 takes any that is free.

    Raises:
        ConfigurationError: another host without a key, or a port that this user cannot have.
        AddressInUse: the port is taken.
    """
    context: Context = app.state.context
    listener = listen(host, port, guarded=is_loopback(host) or context.guard.is_guarded())
    if not is_loopback(host):
        context.guard.always_want_a_key()
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        server_header=False,
        ws="none",
        proxy_headers=False,
        timeout_graceful_shutdown=GRACEFUL_SECONDS,
    )
    server = _Server(config, context)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, name="docmill-http", daemon=True)
    thread.start()
    if not server.answers.wait(START_SECONDS):
        server.should_exit = True
        raise ServiceDown(f"the HTTP server did not start within {START_SECONDS:.0f} s; its log says why")
    bound_host, bound_port = listener.getsockname()[:2]
    return RunningServer(bound_host, bound_port, server, thread, context.guard.own_key)


class _Server(uvicorn.Server):
    """Says when it answers, and ends streams before it waits for connections."""

    def __init__(self, config: uvicorn.Config, context: Context) -> None:
        super().__init__(config)
        self.answers = threading.Event()
        self._context = context

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.answers.set()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._context.stopping.set()
        await super().shutdown(sockets)
