"""Collection ids: which document of a knowledge base is which document of a collection.

A collection calls its documents by ids (``184``), a knowledge base by paths (``cranfield/184.md``). An id stands for the document whose
path it is, or else whose path without the ending, or else whose file's name, or else whose file's name without the ending; the first of
these that fits decides. A document that is live goes before one that is not.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Final

_LIVE: Final = "live"


@dataclass(frozen=True, slots=True)
class NotFound:
    """A judged document that no search can find, or of which it cannot be told which one it is.

    Attributes:
        id: in the collection.
        state: of the document that it stands for; None where there is none, or several.
        documents: the several that it may stand for.
    """

    id: str
    state: str | None = None
    documents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CollectionIds:
    """Which document each id stands for; ``not_found`` are those that no search can find."""

    documents: Mapping[str, str] = field(default_factory=dict)
    not_found: tuple[NotFound, ...] = ()

    def key_of(self, collection_id: str) -> str:
        """The document id, or what is no document's where there is none: those have no control characters."""
        return self.documents.get(collection_id, f"\0{collection_id}")


def match_ids(collection_ids: Collection[str], documents: Iterable[tuple[str, str]]) -> CollectionIds:
    """Finds the document of each id.

    Args:
        collection_ids: each once.
        documents: the id and the state of every document of the knowledge base.
    """
    wanted = frozenset(collection_ids)
    #: By collection id, how well documents fit it: those that fit best come first.
    fitting: dict[str, list[tuple[tuple[bool, int], str]]] = {}
    states: dict[str, str] = {}
    for document_id, state in documents:
        for place, name in enumerate(_names_of(document_id)):
            if name in wanted:
                fitting.setdefault(name, []).append(((state != _LIVE, place), document_id))
                states[document_id] = state
    found: dict[str, str] = {}
    not_found: list[NotFound] = []
    for collection_id in collection_ids:
        best = _best(fitting.get(collection_id, ()))
        if len(best) == 1:
            found[collection_id] = best[0]
            if states[best[0]] != _LIVE:
                not_found.append(NotFound(collection_id, states[best[0]]))
        else:
            not_found.append(NotFound(collection_id, documents=tuple(best)))
    return CollectionIds(found, tuple(not_found))


def _names_of(document_id: str) -> Sequence[str]:
    path = PurePosixPath(document_id)
    return tuple(dict.fromkeys((document_id, str(path.with_suffix("")) if path.name else document_id, path.name, path.stem)))


def _best(fitting: Sequence[tuple[tuple[bool, int], str]]) -> list[str]:
    if not fitting:
        return []
    closest = min(closeness for closeness, _ in fitting)
    return sorted({document_id for closeness, document_id in fitting if closeness == closest})
