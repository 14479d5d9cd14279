"""Whether a chunk satisfies a ``ChunkFilter``: the one meaning that every store must give to it."""

import re
from functools import lru_cache
from typing import Final

from docmill.domain.chunks import ChunkFilter, ChunkRecord
from docmill.domain.documents import MetadataValue

_GLOB_PART: Final = re.compile(r"\*\*/|\*\*|\*|\?|[^*?]+")
_GLOB_MEANING: Final = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def matches_filter(chunk_filter: ChunkFilter, record: ChunkRecord) -> bool:
    """Whether every condition of ``chunk_filter`` holds for ``record``."""
    return (
        (chunk_filter.path_prefix is None or record.document_id.startswith(chunk_filter.path_prefix))
        and (chunk_filter.path_glob is None or matches_glob(chunk_filter.path_glob, record.document_id))
        and (chunk_filter.language is None or record.language == chunk_filter.language)
        and (chunk_filter.mime is None or record.mime == chunk_filter.mime)
        and all(matches_value(wanted, record.metadata.get(key)) for key, wanted in chunk_filter.metadata.items())
    )


def matches_glob(glob: str, document_id: str) -> bool:
    """Whether the whole of ``document_id`` matches ``glob``.

    ``*`` and ``?`` stand for any run and any one character within a folder, ``**`` for any run across folders; ``**/`` also stands
    for no folder at all. Every other character stands for itself.
    """
    return _glob_pattern(glob).fullmatch(document_id) is not None


def glob_literals(glob: str) -> tuple[str, list[str]]:
    """What every match of ``glob`` must begin with ("" for anything), and the other texts that it must contain."""
    pieces = [(piece, piece in _GLOB_MEANING) for piece in _GLOB_PART.findall(glob)]
    prefix = pieces[0][0] if pieces and not pieces[0][1] else ""
    return prefix, [piece for piece, wild in pieces[1 if prefix else 0 :] if not wild]


def matches_value(wanted: MetadataValue, stored: MetadataValue | None) -> bool:
    """Whether ``stored`` is ``wanted``, or is a list that contains it (each item of it, when ``wanted`` is a list too).

    Numbers are equal by value (1 and 1.0); a boolean equals only a boolean.
    """
    return (
        stored is not None
        and set(value_keys(wanted)) <= set(value_keys(stored))
        and (not isinstance(wanted, list) or isinstance(stored, list))
    )


def value_keys(value: MetadataValue) -> list[str]:
    """One text for each item of ``value``; two items are equal exactly when their texts are."""
    if isinstance(value, list):
        return [key for item in value for key in value_keys(item)]
    if isinstance(value, bool):
        return ["b:true" if value else "b:false"]
    if isinstance(value, str):
        return [f"s:{value}"]
    return [f"n:{int(value)}" if value == value and abs(value) < 2**63 and value == int(value) else f"n:{value!r}"]


@lru_cache(maxsize=256)
def _glob_pattern(glob: str) -> re.Pattern[str]:
    return re.compile("".join(_GLOB_MEANING.get(piece) or re.escape(piece) for piece in _GLOB_PART.findall(glob)), re.DOTALL)
