"""Engine: what a process that indexes or answers works with."""

import os
import secrets
import socket
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import structlog
from celery import Celery

from docmill.adapters.clock import SystemClock
from docmill.adapters.embedded.data_folder import DataFolder
from docmill.adapters.embedded.edge_shard import require_room
from docmill.adapters.embedded.valkey import ValkeyServer
from docmill.adapters.files import FileSource
from docmill.adapters.isolation import ProcessIsolation
from docmill.adapters.redis.api_keys import RedisKeyStore, RedisRequestCounter
from docmill.bootstrap.connections import Connections, celery_of
from docmill.bootstrap.models import Models
from docmill.chunking import chunk
from docmill.config import Configuration, Settings
from docmill.domain.errors import DocmillError, KnowledgeBaseUnknown, NotAvailable
from docmill.domain.knowledge_bases import KnowledgeBase
from docmill.domain.registry import Lane
from docmill.indexing.index_sets import IndexSets
from docmill.indexing.preparing import Chunker
from docmill.indexing.state_opening import open_state
from docmill.ports.clock import Clock
from docmill.ports.gate import Gate
from docmill.ports.keys import KeyStore, RequestCounter
from docmill.ports.models import ChatModel, RerankModel
from docmill.ports.state import KnowledgeBaseState
from docmill.ports.stores import LexicalStore, VectorStore

_log = structlog.get_logger(__name__)
_EVERYTHING = 1_000_000
_MESSAGES_AT_ONCE = 500
#: The embedded engines show writes at once; a little company makes them cheaper.
_EMBEDDED_COMMIT_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class OpenKnowledgeBase:
    """A knowledge base with its state, its files and its index sets."""

    specification: KnowledgeBase
    state: KnowledgeBaseState
    source: FileSource
    index_sets: IndexSets


class Engine:
    """Everything that a process has but its consumers, its HTTP server and its producer.

    Attributes:
        holder: names this process, as no other one is named, where it holds a role.
        unix_socket: of the embedded server; None where Redis is named by its URL, and its state is shared with other processes.
    """

    def __init__(
        self,
        configuration: Configuration,
        settings: Settings,
        connections: Connections,
        vectors: VectorStore,
        lexical: LexicalStore,
        knowledge_bases: Mapping[str, OpenKnowledgeBase],
        isolation: ProcessIsolation,
        *,
        unix_socket: Path | None = None,
        models: Models | None = None,
    ) -> None:
        """Use ``connect_engine`` or ``open_engine``."""
        self.configuration = configuration
        self.settings = settings
        self.knowledge_bases = knowledge_bases
        self.vectors = vectors
        self.lexical = lexical
        self.tasks = connections.tasks
        self.keys: KeyStore = RedisKeyStore(connections.client)
        self.request_counter: RequestCounter = RedisRequestCounter(connections.client)
        self.clock: Clock = SystemClock()
        self.chunker: Chunker = chunk
        self.isolation = isolation
        # Containers may share a host's name, and each begin with process 1.
        self.holder = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
        self.group_commit_seconds = _EMBEDDED_COMMIT_SECONDS if settings.elasticsearch_url is None else settings.group_commit_seconds
        self.worker_threads = settings.worker_threads or max(2, min(8, os.cpu_count() or 2))
        self._closing = ExitStack()
        self._models = models
        self.unix_socket = unix_socket

    @property
    def is_alone(self) -> bool:
        """Whether no other process can be at work: the server is this process's own."""
        return self.unix_socket is not None

    def knowledge_base(self, name: str) -> OpenKnowledgeBase:
        """The knowledge base called ``name``.

        Raises:
            KnowledgeBaseUnknown: there is none.
        """
        try:
            return self.knowledge_bases[name]
        except KeyError:
            known = ", ".join(sorted(self.knowledge_bases))
            raise KnowledgeBaseUnknown(f"no knowledge base is called {name!r}; there are: {known}") from None

    def gates_of(self, name: str) -> Mapping[str, Gate]:
        """The gates of the providers that the knowledge base called ``name`` is indexed with, by what people call them.

        Empty where all its models run inside docmill. While one index set takes the place of another, both count.

        Raises:
            KnowledgeBaseUnknown: there is none.
        """
        opened = self.knowledge_base(name)
        return {} if self._models is None else self._models.gates_of(opened.specification, opened.index_sets.served().knowledge_base)

    def rerank_model_of(self, reference: str) -> RerankModel:
        """The rerank model that a reference of the configuration stands for.

        Raises:
            NotAvailable: nothing here can talk to its provider.
            ConfigurationError: a credential is missing.
        """
        if self._models is None:
            raise NotAvailable(f"{reference}: this process was opened with models of its own")
        return self._models.rerank_model_of(reference)

    def answer_model_of(self, reference: str) -> ChatModel:
        """The chat model that a reference of the configuration stands for; raises as ``rerank_model_of``."""
        if self._models is None:
            raise NotAvailable(f"{reference}: this process was opened with models of its own")
        return self._models.answer_model_of(reference)

    def stop_calls(self) -> None:
        """Ends every call of a remote model, and all waiting for one, at once; from now on they raise ``CallCancelled``."""
        if self._models is not None:
            self._models.stop()

    def consumer_application(self) -> Celery:
        """A Celery application for one consumer: it keeps which queues it consumes, so consumers cannot share one."""
        return celery_of(self.settings, self.unix_socket)

    def open_state(self, opened: OpenKnowledgeBase, *, grace_seconds: float | None = None) -> bool:
        """Opens a state that is new or was lost; True when it did. See ``docmill.indexing.state_opening``.

        Without ``grace_seconds`` the settings' grace is waited: other processes may have writes on their way.
        """
        return open_state(
            opened.state,
            opened.index_sets,
            opened.source,
            self.tasks,
            self.clock,
            holder=self.holder,
            grace_seconds=self.settings.grace_seconds if grace_seconds is None else grace_seconds,
        )

    def keep_open(self, closing: ExitStack) -> None:
        """Lets ``close`` end what ``closing`` would."""
        self._closing = closing

    def close(self) -> None:
        """Closes everything, an embedded server last; nothing may be using it any more."""
        self.isolation.close()
        self._closing.close()


class Owner(Engine):
    """The engine of the one process that holds a data folder.

    Attributes:
        data_folder: held until ``close``.
        server: the embedded server; None where Redis is named by its URL, and its state is shared with other processes.
    """

    def __init__(
        self,
        configuration: Configuration,
        settings: Settings,
        data_folder: DataFolder,
        server: ValkeyServer | None,
        connections: Connections,
        vectors: VectorStore,
        lexical: LexicalStore,
        knowledge_bases: Mapping[str, OpenKnowledgeBase],
        isolation: ProcessIsolation,
        models: Models | None = None,
    ) -> None:
        """Use ``open_engine``."""
        unix_socket = server.socket if server is not None else None
        super().__init__(
            configuration, settings, connections, vectors, lexical, knowledge_bases, isolation, unix_socket=unix_socket, models=models
        )
        self.data_folder = data_folder
        self.server = server

    def require_room(self) -> None:
        """For a process that only indexes: raises ``DiskFull`` when the embedded stores could not write, so that it need not begin."""
        if self.settings.qdrant_url is None or self.settings.elasticsearch_url is None:
            require_room(self.data_folder.path)

    def raise_epochs(self) -> None:
        """Makes every attempt of an earlier time void: at each start, and after the embedded server was restarted by itself."""
        for opened in self.knowledge_bases.values():
            known = opened.state.registry.position().epoch
            if not known:
                opened.state.leases.expire_all()  # a rebuild that was broken off held its role: nobody else does here
                if self.open_state(opened, grace_seconds=0.0):
                    continue
            epoch = max(self.vectors.epoch(), self.lexical.epoch(), known) + 1
            self.vectors.raise_epoch(epoch)
            self.lexical.raise_epoch(epoch)
            opened.state.registry.raise_epoch(epoch)

    def take_up_the_work(self) -> None:
        """Makes the ledger the only truth about the queue; nothing happens where other processes may be at work."""
        if not self.is_alone:
            return
        self.tasks.purge()
        for opened in self.knowledge_bases.values():
            opened.state.leases.expire_all()

    def send_outstanding(self, *, workers_died: bool = True) -> None:
        """Sends a message for each document of the ledger that no worker has; a second one does no harm.

        Args:
            workers_died: what was in work when its leases were lost may be why: it is suspected from now on.
        """
        for opened in self.knowledge_bases.values():
            ledger = opened.state.ledger
            ledger.resend_expired(_EVERYTHING, suspects=workers_died)  # they wait from now on, with the others
            messages = ledger.oldest_waiting(_EVERYTHING)
            for start in range(0, len(messages), _MESSAGES_AT_ONCE):
                self.tasks.send(messages[start : start + _MESSAGES_AT_ONCE], Lane.BULK)

    def recover_from_restart(self) -> None:
        """After the embedded server came back by itself: it may have lost its last second, so a new epoch and a new pass follow.

        The messages that consumers had taken would come back only after the visibility timeout: all are sent anew.
        """
        self.raise_epochs()
        self.tasks.purge()
        self.send_outstanding(workers_died=False)
        for opened in self.knowledge_bases.values():
            opened.state.ledger.start_run()


class Restarts:
    """What the embedded server calls after it died and came back."""

    engine: Owner | None = None

    def __call__(self) -> None:
        """Recovers the engine, once there is one."""
        if self.engine is not None:
            self.engine.recover_from_restart()


def closer(close: Callable[[], None]) -> Callable[[], None]:
    """``close``, whose failure is logged: what is left to close is closed all the same."""

    def close_and_log() -> None:
        try:
            close()
        except Exception as error:  # noqa: BLE001
            _log.warning("not_closed", error=str(error), exc_info=not isinstance(error, DocmillError))

    return close_and_log
