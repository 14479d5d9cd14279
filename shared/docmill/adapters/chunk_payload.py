"""How a chunk lies in Qdrant's engine, embedded or behind a server: few fields, since every field costs more than packing it does.

=========  ============================================================================================
``doc``    the document id (keyword index; with prefixes where it is embedded)
``gen``    the generation (integer index)
``hash``   the text hash (keyword index; vectors only)
``facts``  what filters ask for: language, mime and metadata, one text each (keyword index); on a server
           the folders, the name and the suffix of the document too, as it has no prefix indexes everywhere
``place``  ``<index>:<count>:<fingerprint>``, what a scan of all generations reads
``body``   the rest, as a JSON list
``terms``  the words (full-text index; words only, embedded)
=========  ============================================================================================
"""

import json
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any, Final

from pydantic_core import from_json

from docmill.domain.chunk_filters import value_keys
from docmill.domain.chunks import ChunkFilter, ChunkRecord
from docmill.domain.documents import MetadataValue

PLACE_FIELDS: Final = ["doc", "gen", "place"]
RECORD_FIELDS: Final = [*PLACE_FIELDS, "body"]
_LONGEST_FACT: Final = 120


def payload_of(record: ChunkRecord) -> dict[str, Any]:
    """The payload that every index has; ``record_of`` gives the record back, without its vector."""
    text, indexed_text = record.text, record.indexed_text
    body = (
        text,
        # What is indexed mostly is the heading path and then the text: only what is before the text is kept.
        indexed_text[: len(indexed_text) - len(text)] if indexed_text.endswith(text) else None,
        None if indexed_text.endswith(text) else indexed_text,
        record.text_hash,
        record.headings,
        record.start_line,
        record.end_line,
        record.title,
        record.mime,
        record.page,
        record.language,
        dict(record.metadata),
    )
    facts = [f"mime={record.mime}"]
    if record.language is not None:
        facts.append(f"language={record.language}")
    for key, value in record.metadata.items():
        facts += facts_of(key, value)
    return {
        "doc": record.document_id,
        "gen": record.generation,
        "facts": facts,
        "place": f"{record.index}:{record.count}:{record.fingerprint}",
        "body": json.dumps(body, separators=(",", ":")),
    }


def record_of(payload: Mapping[str, Any]) -> ChunkRecord:
    """The record of a point's payload, of which ``RECORD_FIELDS`` are enough."""
    text, before, whole, text_hash, headings, start_line, end_line, title, mime, page, language, metadata = _parsed(payload["body"])
    index, count, fingerprint = place_of(payload)
    return ChunkRecord(
        payload["doc"],
        payload["gen"],
        fingerprint,
        index,
        count,
        text,
        whole if before is None else before + text,
        text_hash,
        tuple(headings),
        start_line,
        end_line,
        title,
        mime,
        page,
        language,
        metadata,
    )


def _parsed(body: str) -> list[Any]:
    try:
        found: list[Any] = from_json(body)
    except ValueError:
        # It takes no lone surrogates, which a text may have; the standard library does, at three times the time.
        found = json.loads(body)
    return found


def place_of(payload: Mapping[str, Any]) -> tuple[int, int, str]:
    """Index, count and fingerprint."""
    index, count, fingerprint = payload["place"].split(":", 2)
    return int(index), int(count), fingerprint


def facts_of(key: str, value: MetadataValue) -> list[str]:
    """One text for each item of a metadata value; long ones as a digest."""
    return [bounded_fact(f"{key}\0{item}") for item in value_keys(value)]


def facts_wanted(chunk_filter: ChunkFilter) -> list[str]:
    """The facts that a chunk must have to satisfy the language, the mime type and the metadata of ``chunk_filter``."""
    named = (("language", chunk_filter.language), ("mime", chunk_filter.mime))
    facts = [f"{name}={wanted}" for name, wanted in named if wanted is not None]
    for key, value in chunk_filter.metadata.items():
        facts += facts_of(key, value)
    return facts


def bounded_fact(fact: str) -> str:
    """``fact``, or its digest when it is long or not ASCII."""
    if len(fact) <= _LONGEST_FACT and fact.isascii():
        return fact
    return blake2b(fact.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
