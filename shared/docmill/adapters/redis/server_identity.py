"""Which server process is at the other end of a connection: Redis's ``run_id``, which is another one after every start.

It is asked for once per connection, on that connection, so it is the id of the very process that will carry out what is sent next.
"""

import re
from typing import Any
from weakref import WeakKeyDictionary

import redis


class ServerIdentities:
    """Remembers the run id behind each connection until it is made anew."""

    def __init__(self) -> None:
        self._known: WeakKeyDictionary[Any, _Server] = WeakKeyDictionary()

    def at(self, connection: Any) -> str:
        """The run id behind ``connection``, which is connected; "" where a server has none, which only fakes do.

        Raises:
            redis.RedisError: it does not answer, or does not let this user ask.
        """
        server = self._known.get(connection)
        if server is None:
            server = self._known[connection] = _Server()
            connection.register_connect_callback(server.forget)
        if server.run_id is None:
            server.run_id = _run_id_of(connection)
        return server.run_id


class _Server:
    __slots__ = ("__weakref__", "run_id")

    def __init__(self) -> None:
        self.run_id: str | None = None

    def forget(self, _: Any) -> None:
        """Called by the connection, which holds no strong reference, whenever it was made."""
        self.run_id = None


def _run_id_of(connection: Any) -> str:
    connection.send_command("INFO", "server", check_health=False)
    try:
        answer = connection.read_response(disconnect_on_error=True)
    except redis.ResponseError as error:
        if "unknown command" in str(error).lower():
            return ""
        raise
    found = re.search(rb"run_id:(\w+)", answer)
    return found[1].decode() if found else ""
