"""Connecting: from the settings to a store on a server that is there, is Elasticsearch, and is new enough."""

import ssl
from typing import Final
from urllib.parse import SplitResult, unquote, urlsplit

from elastic_transport import NodeConfig
from elasticsearch import Elasticsearch

from docmill.adapters.elasticsearch.connection import Connection
from docmill.adapters.elasticsearch.lexical_store import ElasticsearchLexicalStore
from docmill.adapters.elasticsearch.plain_node import PlainNode
from docmill.config.settings import Settings
from docmill.domain.errors import ConfigurationError, StoreDown

DEFAULT_PORT: Final = 9200
OLDEST_MAJOR: Final = 8
#: More threads than that wait for one another.
_CONNECTIONS_PER_NODE: Final = 32
#: Somebody waits for the first answer, and a wrong address stays wrong.
_TRIES: Final = 3


def connect_elasticsearch(settings: Settings) -> ElasticsearchLexicalStore:
    """The store on the servers of ``settings.elasticsearch_url``, after they answered.

    Raises:
        StoreDown: no server answers, the login or the TLS connection fails, or it is not Elasticsearch 8 or newer.
        ConfigurationError: the file of certificates holds none.
    """
    urls = [urlsplit(url) for url in (settings.elasticsearch_url or "").split(",")]
    context = _tls_context(settings.elasticsearch_ca_file) if any(url.scheme == "https" for url in urls) else None
    client = Elasticsearch(
        [node_of(url, context) for url in urls],
        node_class=PlainNode,
        api_key=settings.elasticsearch_api_key,
        basic_auth=None if settings.elasticsearch_api_key else login_of(urls),
        request_timeout=settings.store_timeout_seconds,
        # Tries are the connection's, with pauses and for items as well.
        max_retries=0,
        retry_on_timeout=False,
        retry_on_status=(),
    )
    connection = Connection(client, place_of(urls), settings.store_timeout_seconds)
    try:
        version = server_version(connection)
    except BaseException:
        connection.close()
        raise
    return ElasticsearchLexicalStore(connection, version)


def node_of(url: SplitResult, context: ssl.SSLContext | None) -> NodeConfig:
    """One server as the client wants it."""
    return NodeConfig(
        scheme=url.scheme,
        host=url.hostname or "",
        port=_port(url),
        path_prefix=url.path.rstrip("/"),
        connections_per_node=_CONNECTIONS_PER_NODE,
        ssl_context=context if url.scheme == "https" else None,
    )


def login_of(urls: list[SplitResult]) -> tuple[str, str] | None:
    """Name and password of the first URL that has them; they are for all."""
    for url in urls:
        if url.username is not None:
            return unquote(url.username), unquote(url.password or "")
    return None


def place_of(urls: list[SplitResult]) -> str:
    """``HOST:PORT`` of each server, without names and passwords."""
    return ", ".join(f"[{url.hostname}]:{_port(url)}" if ":" in (url.hostname or "") else f"{url.hostname}:{_port(url)}" for url in urls)


def _port(url: SplitResult) -> int:
    return url.port or DEFAULT_PORT


def server_version(connection: Connection) -> str:
    """The version of the server.

    Raises:
        StoreDown: it cannot be asked, or is too old.
    """
    answer = connection.call(None, lambda client: client.info().body, most_tries=_TRIES)
    said = answer.get("version", {}).get("number", "") if isinstance(answer, dict) else ""
    major = str(said).partition(".")[0]
    if not major.isdecimal():
        raise StoreDown(
            f"the server at {connection.place} does not say which version of Elasticsearch it is; check DOCMILL_ELASTICSEARCH_URL"
        )
    if int(major) < OLDEST_MAJOR:
        raise StoreDown(
            f"Elasticsearch at {connection.place} is {said}, and docmill needs {OLDEST_MAJOR} or newer;"
            " let DOCMILL_ELASTICSEARCH_URL name a newer one"
        )
    return str(said)


def _tls_context(ca_file: str | None) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=ca_file)
    except OSError as error:
        raise ConfigurationError(f"DOCMILL_ELASTICSEARCH_CA_FILE: {ca_file} holds no certificate that can be read: {error}") from error
