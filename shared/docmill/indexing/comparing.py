"""Comparing: what one document's entry should be by its source; pure but for reading the source."""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from docmill.domain.documents import fingerprint_of
from docmill.domain.errors import DocmillError, DocumentSkipped
from docmill.domain.registry import DocumentState, Entry
from docmill.domain.verification import FindingKind
from docmill.indexing.sources import Source


@dataclass(frozen=True, slots=True)
class SourceState:
    """What a document's source holds now.

    Attributes:
        fingerprint: None when there is no such source any more, or none that belongs to the knowledge base.
        stat: its packed stat signature; "" when it cannot be trusted.
        skipped: why it must not be indexed; "" otherwise.
        unknown: why it cannot be told; "" otherwise.
        strategies: to which it belongs.
    """

    fingerprint: str | None = None
    stat: str = ""
    skipped: str = ""
    unknown: str = ""
    strategies: frozenset[str] = frozenset()

    @property
    def gone(self) -> bool:
        """Whether there is nothing to index."""
        return self.fingerprint is None and not self.skipped and not self.unknown


def source_state(source: Source, document_id: str) -> SourceState:
    """Reads a document's source."""
    strategies: frozenset[str] = frozenset()
    try:
        strategies = frozenset(source.strategies_for(document_id))
        content = source.read(document_id) if strategies else None
    except DocumentSkipped as skipped:
        return SourceState(skipped=f"{skipped.reason}: {skipped.detail}", strategies=strategies)
    except DocmillError as error:
        return SourceState(unknown=f"{error.code}: {error}", strategies=strategies)
    if content is None:
        return SourceState(strategies=strategies)
    return SourceState(fingerprint_of(content.content), content.stat, strategies=strategies)


def difference(entry: Entry | None, source: SourceState, strategies: AbstractSet[str] | None) -> tuple[FindingKind, str] | None:
    """How a document's entry differs from what its source asks for; None when it does not.

    Args:
        entry: in one index set.
        source: as it is now.
        strategies: of the index set; None when they are not those that the source is configured for now.
    """
    if entry is None or entry.state is DocumentState.GONE:
        return None if source.gone else (FindingKind.MISSING, source.unknown or "it is not in the registry")
    if source.gone:
        return FindingKind.ORPHAN, "its source is gone"
    if source.unknown:
        return None if entry.live is not None else (FindingKind.MISSING, source.unknown)
    if source.skipped:
        return _of_skipped(entry, source)
    if entry.live is None or entry.live.fingerprint != source.fingerprint:
        return _of_other_content(entry, source)
    if strategies is not None and entry.live.chunks and entry.live.chunks.keys() != source.strategies & strategies:
        return (
            FindingKind.STALE,
            f"it is indexed for {_list(entry.live.chunks.keys())}, and belongs to {_list(source.strategies & strategies)}",
        )
    return None


def _of_skipped(entry: Entry, source: SourceState) -> tuple[FindingKind, str] | None:
    if entry.state in (DocumentState.LIVE, DocumentState.EMPTY):
        return FindingKind.STALE, f"it is live, and must not be indexed: {source.skipped}"
    return None


def _of_other_content(entry: Entry, source: SourceState) -> tuple[FindingKind, str] | None:
    if entry.state is DocumentState.QUARANTINED and (not entry.stat or source.stat in ("", entry.stat)):
        return None
    kind = FindingKind.MISSING if entry.live is None else FindingKind.STALE
    if entry.reason:
        return kind, f"it is {entry.state}: {entry.reason}"
    return kind, "its source has another content than what is live"


def _list(names: AbstractSet[str]) -> str:
    return ", ".join(sorted(names)) or "nothing"
