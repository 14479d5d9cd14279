"""Stores: where chunks live. One physical index per strategy of an index set, addressed by its name."""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Protocol

from docmill.domain.chunks import ChunkFilter, ChunkRecord, ScoredChunk, StoredGeneration, Vector
from docmill.domain.knowledge_bases import Similarity


class ChunkStore(Protocol):
    """What both kinds of store do. Every method may be called from several threads at once.

    ``index`` names a physical index (``[a-z0-9._-]+``, at most 200 characters). A method that is given an index that does not
    exist raises ``StoreRejected``; one whose store does not answer raises ``StoreDown``; one that finds no room ``DiskFull``.
    """

    def identity(self) -> str:
        """A random text made when the store was new; another one means that the store was wiped or swapped."""
        ...

    def epoch(self) -> int:
        """The highest epoch recorded here; 0 in a new store."""
        ...

    def raise_epoch(self, epoch: int) -> None:
        """Records ``epoch`` durably, unless a higher one is recorded."""
        ...

    def indexes(self) -> list[str]:
        """The names of all indexes, sorted."""
        ...

    def drop(self, index: str) -> None:
        """Removes an index with all that is in it; no error when it does not exist."""
        ...

    def write(self, index: str, records: Sequence[ChunkRecord]) -> None:
        """Upserts chunks under ``point_id_of`` their document, generation, strategy and index; durable when it returns.

        The store bounds what it sends at once by count and bytes. Writing the same records again changes nothing.

        Raises:
            WrongDimension: a vector's length is not the index's. Nothing was written.
            StoreRejected: the store will never take these records.
        """
        ...

    def refresh(self, index: str) -> None:
        """Returns when all that was written before the call is visible to searches and scans."""
        ...

    def delete(self, index: str, document_id: str, generation: int, count: int) -> None:
        """Removes the chunks 0..count-1 of a generation, by id; what is not there is no error."""
        ...

    def delete_generation(self, index: str, document_id: str, generation: int) -> None:
        """Removes all chunks of a generation, found by its fields."""
        ...

    def chunks_of(self, index: str, document_id: str, generation: int) -> list[ChunkRecord]:
        """All chunks of a generation, by index, without vectors."""
        ...

    def generations(self, index: str) -> Iterator[StoredGeneration]:
        """Every generation that has a chunk here, each once, in bounded memory; what is written meanwhile may be missed."""
        ...

    def count(self, index: str) -> int:
        """How many chunks the index holds, those of dead generations included."""
        ...


class VectorStore(ChunkStore, Protocol):
    """Chunks found by vectors."""

    def create(self, index: str, strategy: str, dimensions: int, similarity: Similarity) -> None:
        """Makes the index unless it exists.

        Raises:
            WrongDimension: it exists with other dimensions; the message names both.
        """
        ...

    def search(
        self,
        index: str,
        vector: Vector,
        limit: int,
        *,
        threshold: float,
        chunk_filter: ChunkFilter,
        without_generations: AbstractSet[int] = frozenset(),
    ) -> list[ScoredChunk]:
        """At most ``limit`` chunks whose score is at least ``threshold``, best first.

        The score is the similarity itself (cosine: -1..1). Chunks of ``without_generations`` are left out.

        Raises:
            WrongDimension: the vector's length is not the index's.
        """
        ...

    def vectors_of(self, index: str, text_hashes: Sequence[str]) -> Mapping[str, Vector]:
        """The vectors stored for these ``text_hash`` values, in any generation; absent ones are left out."""
        ...

    def indexed_texts_of(self, index: str, text_hashes: Sequence[str]) -> Mapping[str, str]:
        """The ``indexed_text`` stored for these ``text_hash`` values, in any generation; absent ones are left out."""
        ...


class LexicalStore(ChunkStore, Protocol):
    """Chunks found by their words."""

    def create(self, index: str, strategy: str, *, k1: float, b: float) -> None:
        """Makes the index unless it exists."""
        ...

    def search(
        self,
        index: str,
        query: str,
        limit: int,
        *,
        k1: float,
        b: float,
        threshold: float,
        chunk_filter: ChunkFilter,
        without_generations: AbstractSet[int] = frozenset(),
    ) -> list[ScoredChunk]:
        """At most ``limit`` chunks by BM25, best first; at least one word of ``query`` is in each.

        Any text is a valid query: there is no query syntax. A query without a word finds nothing. Words are found by stem, CJK text
        by its parts, identifiers whole and by their parts (``getUserName``, ``snake_case``, ``ERR_4418``, ``asyncio.TaskGroup``).
        Scores are BM25's own (above 0, never clamped), and only those of at least ``threshold`` are returned.
        """
        ...
