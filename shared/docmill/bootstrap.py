"""Composition root: the only place that picks adapters."""

import os
import socket
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import redis
import structlog
from celery import Celery
from redis.backoff import ExponentialBackoff
from redis.retry import Retry

from docmill.adapters.clock import SystemClock
from docmill.adapters.embedded.data_folder import DataFolder
from docmill.adapters.embedded.lexical_store import EmbeddedLexicalStore
from docmill.adapters.embedded.valkey import ValkeyServer, celery_url_of
from docmill.adapters.embedded.vector_store import EmbeddedVectorStore
from docmill.adapters.files import FileSource
from docmill.adapters.providers.catalog import embedding_model_for
from docmill.adapters.redis.celery_app import make_celery
from docmill.adapters.redis.state import RedisState
from docmill.adapters.redis.task_queue import CeleryTaskQueue
from docmill.chunking import chunk
from docmill.config import Configuration, Settings, require_available
from docmill.domain.chunks import ChunkFilter, ChunkRecord
from docmill.domain.errors import DocmillError, KnowledgeBaseUnknown, NotAvailable, StoreDown
from docmill.domain.knowledge_bases import EmbeddingModelSpec, KnowledgeBase, Similarity
from docmill.domain.registry import Lane
from docmill.indexing.index_sets import IndexSets
from docmill.indexing.preparing import Chunker
from docmill.ports.clock import Clock
from docmill.ports.models import EmbeddingModel
from docmill.ports.queue import TaskQueue
from docmill.ports.state import KnowledgeBaseState
from docmill.ports.stores import LexicalStore, VectorStore

_log = structlog.get_logger(__name__)
_CONNECT_SECONDS = 5.0
_EVERYTHING = 1_000_000
_MESSAGES_AT_ONCE = 500
_RECONNECTS = 4  # within a second: the embedded server is usually there again by then


@dataclass(frozen=True, slots=True)
class Connections:
    """What every process of docmill has: the state of each knowledge base, and the queue."""

    client: redis.Redis
    celery: Celery
    tasks: TaskQueue
    states: Mapping[str, KnowledgeBaseState]

    def close(self) -> None:
        """Closes every connection."""
        self.celery.close()
        self.client.close()


def celery_on(unix_socket: Path, settings: Settings) -> Celery:
    """A Celery application on the embedded server at ``unix_socket``."""
    return make_celery(celery_url_of(unix_socket), visibility_timeout_seconds=settings.visibility_timeout_seconds, events=False)


def connect(knowledge_bases: Mapping[str, KnowledgeBase], unix_socket: Path, settings: Settings) -> Connections:
    """Connects to the embedded server at ``unix_socket``."""
    client = redis.Redis(
        unix_socket_path=str(unix_socket),
        socket_timeout=settings.store_timeout_seconds,
        socket_connect_timeout=_CONNECT_SECONDS,
        max_connections=128,
        retry=Retry(ExponentialBackoff(cap=0.4, base=0.05), _RECONNECTS, supported_errors=(redis.ConnectionError,)),
    )
    celery = celery_on(unix_socket, settings)
    states: dict[str, KnowledgeBaseState] = {}
    for name in knowledge_bases:
        state = RedisState(client, name)
        states[name] = KnowledgeBaseState(state.registry, state.leases, state.ledger)
    return Connections(client, celery, CeleryTaskQueue(celery, client), states)


@dataclass(frozen=True, slots=True)
class OpenKnowledgeBase:
    """A knowledge base with its state, its files and its index sets."""

    specification: KnowledgeBase
    state: KnowledgeBaseState
    source: FileSource
    index_sets: IndexSets


class Engine:
    """What the process that owns the stores has: everything but the consumers, the HTTP server and the producer."""

    def __init__(
        self,
        configuration: Configuration,
        settings: Settings,
        data_folder: DataFolder,
        server: ValkeyServer,
        connections: Connections,
        vectors: EmbeddedVectorStore,
        lexical: EmbeddedLexicalStore,
        knowledge_bases: Mapping[str, OpenKnowledgeBase],
    ) -> None:
        """Use ``open_engine``."""
        self.configuration = configuration
        self.settings = settings
        self.data_folder = data_folder
        self.knowledge_bases = knowledge_bases
        self.server = server
        self.vectors: VectorStore = vectors
        self.lexical: LexicalStore = lexical
        self.tasks = connections.tasks
        self.clock: Clock = SystemClock()
        self.chunker: Chunker = chunk
        self.holder = f"{socket.gethostname()}:{os.getpid()}"
        self.group_commit_seconds = 0.05  # the embedded engine shows writes at once; a little company makes them cheaper
        self.worker_threads = settings.worker_threads or max(2, min(8, os.cpu_count() or 2))
        self._closers: tuple[Callable[[], None], ...] = (
            connections.close,
            vectors.close,
            lexical.close,
            server.stop,
            data_folder.close,
        )

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

    def consumer_application(self) -> Celery:
        """A Celery application for one consumer: it keeps which queues it consumes, so consumers cannot share one."""
        return celery_on(self.server.socket, self.settings)

    def raise_epochs(self) -> None:
        """Makes every attempt of an earlier time void: at each start, and after the embedded server was restarted by itself."""
        seen = max(self.vectors.epoch(), self.lexical.epoch())
        for opened in self.knowledge_bases.values():
            epoch = max(seen, opened.state.registry.position().epoch) + 1
            self.vectors.raise_epoch(epoch)
            self.lexical.raise_epoch(epoch)
            opened.state.registry.raise_epoch(epoch)

    def take_up_the_work(self) -> None:
        """Makes the ledger the only truth about the queue; only while no worker of this data folder runs."""
        self.tasks.purge()
        for opened in self.knowledge_bases.values():
            opened.state.leases.expire_all()

    def send_outstanding(self) -> None:
        """Sends a message for each document of the ledger that no worker has; a second one does no harm."""
        for opened in self.knowledge_bases.values():
            ledger = opened.state.ledger
            ledger.resend_expired(_EVERYTHING)  # they wait from now on, with the others
            messages = ledger.oldest_waiting(_EVERYTHING)
            for start in range(0, len(messages), _MESSAGES_AT_ONCE):
                self.tasks.send(messages[start : start + _MESSAGES_AT_ONCE], Lane.BULK)

    def recover_from_restart(self) -> None:
        """After the embedded server came back by itself: it may have lost its last second, so a new epoch and a new pass follow.

        The messages that consumers had taken would come back only after the visibility timeout: all are sent anew.
        """
        self.raise_epochs()
        self.tasks.purge()
        self.send_outstanding()
        for opened in self.knowledge_bases.values():
            opened.state.ledger.start_run()

    def close(self) -> None:
        """Closes everything, the embedded server last; nothing may be using it any more."""
        for close in self._closers:
            try:
                close()
            except DocmillError as error:
                _log.warning("not_closed", error=str(error))
            except Exception:  # noqa: BLE001  # what is left to close is closed all the same
                _log.exception("not_closed")


ModelOf = Callable[[EmbeddingModelSpec], EmbeddingModel]


def open_engine(
    configuration: Configuration,
    settings: Settings,
    data_path: Path,
    environ: Mapping[str, str],
    *,
    model_of: ModelOf | None = None,
) -> Engine:
    """Opens the one-machine profile in ``data_path``.

    Args:
        configuration: its knowledge bases are opened.
        settings: operational settings.
        data_path: the data folder; made when it is not there.
        environ: holds credentials, by the names that the configuration gives.
        model_of: makes embedding models; those of the configured providers when None.

    Raises:
        DataFolderInUse: another process has it open.
        DataFolderError: it cannot be used.
        ServiceDown: the embedded server does not start.
        WrongDimension: the data folder holds an index of other dimensions.
        NotAvailable: the configuration or a setting needs a part that this version lacks.
        ConfigurationError: a credential is missing.
    """
    _require_embedded(settings)
    for knowledge_base in configuration.knowledge_bases:
        require_available(knowledge_base)
    undo: list[Callable[[], None]] = []
    try:
        data_folder = DataFolder.open(data_path)
        undo.append(data_folder.close)
        restarts = _Restarts()
        server = ValkeyServer(data_folder.valkey, log_file=data_folder.logs / "valkey.log", on_restart=restarts)
        server.start()
        undo.append(server.stop)
        vectors = EmbeddedVectorStore(data_folder.vectors)
        undo.append(vectors.close)
        lexical = EmbeddedLexicalStore(data_folder.lexical)
        undo.append(lexical.close)
        specifications = {knowledge_base.name: knowledge_base for knowledge_base in configuration.knowledge_bases}
        connections = connect(specifications, server.socket, settings)
        undo.append(connections.close)
        model_of = model_of or _Models(settings, environ).model_of
        opened: dict[str, OpenKnowledgeBase] = {}
        for name, specification in specifications.items():
            state = connections.states[name]
            index_sets = IndexSets(specification, state, vectors, lexical, model_of)
            opened[name] = OpenKnowledgeBase(specification, state, FileSource(specification, data_folder.path), index_sets)
        engine = Engine(configuration, settings, data_folder, server, connections, vectors, lexical, opened)
        restarts.engine = engine
        engine.raise_epochs()
        for one in opened.values():
            one.index_sets.open()
    except BaseException:
        for step in reversed(undo):
            step()
        raise
    return engine


def _require_embedded(settings: Settings) -> None:
    for variable, url in (
        ("DOCMILL_REDIS_URL", settings.redis_url),
        ("DOCMILL_QDRANT_URL", settings.qdrant_url),
        ("DOCMILL_ELASTICSEARCH_URL", settings.elasticsearch_url),
    ):
        if url is not None:
            raise NotAvailable(f"{variable} is set, but this version runs on its embedded backends only; unset it")


def check_embedded_server(folder: Path) -> str:
    """Starts and stops an embedded server in ``folder`` and says what it saw; raises what went wrong."""
    server = ValkeyServer(folder)
    server.start()
    try:
        with redis.Redis(unix_socket_path=str(server.socket)) as client:
            version = client.info("server")["valkey_version"]
    finally:
        server.stop()
    return f"Valkey {version} starts, answers and stops"


def check_embedded_engine(folder: Path) -> str:
    """Makes an index of each kind in ``folder``, writes and finds a chunk, and says so; raises what went wrong."""
    record = ChunkRecord("a.txt", 1, "f", 0, 1, "a word", "a word", "t", (), 1, 1, "a", "text/plain", vector=[1.0, 0.0])
    vectors, lexical = EmbeddedVectorStore(folder / "vectors"), EmbeddedLexicalStore(folder / "lexical")
    try:
        vectors.create("check", "dense", 2, Similarity.COSINE)
        lexical.create("check", "words", k1=1.5, b=0.75)
        vectors.write("check", [record])
        lexical.write("check", [record])
        near = vectors.search("check", [1.0, 0.0], 1, threshold=0.5, chunk_filter=ChunkFilter())
        worded = lexical.search("check", "word", 1, k1=1.5, b=0.75, threshold=0.0, chunk_filter=ChunkFilter())
    finally:
        vectors.close()
        lexical.close()
    if not near or not worded:
        raise StoreDown("the embedded engine does not find what was written")
    return "vectors and words are written and found"


def check_embedding_model(specification: EmbeddingModelSpec, environ: Mapping[str, str]) -> str:
    """Embeds one text and says what it saw; raises what went wrong."""
    model = embedding_model_for(specification, threads=1, credentials=environ)
    started = time.perf_counter()
    vector = model.embed_query("docmill")
    return f"{model.name} made a vector of {len(vector)} dimensions in {(time.perf_counter() - started) * 1000:.0f} ms"


class _Restarts:
    """What the embedded server calls after it died and came back."""

    engine: Engine | None = None

    def __call__(self) -> None:
        if self.engine is not None:
            self.engine.recover_from_restart()


class _Models:
    """One embedding model per specification, shared by everything in the process."""

    def __init__(self, settings: Settings, environ: Mapping[str, str]) -> None:
        self._threads = settings.embedding_threads or (os.cpu_count() or 1)
        self._environ = environ
        self._models: dict[EmbeddingModelSpec, EmbeddingModel] = {}
        self._lock = threading.Lock()

    def model_of(self, specification: EmbeddingModelSpec) -> EmbeddingModel:
        with self._lock:
            if specification not in self._models:
                self._models[specification] = embedding_model_for(specification, threads=self._threads, credentials=self._environ)
            return self._models[specification]
