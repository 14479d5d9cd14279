"""API: how commands ask the query service: the one that runs on the data folder, or one opened for this command alone."""

import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from docmill.adapters.embedded.data_folder import running_server
from docmill.bootstrap import Engine, connect_engine, names_servers, open_engine
from docmill.config.settings import Settings
from docmill.domain.errors import DataFolderInUse, DocmillError, ExitCode, ServiceDown
from docmill_services.cli.run_endings import exit_codes_by_error
from docmill_services.embedded import end_interrupted_runs
from docmill_services.engine_backend import serve_engine
from docmill_services.origin import Origin

_TIMEOUT_SECONDS = 30.0
_PATIENCE_SECONDS = 10.0
_LOOK_SECONDS = 0.1


class ApiError(DocmillError):
    """What the query service answered instead of data; ``code`` is the answer's, "" when it has none."""

    def __init__(self, message: str, code: str, exit_code: ExitCode) -> None:
        super().__init__(message)
        self.code = code  # type: ignore[misc]  # decided by the answer
        self.exit_code = exit_code  # type: ignore[misc]  # decided by the answer


@dataclass(frozen=True, slots=True)
class Api:
    """A connection to a query service."""

    client: httpx.Client

    def get(self, path: str, **parameters: Any) -> Any:
        """The JSON of ``path``; raises ``ApiError`` or ``ServiceDown``."""
        wanted = {name: value for name, value in parameters.items() if value is not None}
        return self._ask("GET", path, params=wanted)

    def post(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """The JSON that answers ``body``; raises ``ApiError`` or ``ServiceDown``."""
        return self._ask("POST", path, json=body if body is not None else {})

    def events(self, path: str, body: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        """The server-sent events that answer ``body``: the name of each, and its JSON.

        Raises:
            ApiError: it is refused, or ends with an event ``error``.
            ServiceDown: the service does not answer, or breaks off.
        """
        try:
            with self.client.stream("POST", path, json=body, timeout=httpx.Timeout(_TIMEOUT_SECONDS, read=None)) as response:
                if not response.is_success:
                    response.read()
                    raise _error_of(_problem_of(response), response.status_code)
                name = ""
                for line in _lines_of(response):
                    if line.startswith("event: "):
                        name = line.removeprefix("event: ")
                    elif line.startswith("data: "):
                        data = json.loads(line.removeprefix("data: "))
                        if name == "error":
                            raise _error_of(data, int(data.get("status", 500)))
                        yield name, data
        except httpx.HTTPError as error:
            raise ServiceDown(f"the query service at {self.client.base_url} does not answer: {error}") from error

    def delete(self, path: str) -> Any:
        """The JSON that answers; raises ``ApiError`` or ``ServiceDown``."""
        return self._ask("DELETE", path)

    def _ask(self, method: str, path: str, **request: Any) -> Any:
        try:
            response = self.client.request(method, path, **request)
        except httpx.HTTPError as error:
            raise ServiceDown(f"the query service at {self.client.base_url} does not answer: {error}") from error
        if response.is_success:
            return response.json() if response.content else None
        raise _error_of(_problem_of(response), response.status_code)


def _lines_of(response: httpx.Response) -> Iterator[str]:
    """The lines of server-sent events; JSON may hold what only Unicode takes for the end of one."""
    held = ""
    for text in response.iter_text():
        *lines, held = (held + text).split("\n")
        yield from lines


def _problem_of(response: httpx.Response) -> Mapping[str, Any]:
    """The problem document of a refusal; empty where it has none."""
    try:
        problem = response.json()
    except ValueError:
        return {}
    return problem if isinstance(problem, dict) else {}


def _error_of(problem: Mapping[str, Any], status: int) -> ApiError:
    code, detail = (
        str(problem.get("code", "")),
        str(problem.get("detail") or problem.get("title") or f"the query service answered {status}"),
    )
    return ApiError(detail, code, exit_codes_by_error().get(code, ExitCode.USAGE if status < 500 else ExitCode.SERVICE_DOWN))


@dataclass(frozen=True, slots=True)
class RunningService:
    """Where a query service answers, and a key that it takes where it wants one."""

    url: str
    key: str


@contextmanager
def ask_running(data_dir: Path) -> Iterator[Api]:
    """The service that runs on ``data_dir``; raises ``ServiceDown`` where none does."""
    running = running_server(data_dir)
    if running is None or running.url is None:
        raise ServiceDown(f"no docmill answers on {data_dir}")
    with client_of(running.url, running.key or Settings.from_environment(os.environ).api_key or "") as client:
        yield Api(client)


@contextmanager
def open_api(origin: Origin, data_dir: Path) -> Iterator[Api]:
    """The service that runs on ``data_dir``; without one, the data folder is opened for the time of the command.

    Raises:
        ServiceDown: a process holds the data folder and does not listen yet, or nothing was indexed.
    """
    settings = Settings.from_environment(os.environ)
    opened = url_or_engine(origin, data_dir, settings)
    if isinstance(opened, RunningService):
        with client_of(opened.url, opened.key) as client:
            yield Api(client)
        return
    engine = opened
    try:
        if engine.is_alone:
            end_interrupted_runs(engine)
        server = serve_engine(engine, "127.0.0.1", 0)
        try:
            with client_of(server.url, server.own_key) as client:
                yield Api(client)
        finally:
            server.stop()
    finally:
        engine.close()


def client_of(url: str, api_key: str, *, timeout_seconds: float = _TIMEOUT_SECONDS) -> httpx.Client:
    """A client of the query service at ``url`` that brings the key."""
    headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
    return httpx.Client(base_url=url, timeout=httpx.Timeout(_TIMEOUT_SECONDS, read=timeout_seconds), headers=headers)


def url_or_engine(origin: Origin, data_dir: Path, settings: Settings) -> "RunningService | Engine":
    """Where the data folder's holder answers, the servers that are named, or the opened folder.

    Another command may hold the folder for a moment.
    """
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while True:
        running = running_server(data_dir)
        if running is not None and running.url is not None:
            return RunningService(running.url, running.key or settings.api_key or "")
        if running is None and names_servers(settings):
            return connect_engine(
                origin.configuration(scan_interval_seconds=settings.scan_interval_seconds, environ=os.environ), settings, os.environ
            )
        if running is None:
            if Origin.saved(data_dir) is None:
                raise ServiceDown(f"nothing was indexed into {data_dir} yet; run: docmill up FOLDER")
            try:
                configuration = origin.configuration(scan_interval_seconds=settings.scan_interval_seconds, environ=os.environ)
                return open_engine(configuration, settings, data_dir, os.environ)
            except DataFolderInUse:
                if time.monotonic() > deadline:
                    raise
        elif time.monotonic() > deadline:
            raise ServiceDown(f"docmill (process {running.pid}) is starting, or indexing without HTTP, on {data_dir}; try again later")
        time.sleep(_LOOK_SECONDS)
