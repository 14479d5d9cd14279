"""Stores: embedded ones in a data folder, or servers by their URLs. The client packages are needed only where a URL is set."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from docmill.adapters.embedded.lexical_store import EmbeddedLexicalStore
from docmill.adapters.embedded.vector_store import EmbeddedVectorStore
from docmill.config import Settings
from docmill.domain.errors import NotAvailable

if TYPE_CHECKING:
    from docmill.adapters.elasticsearch import ElasticsearchLexicalStore
    from docmill.adapters.qdrant import QdrantVectorStore

Store = TypeVar("Store")


def vectors_of(settings: Settings, folder: Path) -> "EmbeddedVectorStore | QdrantVectorStore":
    """The vector store that ``settings`` name, or the embedded one in ``folder``; raises as ``connect_vectors``."""
    return EmbeddedVectorStore(folder) if settings.qdrant_url is None else connect_vectors(settings)


def lexical_of(settings: Settings, folder: Path) -> "EmbeddedLexicalStore | ElasticsearchLexicalStore":
    """The lexical store that ``settings`` name, or the embedded one in ``folder``; raises as ``connect_vectors``."""
    return EmbeddedLexicalStore(folder) if settings.elasticsearch_url is None else connect_lexical(settings)


def connect_vectors(settings: Settings) -> "QdrantVectorStore":
    """Qdrant.

    Raises:
        NotAvailable: its client is not installed.
        ServiceDown: it does not answer, or is not what docmill needs.
    """

    def connect() -> "QdrantVectorStore":
        from docmill.adapters.qdrant import connect_qdrant

        return connect_qdrant(settings)

    return _with_client(connect, "DOCMILL_QDRANT_URL", "qdrant_client")


def connect_lexical(settings: Settings) -> "ElasticsearchLexicalStore":
    """Elasticsearch; raises as ``connect_vectors``."""

    def connect() -> "ElasticsearchLexicalStore":
        from docmill.adapters.elasticsearch import connect_elasticsearch

        return connect_elasticsearch(settings)

    return _with_client(connect, "DOCMILL_ELASTICSEARCH_URL", "elasticsearch")


def _with_client(connect: Callable[[], Store], variable: str, package: str) -> Store:
    try:
        return connect()
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in (package, "tenacity"):
            raise
        raise NotAvailable(f"{variable} is set, but {error.name} is not installed: pip install 'docmill[distributed]'") from error
