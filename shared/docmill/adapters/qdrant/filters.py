"""``ChunkFilter`` as a filter of the server, and the facts about paths that it needs.

Only exact matches of keywords are used, which every version serves from an index: prefixes and substrings are not to be had everywhere.
So a chunk has facts about its document's path, and what they cannot say exactly is checked again on what comes back.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from qdrant_client import models

from docmill.adapters.chunk_payload import bounded_fact, facts_wanted
from docmill.domain.chunks import ChunkFilter


def path_facts(document_id: str) -> list[str]:
    """What is said about a document's path: each folder above it, its name, and the suffix of its name."""
    facts = [f"under={document_id[: place + 1]}" for place, letter in enumerate(document_id) if letter == "/"]
    name = document_id.rpartition("/")[2]
    facts.append(f"name={name}")
    if "." in name:
        facts.append(f"suffix={name[name.rindex('.') :]}")
    return [bounded_fact(fact) for fact in facts]


def facts_of_prefix(path_prefix: str) -> list[str]:
    """The path facts of every document whose id begins with ``path_prefix``."""
    folder = path_prefix[: path_prefix.rfind("/") + 1]
    return [bounded_fact(f"under={folder}")] if folder else []


def facts_of_glob(path_glob: str) -> list[str]:
    """The path facts of every document whose id matches ``path_glob``."""
    first = min((place for place in map(path_glob.find, "*?") if place >= 0), default=len(path_glob))
    last = max(map(path_glob.rfind, "*?"))
    facts = facts_of_prefix(path_glob[:first])
    before, tail = path_glob[: last + 1], path_glob[last + 1 :]
    name = tail.rpartition("/")[2]
    if _is_whole_name(before, tail):
        facts.append(bounded_fact(f"name={name}"))
    elif "." in name:
        facts.append(bounded_fact(f"suffix={name[name.rindex('.') :]}"))
    return facts


def server_filter(chunk_filter: ChunkFilter, without_generations: AbstractSet[int] = frozenset()) -> models.Filter | None:
    """A filter that lets through all that ``chunk_filter`` does, and little more; None when nothing is restricted."""
    facts = facts_wanted(chunk_filter)
    if chunk_filter.path_prefix is not None:
        facts += facts_of_prefix(chunk_filter.path_prefix)
    if chunk_filter.path_glob is not None:
        facts += facts_of_glob(chunk_filter.path_glob)
    must: list[models.Condition] = [_equals("facts", fact) for fact in dict.fromkeys(facts)]
    must_not: list[models.Condition] = []
    if without_generations:
        must_not.append(models.FieldCondition(key="gen", match=models.MatchAny(any=sorted(without_generations))))
    return models.Filter(must=must or None, must_not=must_not or None) if must or must_not else None


def is_exact(chunk_filter: ChunkFilter) -> bool:
    """Whether the server's filter lets through exactly what ``chunk_filter`` does."""
    prefix = chunk_filter.path_prefix
    lists = any(isinstance(value, list) for value in chunk_filter.metadata.values())
    return chunk_filter.path_glob is None and not lists and (not prefix or prefix.endswith("/"))


def generation_filter(document_id: str, generation: int) -> models.Filter:
    """The chunks of one generation of a document."""
    return models.Filter(must=[_equals("doc", document_id), _equals("gen", generation)])


def text_filter(text_hashes: Sequence[str]) -> models.Filter:
    """The chunks of these texts."""
    return models.Filter(must=[models.FieldCondition(key="hash", match=models.MatchAny(any=list(text_hashes)))])


def _equals(field: str, value: str | int) -> models.FieldCondition:
    return models.FieldCondition(key=field, match=models.MatchValue(value=value))


def _is_whole_name(before: str, tail: str) -> bool:
    """Whether what is after the last ``/`` of ``tail``, which ends a glob after its last wildcard, is a document's whole name."""
    if tail.endswith("/") or not tail:
        return False
    if "/" not in tail:
        return not before
    # `**/` may stand for nothing at all: then a name begins behind it only when one would begin before it too.
    swallowed = tail.rfind("/") == 0 and before.endswith("**")
    return not swallowed or before[:-2] == "" or before[:-2].endswith("/")
