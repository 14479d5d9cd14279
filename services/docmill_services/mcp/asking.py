"""Asking: how tools get what they answer from the query service, wherever that runs."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import Any, Protocol

import anyio.to_thread
import httpx

from docmill.domain.errors import DocmillError
from docmill_services.cli.api import Api


class Refused(Exception):
    """The query service refused or does not answer; the message is for whoever called the tool."""


class Asker(Protocol):
    """Asks the query service; paths are those of its HTTP API."""

    async def get(self, path: str) -> Any:
        """The JSON of ``path``; raises ``Refused``."""
        ...

    async def post(self, path: str, body: dict[str, Any]) -> Any:
        """The JSON that answers ``body``; raises ``Refused``."""
        ...


class ServiceAsker:
    """Asks the application in this process, through all that stands before its routes."""

    def __init__(self, client: httpx.AsyncClient, authorization: str) -> None:
        """``authorization`` is the header of whoever asks; "" where it brought none."""
        self._client = client
        self._headers = {b"authorization": authorization.encode("latin-1")} if authorization else {}  # as it came, whatever it is

    async def get(self, path: str) -> Any:
        """See ``Asker``."""
        return self._json(await self._client.get(path, headers=self._headers))

    async def post(self, path: str, body: dict[str, Any]) -> Any:
        """See ``Asker``."""
        return self._json(await self._client.post(path, json=body, headers=self._headers))

    @staticmethod
    def _json(response: httpx.Response) -> Any:
        found = response.json()
        if response.is_success:
            return found
        raise Refused(found.get("detail") or found.get("title") or f"the query service answered {response.status_code}")


class CommandAsker:
    """Asks as commands do: the docmill that runs on the data folder, else the servers that are named, else the folder, opened for that."""

    def __init__(self, connect: Callable[[], AbstractContextManager[Api]]) -> None:
        """``connect`` is called for each question: docmill may be started, stopped and started again between two."""
        self._connect = connect

    async def get(self, path: str) -> Any:
        """See ``Asker``."""
        return await anyio.to_thread.run_sync(partial(self._ask, lambda api: api.get(path)))

    async def post(self, path: str, body: dict[str, Any]) -> Any:
        """See ``Asker``."""
        return await anyio.to_thread.run_sync(partial(self._ask, lambda api: api.post(path, body)))

    def _ask(self, question: Callable[[Api], Any]) -> Any:
        try:
            with self._connect() as api:
                return question(api)
        except DocmillError as error:
            raise Refused(str(error)) from error
