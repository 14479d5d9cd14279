"""Opening: puts an engine together, on embedded backends, on servers, or on both."""

from collections.abc import Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import structlog

from docmill.adapters.clock import SystemClock
from docmill.adapters.embedded.data_folder import DataFolder
from docmill.adapters.embedded.valkey import ValkeyServer
from docmill.adapters.files import FileSource
from docmill.adapters.isolation import ProcessIsolation
from docmill.bootstrap.connections import Connections, connect
from docmill.bootstrap.engine import Engine, OpenKnowledgeBase, Owner, Restarts, closer
from docmill.bootstrap.gates import Gates, limits_of, redis_gates
from docmill.bootstrap.isolating import isolation_of
from docmill.bootstrap.models import REQUEST_SECONDS, ChatModelOf, ModelOf, Models
from docmill.bootstrap.stores import connect_lexical, connect_vectors, lexical_of, vectors_of
from docmill.config import Configuration, Settings, require_available
from docmill.domain.errors import ConfigurationError, StoreDown
from docmill.indexing.containers import ContainerLoading
from docmill.indexing.index_sets import IndexSets
from docmill.indexing.sources import ROOTS
from docmill.ports.models import Caller
from docmill.ports.state import KnowledgeBaseState
from docmill.ports.stores import LexicalStore, VectorStore

_log = structlog.get_logger(__name__)
#: Where ``docmill up`` keeps its data by default, which no process indexes.
DATA_FOLDER_NAME = ".docmill"


def open_engine(
    configuration: Configuration,
    settings: Settings,
    data_path: Path,
    environ: Mapping[str, str],
    *,
    model_of: ModelOf | None = None,
) -> Owner:
    """Opens the one-machine profile in ``data_path``; a backend whose URL is set is used where it is.

    Args:
        configuration: its knowledge bases are opened.
        settings: operational settings.
        data_path: the data folder; made when it is not there.
        environ: holds credentials, by the names that the configuration gives.
        model_of: makes embedding models; those of the configured providers when None.

    Raises:
        DataFolderInUse: another process has it open.
        DataFolderError: it cannot be used.
        ServiceDown: a server does not start or does not answer.
        WrongDimension: the data folder holds an index of other dimensions.
        NotAvailable: the configuration or a setting needs a part that is not there.
        ConfigurationError: a credential is missing.
    """
    for knowledge_base in configuration.knowledge_bases:
        require_available(knowledge_base)
    with ExitStack() as undo:
        data_folder = DataFolder.open(data_path)
        undo.callback(closer(data_folder.close))
        restarts = Restarts()
        server: ValkeyServer | None = None
        if settings.redis_url is None:
            server = ValkeyServer(data_folder.valkey, log_file=data_folder.logs / "valkey.log", on_restart=restarts)
            server.start()
            undo.callback(closer(server.stop))
        vectors = vectors_of(settings, data_folder.vectors)
        undo.callback(closer(vectors.close))
        lexical = lexical_of(settings, data_folder.lexical)
        undo.callback(closer(lexical.close))
        connections = _connect(configuration, settings, server.socket if server is not None else None)
        undo.callback(closer(connections.close))
        models: Models | None = None
        chat_model_of: ChatModelOf | None = None
        if model_of is None:
            models = _models(configuration, settings, environ, connections, undo)
            model_of, chat_model_of = models.model_of, models.chat_model_of
        isolation = isolation_of(settings)
        opened = _open(configuration, connections, vectors, lexical, model_of, chat_model_of, isolation, data_folder.path)
        engine = Owner(configuration, settings, data_folder, server, connections, vectors, lexical, opened, isolation, models)
        if server is not None:
            restarts.engine = engine
            engine.raise_epochs()
        for one in opened.values():
            if server is None:
                engine.open_state(one)
            one.index_sets.open()
        engine.keep_open(undo.pop_all())
    return engine


def connect_engine(
    configuration: Configuration, settings: Settings, environ: Mapping[str, str], *, model_of: ModelOf | None = None
) -> Engine:
    """Opens what a process of the distributed profile works with, on the three servers that ``settings`` name.

    Raises:
        ConfigurationError: a URL is missing, or a credential.
        ServiceDown: a server does not answer, or is not what docmill needs.
        NotAvailable: a client is not installed, or the configuration needs a part that is not there.
    """
    require_servers(settings)
    for knowledge_base in configuration.knowledge_bases:
        require_available(knowledge_base)
    with ExitStack() as undo:
        connections = _connect(configuration, settings, None)
        undo.callback(closer(connections.close))
        vectors = connect_vectors(settings)
        undo.callback(closer(vectors.close))
        lexical = connect_lexical(settings)
        undo.callback(closer(lexical.close))
        models: Models | None = None
        chat_model_of: ChatModelOf | None = None
        if model_of is None:
            models = _models(configuration, settings, environ, connections, undo)
            model_of, chat_model_of = models.model_of, models.chat_model_of
        isolation = isolation_of(settings)
        opened = _open(configuration, connections, vectors, lexical, model_of, chat_model_of, isolation)
        engine = Engine(configuration, settings, connections, vectors, lexical, opened, isolation, models=models)
        engine.keep_open(undo.pop_all())
    return engine


def names_servers(settings: Settings) -> bool:
    """Whether all three servers are named: then no data folder is needed."""
    return None not in (settings.redis_url, settings.qdrant_url, settings.elasticsearch_url)


def require_servers(settings: Settings) -> None:
    """Raises ``ConfigurationError`` unless all three servers are named: separate processes cannot share embedded backends."""
    urls = {
        "DOCMILL_REDIS_URL": settings.redis_url,
        "DOCMILL_QDRANT_URL": settings.qdrant_url,
        "DOCMILL_ELASTICSEARCH_URL": settings.elasticsearch_url,
    }
    missing = [variable for variable, url in urls.items() if url is None]
    if missing:
        raise ConfigurationError(
            f"{', '.join(missing)}: not set. Processes of their own share servers; set the three URLs, or run all in one: docmill up"
        )


def _connect(configuration: Configuration, settings: Settings, unix_socket: Path | None) -> Connections:
    return connect({one.name: one for one in configuration.knowledge_bases}, settings, unix_socket)


def _count_tokens(states: Mapping[str, KnowledgeBaseState], caller: Caller, tokens: int) -> None:
    """Adds to the tokens of the caller's run."""
    state = states.get(caller.knowledge_base)
    if state is None or not caller.run_id:
        return
    try:
        state.ledger.count(caller.run_id, {"tokens": tokens})
    except StoreDown as error:  # the request was answered; that its tokens are not counted must not lose its vectors
        _log.debug("tokens_not_counted", knowledge_base=caller.knowledge_base, error=str(error))


def _models(
    configuration: Configuration, settings: Settings, environ: Mapping[str, str], connections: Connections, undo: ExitStack
) -> Models:
    """Makes models, whose calls ``undo`` ends."""
    make = redis_gates(connections.client, request_seconds=REQUEST_SECONDS)
    spent = partial(_count_tokens, connections.states)
    gates = Gates(make, limits_of(configuration, environ), query_seconds=settings.query_timeout_seconds, spent=spent)
    models = Models(configuration, settings, environ, gates)
    undo.callback(closer(models.close))
    return models


def _open(
    configuration: Configuration,
    connections: Connections,
    vectors: VectorStore,
    lexical: LexicalStore,
    model_of: ModelOf,
    chat_model_of: ChatModelOf | None,
    isolation: ProcessIsolation,
    data_path: Path | None = None,
) -> dict[str, OpenKnowledgeBase]:
    opened: dict[str, OpenKnowledgeBase] = {}
    loading = ContainerLoading(isolation, SystemClock())
    for specification in configuration.knowledge_bases:
        state = connections.states[specification.name]
        index_sets = IndexSets(specification, state, vectors, lexical, model_of, chat_model_of=chat_model_of)
        noted_roots = partial(state.registry.noted, ROOTS)
        source = FileSource(specification, data_path or specification.base_folder / DATA_FOLDER_NAME, noted_roots, loading.load)
        opened[specification.name] = OpenKnowledgeBase(specification, state, source, index_sets)
    return opened
