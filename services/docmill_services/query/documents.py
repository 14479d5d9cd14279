"""Documents as people see them: pages of them, and each with its text and chunks."""

import binascii
from base64 import b64decode, urlsafe_b64encode
from typing import Final

from docmill.domain.chunks import SYMBOLS, ChunkRecord
from docmill.domain.documents import MetadataValue
from docmill.domain.errors import DocumentUnknown, QueryInvalid, SkipReason
from docmill.domain.index_names import index_name
from docmill.domain.registry import DocumentState, Entry
from docmill.retrieval.verify import has_changed
from docmill_services.query.backend import Backend
from docmill_services.query.problems import without_folders
from docmill_services.query.render import time_of
from docmill_services.query.responses import (
    ChunkReply,
    DocumentDetailReply,
    DocumentReply,
    DocumentsReply,
    StrategyChunksReply,
)

MAX_TEXT_CHARACTERS: Final = 4_000_000
#: Waiting documents that a list of them considers, oldest first.
MAX_WAITING: Final = 10_000


def cursor_after(document_id: str) -> str:
    """The cursor of the page that begins after ``document_id``."""
    return urlsafe_b64encode(document_id.encode()).decode().rstrip("=")


def document_after(cursor: str) -> str:
    """The document id after which a page begins; raises ``QueryInvalid`` for what is no cursor of ours."""
    try:
        return b64decode(cursor.encode("ascii") + b"=" * (-len(cursor) % 4), b"-_", validate=True).decode()
    except (binascii.Error, UnicodeError) as error:
        raise QueryInvalid("cursor is not one that a list of documents returned") from error


def list_documents(backend: Backend, cursor: str | None, limit: int, state: DocumentState | None) -> DocumentsReply:
    """A page of documents in code-point order of their ids; those that only wait are listed under ``pending`` alone."""
    after = document_after(cursor) if cursor else ""
    index_set = backend.registry.position().index_set
    if state is DocumentState.PENDING:
        found = _waiting(backend, index_set, after, limit + 1)
    elif index_set is None:
        found = []
    else:
        found = [
            _document(document_id, entry, entry.state)
            for document_id, entry in backend.registry.page(index_set, after=after, limit=limit + 1, state=state)
        ]
    page = found[:limit]
    return DocumentsReply(documents=page, next=cursor_after(page[-1].document_id) if len(found) > limit else None)


def read_document(backend: Backend, document_id: str, *, with_chunks: bool) -> DocumentDetailReply:
    """One document; a new one that waits or is in work is pending, and has nothing else yet.

    Raises:
        DocumentUnknown: the served index set has no such document, and none is planned.
        StoreDown: the registry, or with chunks a store, does not answer.
    """
    index_set = backend.registry.position().index_set
    entry = backend.registry.entries(index_set, [document_id])[1].get(document_id) if index_set is not None else None
    if index_set is None or entry is None or entry.state is DocumentState.GONE:
        if backend.ledger.pending([document_id])[0]:
            new = _document(document_id, None, DocumentState.PENDING)
            return DocumentDetailReply.model_validate(new.model_dump(exclude_unset=True) | {"strategies": {}, "stale": False})
        raise DocumentUnknown(f"no document {document_id[:200]!r} in knowledge base {backend.settings.name!r}")
    chunks = {name: _chunks(backend, index_set, name, document_id, entry) for name in _strategies(entry)}
    optional: dict[str, object] = {}
    first = next((records[0] for records in chunks.values() if records), None)
    if first is not None:
        optional |= {"title": first.title, "mime": first.mime, "metadata": _metadata_of(first)}
    text = backend.read_text(document_id)
    if text is not None:
        optional |= {"text": text[:MAX_TEXT_CHARACTERS], "text_truncated": len(text) > MAX_TEXT_CHARACTERS}
    shown = _document(document_id, entry, entry.state)
    return DocumentDetailReply.model_validate(
        shown.model_dump(exclude_unset=True)
        | optional
        | {
            "strategies": {name: _strategy(entry, name, records if with_chunks else None) for name, records in chunks.items()},
            "stale": entry.live is not None and has_changed(entry, entry.live.generation, backend.stat_of(document_id)),
        }
    )


def _waiting(backend: Backend, index_set: str | None, after: str, limit: int) -> list[DocumentReply]:
    ids = sorted({message.document_id for message in backend.ledger.oldest_waiting(MAX_WAITING) if message.document_id > after})[:limit]
    entries = backend.registry.entries(index_set, ids)[1] if index_set is not None else {}
    return [_document(document_id, entries.get(document_id), DocumentState.PENDING) for document_id in ids]


def _document(document_id: str, entry: Entry | None, state: DocumentState) -> DocumentReply:
    fields: dict[str, object] = {
        "document_id": document_id,
        "path": document_id,
        "state": state.value,
        "size_bytes": entry.size_bytes if entry else 0,
        "chunks": sum(entry.live.chunks.values()) if entry and entry.live else 0,
    }
    if entry and entry.reason:
        fields["reason"] = without_folders(entry.reason)
    elif state is DocumentState.EMPTY:
        fields["reason"] = f"{SkipReason.EMPTY}: it has no text that could be searched"
    if entry and entry.live and entry.live.chunks and entry.live.committed_at is not None:
        fields["indexed_at"] = time_of(entry.live.committed_at)
    return DocumentReply.model_validate(fields)


def _metadata_of(record: ChunkRecord) -> dict[str, MetadataValue]:
    """What a chunk knows of its whole document; its symbols are its own."""
    return {name: value for name, value in record.metadata.items() if name != SYMBOLS}


def _strategies(entry: Entry) -> list[str]:
    return sorted(entry.live.chunks) if entry.live else []


def _chunks(backend: Backend, index_set: str, strategy: str, document_id: str, entry: Entry) -> list[ChunkRecord]:
    store = backend.strategy_stores.get(strategy)
    if store is None or entry.live is None:
        return []
    return store.chunks_of(index_name(backend.settings.name, index_set, strategy), document_id, entry.live.generation)


def _strategy(entry: Entry, strategy: str, records: list[ChunkRecord] | None) -> StrategyChunksReply:
    assert entry.live is not None
    count, generation = entry.live.chunks[strategy], entry.live.generation
    if records is None:
        return StrategyChunksReply(chunks=count, generation=generation)
    return StrategyChunksReply(chunks=count, generation=generation, items=[_chunk(record) for record in records])


def _chunk(record: ChunkRecord) -> ChunkReply:
    fields: dict[str, object] = {
        "chunk_id": record.chunk_id,
        "index": record.index,
        "text": record.text,
        "headings": list(record.headings),
        "start_line": record.start_line,
        "end_line": record.end_line,
    }
    if record.page is not None:
        fields["page"] = record.page
    if SYMBOLS in record.metadata:
        fields["symbols"] = record.metadata[SYMBOLS]
    return ChunkReply.model_validate(fields)
