"""Looking: what is indexed, opened for somebody who changes nothing, also beside a docmill that runs."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import redis

from docmill.adapters.embedded.data_folder import DataFolder, check_data_folder, running_server
from docmill.adapters.embedded.valkey import ValkeyServer
from docmill.adapters.embedded.valkey_socket import socket_path_of
from docmill.adapters.redis.scripts import Scripts
from docmill.adapters.redis.state_registry import RedisRegistry
from docmill.bootstrap.connections import client_of
from docmill.bootstrap.stores import connect_vectors, vectors_of
from docmill.config import Configuration, Settings
from docmill.domain.errors import DataFolderInUse
from docmill.ports.registry import Registry
from docmill.ports.stores import VectorStore


@dataclass(frozen=True, slots=True)
class Look:
    """What can be seen.

    Attributes:
        registries: by knowledge base; none where nothing was indexed.
        vectors: None where nothing was indexed, or another process has them.
        hidden: one sentence about what cannot be seen, "" where everything can.
    """

    registries: Mapping[str, Registry]
    vectors: VectorStore | None
    hidden: str = ""


@contextmanager
def look(configuration: Configuration, settings: Settings, data_path: Path) -> Iterator[Look]:
    """Opens what is indexed in ``data_path``, or on the servers that are named.

    No epoch is raised and no index is made. Where another process holds the data folder its registry is read beside it; the vectors, which
    one process alone can open, stay hidden.

    Raises:
        DataFolderError: it is no data folder, or cannot be read.
        ServiceDown: a server does not answer.
        NotAvailable: a client is not installed.
    """
    names = [one.name for one in configuration.knowledge_bases]
    with ExitStack() as undo:
        if settings.redis_url is not None and settings.qdrant_url is not None:
            yield Look(_registries(names, settings, None, undo), undo.enter_context(closing(connect_vectors(settings))))
            return
        if not data_path.exists() or not any(data_path.iterdir()):
            yield Look({}, None, f"nothing was indexed into {data_path} yet: every file counts as new")
            return
        check_data_folder(data_path)
        try:
            folder = DataFolder.open(data_path)
        except DataFolderInUse:
            yield _beside(names, settings, data_path, undo)
            return
        undo.callback(folder.close)
        socket = None
        if settings.redis_url is None:
            server = ValkeyServer(folder.valkey, log_file=folder.logs / "valkey.log")
            server.start()
            undo.callback(server.stop)
            socket = server.socket
        vectors = undo.enter_context(closing(vectors_of(settings, folder.vectors)))
        yield Look(_registries(names, settings, socket, undo), vectors)


def _beside(names: Sequence[str], settings: Settings, data_path: Path, undo: ExitStack) -> Look:
    running = running_server(data_path)
    who = f"process {running.pid}" if running is not None else "another process"
    socket = socket_path_of(data_path.absolute() / "valkey")
    if settings.redis_url is None and socket is None:
        return Look({}, None, f"{who} has just opened {data_path}: every file counts as new")
    registries = _registries(names, settings, socket, undo)
    if settings.qdrant_url is not None:
        return Look(registries, undo.enter_context(closing(connect_vectors(settings))))
    return Look(registries, None, f"{who} has the vectors of {data_path} open: texts that are embedded already count once more")


def _registries(names: Sequence[str], settings: Settings, unix_socket: Path | None, undo: ExitStack) -> dict[str, Registry]:
    client: redis.Redis = client_of(settings, unix_socket)
    undo.callback(client.close)
    return {name: RedisRegistry(Scripts(client, name).unguarded()) for name in names}
