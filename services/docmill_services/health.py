"""Health: a small HTTP server by which an orchestrator asks a process whether it is well."""

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from docmill.domain.errors import AddressInUse, DocmillError


class HealthServer:
    """Answers ``GET /livez``: 200 while ``check`` returns, 503 with its reason when it raises."""

    def __init__(self, host: str, port: int, check: Callable[[], None]) -> None:
        """Listens at once.

        Raises:
            AddressInUse: the address is taken, or is none of this machine.
        """
        self._check = check
        try:
            self._server = ThreadingHTTPServer((host, port), self._handler())
        except OSError as error:
            raise AddressInUse(f"cannot listen on {host}:{port}: {error.strerror or error}; choose another with --health-port") from error
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, name="docmill-health", daemon=True).start()

    @property
    def url(self) -> str:
        """Where it answers."""
        host, port = self._server.server_address[:2]
        return f"http://{host!s}:{port}/livez"

    def close(self) -> None:
        """Listens no longer."""
        self._server.shutdown()
        self._server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        check = self._check

        class Handler(BaseHTTPRequestHandler):
            timeout = 10

            def do_GET(self) -> None:
                if self.path != "/livez":
                    self._answer(404, {"detail": "ask /livez"})
                    return
                try:
                    check()
                except DocmillError as error:
                    self._answer(503, {"ok": False, "detail": str(error)})
                else:
                    self._answer(200, {"ok": True})

            def _answer(self, status: int, body: dict[str, object]) -> None:
                content = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_arguments: object) -> None:
                """A probe every few seconds is no news."""

        return Handler
