"""The packed forms of entries, garbage, intents and commits, as the Lua scripts read and write them.

Fields are joined by ``|`` in what is stored and by line breaks in what is sent; the last one may hold anything. Names of index sets,
strategies and counters are percent-encoded, so that ``:;=,|`` are free to separate. Generations are decimal text: Lua would print them
rounded.
"""

import base64
import struct
from collections.abc import Mapping
from functools import lru_cache
from typing import Final
from urllib.parse import quote, unquote

from docmill.domain.chunks import Vector
from docmill.domain.registry import Attempt, Commit, DocumentState, Entry, Garbage, Intent, Suspicion, Version

LETTER_OF: Final = {
    DocumentState.LIVE: "L",
    DocumentState.EMPTY: "E",
    DocumentState.SKIPPED: "S",
    DocumentState.FAILED: "F",
    DocumentState.QUARANTINED: "Q",
    DocumentState.GONE: "G",
}
STATE_OF: Final = {letter: state for state, letter in LETTER_OF.items()}

#: The run counter that a commit raises; SKIPPED has one per reason, and for GONE the script decides.
_COUNTER_OF: Final = {DocumentState.LIVE: "indexed", DocumentState.EMPTY: "empty"}

_NO_INTENT: Final = "-"

# Queries ask for the same entries again and again; a packed one is its own key, so that nothing ever goes stale.
_ENTRIES_CACHED: Final = 8192


@lru_cache(maxsize=1024)
def pack_name(name: str) -> str:
    """A name without separators."""
    return quote(name, safe="")


@lru_cache(maxsize=1024)
def unpack_name(packed: str) -> str:
    """The name of ``pack_name``."""
    return unquote(packed)


def pack_counts(counts: Mapping[str, int]) -> str:
    """``name=number,name=number``, always in the same order."""
    return ",".join(sorted(f"{pack_name(name)}={count}" for name, count in counts.items()))


def unpack_counts(packed: str) -> dict[str, int]:
    """The counts of ``pack_counts``."""
    return dict(_pairs_of(packed))


@lru_cache(maxsize=1024)
def _pairs_of(packed: str) -> tuple[tuple[str, int], ...]:
    # Most documents have one chunk or two, so that few texts are all there is.
    pairs = (item.split("=") for item in packed.split(",")) if packed else ()
    return tuple((unpack_name(name), int(count)) for name, count in pairs)


def pack_chunks(chunks: Mapping[str, Mapping[str, int]]) -> str:
    """``set:counts;set:counts``, always in the same order."""
    return ";".join(sorted(f"{pack_name(index_set)}:{pack_counts(counts)}" for index_set, counts in chunks.items()))


def unpack_chunks(packed: str) -> dict[str, dict[str, int]]:
    """The chunks of ``pack_chunks``."""
    pairs = (item.split(":") for item in packed.split(";")) if packed else ()
    return {unpack_name(index_set): unpack_counts(counts) for index_set, counts in pairs}


@lru_cache(maxsize=_ENTRIES_CACHED)
def unpack_entry(packed: bytes) -> Entry:
    """An entry of the registry."""
    state, stat, size, marked, *versions, reason = packed.decode().split("|", 12)
    live, previous = _unpack_version(versions[:4]), _unpack_version(versions[4:])
    return Entry(STATE_OF[state], live, previous, stat, reason, int(size), marked == "1")


def _unpack_version(fields: list[str]) -> Version | None:
    generation, commit, fingerprint, chunks = fields
    if not generation:
        return None
    number, _, seconds = commit.partition("@")
    return Version(int(generation), int(number), fingerprint, unpack_counts(chunks), int(seconds, 16) if seconds else None)


def pack_entry(entry: Entry) -> str:
    """An entry as ``unpack_entry`` reads it.

    Raises:
        ValueError: a field that is stored between separators holds one.
    """
    require_plain(entry.stat)
    versions = (_pack_version(entry.live), _pack_version(entry.previous))
    return "|".join((LETTER_OF[entry.state], entry.stat, str(entry.size_bytes), str(int(entry.marked)), *versions, entry.reason))


def _pack_version(version: Version | None) -> str:
    if version is None:
        return "|||"
    require_plain(version.fingerprint)
    committed_at = "" if version.committed_at is None else f"@{version.committed_at:x}"
    return f"{version.generation}|{version.commit}{committed_at}|{version.fingerprint}|{pack_counts(version.chunks)}"


def unpack_suspicion(packed: str) -> Suspicion:
    """What is known against a suspect."""
    crashes, fingerprint, reason = packed.split("|", 2)
    return Suspicion(int(crashes), fingerprint, reason)


def pack_intent(intent: Intent) -> str:
    """An intent as ``intents.lua`` takes it."""
    return f"{intent.attempt.document_id}\n{intent.attempt.generation}\n{pack_chunks(intent.chunks)}"


def pack_holder(attempt: Attempt) -> str:
    """An attempt as ``renew.lua`` takes it."""
    return f"{attempt.document_id}\n{attempt.generation}"


def pack_commit(commit: Commit) -> str:
    """A commit as ``commit.lua`` takes it.

    Raises:
        ValueError: a field that is stored between separators holds one.
    """
    attempt = commit.attempt
    counters = dict(commit.counters)
    if commit.state is not DocumentState.GONE:
        name = _COUNTER_OF.get(commit.state) or f"skipped.{kind_of(commit.reason)}"
        counters[name] = counters.get(name, 0) + 1
    require_plain(commit.stat)
    require_plain(commit.fingerprint)
    fields = (
        attempt.document_id,
        str(attempt.generation),
        str(attempt.ticket),
        attempt.run_id,
        LETTER_OF[commit.state],
        commit.stat,
        str(commit.size_bytes),
        commit.fingerprint,
        pack_chunks(commit.chunks),
        pack_counts(counters),
        commit.reason,
    )
    return "\n".join(fields)


def kind_of(reason: str) -> str:
    """The kind of a reason, ``<kind>: <sentence>``."""
    return reason.partition(":")[0]


def require_plain(text: str) -> None:
    """Raises ``ValueError`` for a stat signature or fingerprint with a separator in it."""
    if "|" in text or "\n" in text or ";" in text:
        raise ValueError(f"not a stat signature or fingerprint: {text!r}")


def pack_garbage(garbage: Garbage) -> str:
    """Garbage with its generation, exactly as ``unpack_garbage`` found it."""
    chunks = _NO_INTENT if garbage.chunks is None else pack_chunks(garbage.chunks)
    return f"{garbage.generation}|{int(garbage.deleted_once)}|{chunks}|{garbage.document_id}"


def unpack_garbage(packed: bytes) -> Garbage:
    """Garbage as ``due_garbage.lua`` returns it."""
    generation, deleted_once, chunks, document_id = packed.decode().split("|", 3)
    return Garbage(document_id, int(generation), None if chunks == _NO_INTENT else unpack_chunks(chunks), deleted_once == "1")


def pack_vector(vector: Vector) -> str:
    """Little-endian 32-bit floats, in base64."""
    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()


def unpack_vector(packed: bytes) -> Vector:
    """What ``pack_vector`` has packed."""
    floats = base64.b64decode(packed)
    return struct.unpack(f"<{len(floats) // 4}f", floats)
