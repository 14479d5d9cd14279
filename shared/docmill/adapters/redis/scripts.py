"""Runs the Lua scripts of the protocol state: one call is one atomic step on the server."""

import hashlib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Final

import redis
from redis.exceptions import ClusterDownError, NoScriptError, OutOfMemoryError, ReadOnlyError, ResponseError

from docmill.adapters.redis.keys import lua_names, prefix_of
from docmill.domain.errors import StoreDown

#: A server that is there but cannot write now: disk full, memory full, a replica, a cluster without a majority.
_UNABLE: Final = (OutOfMemoryError, ReadOnlyError, ClusterDownError)
#: The same inside the message of a script's error, as servers before 7 put it.
_UNABLE_TEXTS: Final = ("MISCONF ", "OOM ", "READONLY ")


@dataclass(frozen=True, slots=True)
class Script:
    """The whole text of a script and the digest by which the server knows it."""

    text: str
    sha: str


@cache
def script_named(name: str) -> Script:
    """The script ``lua/<name>.lua``, with the names of the keys and the library before it."""
    folder = resources.files("docmill.adapters.redis") / "lua"
    text = lua_names() + (folder / "library.lua").read_text("utf-8") + (folder / f"{name}.lua").read_text("utf-8")
    return Script(text, hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest())


class Scripts:
    """The scripts of one knowledge base on one server.

    Args:
        client: answers in bytes (``decode_responses`` off).
        kb: the knowledge base's name.

    Every method raises ``StoreDown`` when the server does not answer or cannot write, and when the state was never opened and the script
    needs an epoch.
    """

    def __init__(self, client: "redis.Redis", kb: str) -> None:
        self._client = client
        self._kb = kb
        self._prefix = prefix_of(kb).encode()

    def run(self, name: str, *args: str | int) -> None:
        """Runs a script whose answer says nothing."""
        self._call(name, args)

    def text(self, name: str, *args: str | int) -> str:
        """Runs a script that answers with one text."""
        answer: bytes = self._call(name, args)
        return answer.decode()

    def number(self, name: str, *args: str | int) -> int:
        """Runs a script that answers with one number."""
        return int(self._call(name, args))

    def items(self, name: str, *args: str | int) -> list[bytes]:
        """Runs a script that answers with a list of texts."""
        answer: list[bytes] = self._call(name, args)
        return answer

    def any_items(self, name: str, *args: str | int) -> list[Any]:
        """Runs a script that answers with a list of texts, absent values and lists."""
        answer: list[Any] = self._call(name, args)
        return answer

    def _call(self, name: str, args: tuple[str | int, ...]) -> Any:
        script = script_named(name)
        try:
            try:
                return self._client.evalsha(script.sha, 1, self._prefix, *args)
            except NoScriptError:
                return self._client.eval(script.text, 1, self._prefix, *args)
        except (redis.ConnectionError, redis.TimeoutError) as error:
            raise StoreDown(f"Redis, which holds the registry of {self._kb!r}, does not answer: {error}") from error
        except ResponseError as error:
            message = str(error)
            if "NOTOPEN" in message:
                raise StoreDown(f"the registry of {self._kb!r} was never opened or has been emptied; it must be rebuilt first") from error
            if isinstance(error, _UNABLE) or any(text in message for text in _UNABLE_TEXTS):
                raise StoreDown(f"Redis, which holds the registry of {self._kb!r}, cannot write now: {message}") from error
            raise
