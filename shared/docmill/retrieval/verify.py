"""Decides which generation of each document a query may show: the one that was live at the query's commit number."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from docmill.domain.registry import DocumentState, Entry, Position

#: States of a document whose last content is another than what is live.
_NOT_WHAT_IS_LIVE: Final = (DocumentState.FAILED, DocumentState.QUARANTINED)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the registry says of the documents of some candidates.

    Attributes:
        accepted: by document, the generation that was live at the query's commit number; None when there was none.
        unsettled: documents that cannot be judged at that commit number: the query must search again.
    """

    accepted: Mapping[str, int | None]
    unsettled: frozenset[str]


def judge(position: Position, epoch: int, entries: Mapping[str, Entry], document_ids: Iterable[str]) -> Verdict:
    """Judges documents by entries that were read after the stores were searched.

    Args:
        position: what the query read before it searched.
        epoch: what was read together with ``entries``. Another one than the position's makes every document unsettled, since commit
            numbers of two epochs cannot be compared.
        entries: those of ``document_ids`` that are known.
        document_ids: the documents of the candidates.
    """
    wanted = list(document_ids)
    if epoch != position.epoch:
        return Verdict({}, frozenset(wanted))
    accepted: dict[str, int | None] = {}
    unsettled: set[str] = set()
    for document_id in wanted:
        entry = entries.get(document_id)
        if entry is None:
            accepted[document_id] = None
            continue
        try:
            version = entry.version_at(position.commit)
        except LookupError:
            unsettled.add(document_id)
            continue
        accepted[document_id] = None if version is None else version.generation
    return Verdict(accepted, frozenset(unsettled))


def choose_unverified(found: Mapping[str, Iterable[int]], last_known: Mapping[str, int]) -> dict[str, int]:
    """One generation per document while the registry cannot be read: the last one known to be live, else the highest that was found.

    Args:
        found: by document, the generations of its candidates over all strategies; none is empty.
        last_known: by document, the generation that earlier queries found to be live.
    """
    chosen: dict[str, int] = {}
    for document_id, generations in found.items():
        present = set(generations)
        known = last_known.get(document_id)
        chosen[document_id] = known if known is not None and known in present else max(present)
    return chosen


def has_changed(entry: Entry, generation: int, current_stat: str | None) -> bool:
    """Whether a document's file differs from the ``generation`` that a hit shows.

    Args:
        entry: the document's.
        generation: of the hit.
        current_stat: the file's packed stat signature now; None when the file is gone.
    """
    if entry.live is None or entry.live.generation != generation or entry.state in _NOT_WHAT_IS_LIVE:
        return True
    return entry.stat not in ("", current_stat)
