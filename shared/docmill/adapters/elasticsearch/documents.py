"""A chunk as Elasticsearch keeps it, and back; ``definition.py`` has the table of fields."""

from collections.abc import Mapping
from typing import Any

from docmill.adapters.chunk_payload import payload_of, record_of
from docmill.adapters.elasticsearch.definition import TERMS, field_of
from docmill.adapters.embedded.words import words_of
from docmill.adapters.stem_languages import stem_language
from docmill.domain.chunks import ChunkRecord, StoredGeneration


def source_of(record: ChunkRecord) -> dict[str, Any]:
    """What is sent for ``record``; its vector is left out."""
    payload = payload_of(record)
    words = words_of(record.indexed_text)
    terms = " ".join(words)
    source = {
        "doc": record.document_id,
        "gen": record.generation,
        "n": record.index,
        "whole": f"{record.count}:{record.fingerprint}",
        "facts": payload["facts"],
        "body": payload["body"],
        TERMS: terms,
    }
    language = stem_language(words, record.language)
    if language is not None:
        source[field_of(language)] = terms
    return source


def record_in(source: Mapping[str, Any]) -> ChunkRecord:
    """The record of what the server kept."""
    return record_of({**source, "place": f"{source['n']}:{source['whole']}"})


def generation_in(key: Mapping[str, Any], chunks: int) -> StoredGeneration:
    """A generation of which ``chunks`` have the fields ``doc``, ``gen`` and ``whole`` of ``key``."""
    count, _, fingerprint = str(key["whole"]).partition(":")
    return StoredGeneration(str(key["doc"]), int(key["gen"]), fingerprint, int(count), chunks)
