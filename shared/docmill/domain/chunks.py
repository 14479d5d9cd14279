"""Chunks: pieces of a document for one strategy, as chunkers make them and as stores keep them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Final
from uuid import UUID

from docmill.domain.documents import MetadataValue

#: The metadata key under which a chunk of source code says what is defined in it.
SYMBOLS: Final = "symbols"

#: One embedding, ``dimensions`` floats long.
Vector = Sequence[float]


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a document's text.

    Attributes:
        index: its place in the document, from 0.
        text: exactly what stands in the document, from somewhere in the first line to somewhere in the last. Where it goes on with a
            table that began in an earlier chunk, the table's header rows stand before that; they do not count as lines.
        headings: the path of headings above it, outermost first; in source code that of the scopes around it (``class A``, ``def b``).
        start_line: the first line of the file it covers, from 1.
        end_line: the last line of the file it covers.
        indexed_text: what is embedded and searched: the heading path, then the text.
        page: the page it begins on, from 1, for paged formats.
        symbols: of source code that is cut by its syntax, what is defined in it (``A.b``), in order.
    """

    index: int
    text: str
    headings: tuple[str, ...]
    start_line: int
    end_line: int
    indexed_text: str
    page: int | None = None
    symbols: tuple[str, ...] = ()


def text_hash_of(indexed_text: str) -> str:
    """The key under which the vector of ``indexed_text`` is used again: 32 hexadecimal digits."""
    return blake2b(indexed_text.encode(), digest_size=16).hexdigest()


def point_id_of(document_id: str, generation: int, strategy: str, index: int) -> str:
    """The id of a chunk in a store, a UUID as text; the same attempt always writes under the same ids."""
    key = f"{document_id}\0{generation}\0{strategy}\0{index}".encode()
    return str(UUID(bytes=blake2b(key, digest_size=16).digest()))


@dataclass(frozen=True, slots=True)
class ChunkRecord:
    """A chunk as a store keeps it, with the document and the generation that it belongs to.

    Attributes:
        count: how many chunks this generation has for this strategy.
        vector: set in what a vector store is given; search results leave it out.
    """

    document_id: str
    generation: int
    fingerprint: str
    index: int
    count: int
    text: str
    indexed_text: str
    text_hash: str
    headings: tuple[str, ...]
    start_line: int
    end_line: int
    title: str
    mime: str
    page: int | None = None
    language: str | None = None
    metadata: Mapping[str, MetadataValue] = field(default_factory=dict)
    vector: Vector | None = None

    @property
    def chunk_id(self) -> str:
        """The public id, ``<document_id>#<index>``."""
        return f"{self.document_id}#{self.index}"


@dataclass(frozen=True, slots=True)
class ChunkFilter:
    """Which chunks a search may return; conditions are joined by "and", an absent one does not restrict.

    Attributes:
        path_prefix: the document id begins with it.
        path_glob: the document id matches it (``*`` within a folder, ``**`` across folders).
        metadata: keys with the value each must have (or contain, where the stored value is a list).
    """

    path_prefix: str | None = None
    path_glob: str | None = None
    language: str | None = None
    mime: str | None = None
    metadata: Mapping[str, MetadataValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ScoredChunk:
    """A chunk that a store found, with the score on the store's own scale (higher is better)."""

    record: ChunkRecord
    score: float


@dataclass(frozen=True, slots=True)
class StoredGeneration:
    """How much of one generation of a document a store holds."""

    document_id: str
    generation: int
    fingerprint: str
    expected_chunks: int
    found_chunks: int

    @property
    def whole(self) -> bool:
        """Whether every chunk is there."""
        return self.found_chunks == self.expected_chunks
