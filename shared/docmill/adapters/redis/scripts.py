"""Runs the Lua scripts of the protocol state: one call is one atomic step on the server."""

import copy
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, Final

import redis
from redis.exceptions import ClusterDownError, NoPermissionError, NoScriptError, OutOfMemoryError, ReadOnlyError, ResponseError

from docmill.adapters.redis.keys import lua_names, prefix_of
from docmill.adapters.redis.server_identity import ServerIdentities
from docmill.domain.errors import NotLeader, StateLost, StateSetBack, StoreDown

#: A server that is there but cannot write now: disk full, memory full, a replica, a cluster without a majority.
_UNABLE: Final = (OutOfMemoryError, ReadOnlyError, ClusterDownError, NoPermissionError)
#: The same inside the message of a script's error, as servers before 7 put it.
_UNABLE_TEXTS: Final = ("MISCONF ", "OOM ", "READONLY ", "NOREPLICAS ", "BUSY ", "NOPERM ")
#: What a state that was set back can still be asked, and what opens it again.
_UNGUARDED: Final = ("position", "raise_epoch", "keep_vectors")


@dataclass(frozen=True, slots=True)
class Script:
    """The whole text of a script and the digest by which the server knows it."""

    text: str
    sha: str


@cache
def script_named(name: str, *, guarded: bool = True) -> Script:
    """The script ``lua/<name>.lua``, with the names of the keys, the library and, unless it needs none, the guard before it."""
    folder = resources.files("docmill.adapters.redis") / "lua"
    parts = ("library", "guard", name) if guarded and name not in _UNGUARDED else ("library", name)
    text = lua_names() + "".join((folder / f"{part}.lua").read_text("utf-8") for part in parts)
    return Script(text, hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest())


class Scripts:
    """The scripts of one knowledge base on one server.

    Args:
        client: answers in bytes (``decode_responses`` off).
        kb: the knowledge base's name.

    Every method raises ``StoreDown`` when the server does not answer or cannot write, ``StateLost`` when the state was never opened and the
    script needs an epoch, ``StateSetBack`` while another server than the one that opened it has the state, and ``NotLeader`` as ``led_by``
    says.
    """

    def __init__(self, client: "redis.Redis", kb: str) -> None:
        self._client = client
        self._kb = kb
        self._prefix = prefix_of(kb).encode()
        self._servers = ServerIdentities()
        self._token = ""
        self._guarded = True

    def unguarded(self) -> "Scripts":
        """The same scripts for one who only reads, also what was set back, or what nobody has opened since its server was started."""
        unguarded = copy.copy(self)
        unguarded._guarded = False
        return unguarded

    def led_by(self, token: int) -> "Scripts":
        """The same scripts, each of which raises ``NotLeader`` once ``token`` does not hold the producer's role any more."""
        led = copy.copy(self)
        led._token = str(token)
        return led

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
        script = script_named(name, guarded=self._guarded)
        try:
            return self._on_a_connection(lambda connection: self._evaluate(connection, script, args))
        except (redis.ConnectionError, redis.TimeoutError) as error:
            raise StoreDown(f"Redis, which holds the registry of {self._kb!r}, does not answer: {error}") from error
        except ResponseError as error:
            message = str(error)
            if "SETBACK" in message:
                raise StateSetBack(
                    f"Redis has another server or was restarted: the registry of {self._kb!r} must be opened again"
                ) from error
            if "NOTLEADER" in message:
                raise NotLeader(f"another producer leads {self._kb!r} now") from error
            if "NOTOPEN" in message:
                raise StateLost(f"the registry of {self._kb!r} was never opened or has been emptied; it must be rebuilt first") from error
            if isinstance(error, _UNABLE) or any(text in message for text in _UNABLE_TEXTS):
                raise StoreDown(f"Redis, which holds the registry of {self._kb!r}, cannot write now: {message}") from error
            raise

    def _on_a_connection(self, send: Callable[[Any], Any]) -> Any:
        """What ``send`` returns, on a connection of the client's pool and with the client's retries.

        ``redis.Redis`` itself packs a command before it reconnects for a retry, so that the command could not name the new server.
        """
        pool = self._client.connection_pool
        connection: Any = pool.get_connection()
        try:
            return connection.retry.call_with_retry(lambda: send(connection), lambda _: connection.disconnect())
        finally:
            pool.release(connection)

    def _evaluate(self, connection: Any, script: Script, args: tuple[str | int, ...]) -> Any:
        connection.connect()
        connection.check_health()  # it may reconnect, so it comes before the server is asked who it is
        last = (self._token, self._servers.at(connection))
        try:
            return _ask(connection, "EVALSHA", script.sha, 1, self._prefix, *args, *last)
        except NoScriptError:
            return _ask(connection, "EVAL", script.text, 1, self._prefix, *args, *last)


def _ask(connection: Any, *command: str | int | bytes) -> Any:
    connection.send_command(*command, check_health=False)
    try:
        return connection.read_response(disconnect_on_error=True)
    except ResponseError as error:
        if "READONLY " in str(error):
            connection.disconnect()  # the next one goes to whichever server can be written
        raise
