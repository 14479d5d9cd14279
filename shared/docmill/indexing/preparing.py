"""Preparing: from a loaded document to the records of every strategy; pure."""

from collections.abc import Callable, Iterable, Sequence

from docmill.domain.chunks import SYMBOLS, Chunk, ChunkRecord, text_hash_of
from docmill.domain.documents import LoadedDocument
from docmill.domain.knowledge_bases import Chunking, StrategySpec
from docmill.indexing.summarising import with_summary_keys

Chunker = Callable[[LoadedDocument, Chunking], list[Chunk]]


def records_by_strategy(
    document_id: str,
    generation: int,
    fingerprint: str,
    document: LoadedDocument,
    strategies: Iterable[StrategySpec],
    chunker: Chunker,
) -> dict[str, Sequence[ChunkRecord]]:
    """The records of each strategy, by its name, without vectors and summaries; strategies that cut alike are cut once."""
    cut: dict[Chunking, list[ChunkRecord]] = {}
    records: dict[str, Sequence[ChunkRecord]] = {}
    for strategy in strategies:
        if strategy.chunking not in cut:
            chunks = chunker(document, strategy.chunking)
            cut[strategy.chunking] = _records(document_id, generation, fingerprint, document, chunks)
        records[strategy.name] = with_summary_keys(strategy, cut[strategy.chunking])
    return records


def _records(document_id: str, generation: int, fingerprint: str, document: LoadedDocument, chunks: Sequence[Chunk]) -> list[ChunkRecord]:
    return [
        ChunkRecord(
            document_id=document_id,
            generation=generation,
            fingerprint=fingerprint,
            index=chunk.index,
            count=len(chunks),
            text=chunk.text,
            indexed_text=chunk.indexed_text,
            text_hash=text_hash_of(chunk.indexed_text),
            headings=chunk.headings,
            start_line=chunk.start_line,
            end_line=chunk.end_line,
            title=document.title,
            mime=document.mime,
            page=chunk.page,
            language=document.language,
            metadata={**document.metadata, SYMBOLS: list(chunk.symbols)} if chunk.symbols else document.metadata,
        )
        for chunk in chunks
    ]
