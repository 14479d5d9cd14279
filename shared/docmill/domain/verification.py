"""What a comparison of sources, registry and stores comes to."""

from dataclasses import dataclass
from enum import StrEnum


class FindingKind(StrEnum):
    """What may be wrong.

    ``missing``: a document that should be live is not, or a store has none of its chunks. ``stale``: what is live is not what the source
    holds. ``orphan``: chunks that nobody knows, or a document whose source is gone. ``count``: a store holds another number of chunks than
    the registry says. ``store``: a store that does not answer, is another one, or lacks an index.
    """

    MISSING = "missing"
    STALE = "stale"
    ORPHAN = "orphan"
    COUNT = "count"
    STORE = "store"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong.

    Attributes:
        document_id: None for what concerns a whole store.
        store: ``registry``, ``vectors`` or ``lexical``: where it shows.
        detail: one sentence, with what was done about it by a repair.
    """

    kind: FindingKind
    document_id: str | None
    store: str
    detail: str


@dataclass(frozen=True, slots=True)
class Verification:
    """The result of one comparison.

    Attributes:
        documents: how many the sources have.
        findings: what is wrong, stores first, then by document.
        pending: documents that differ and are being worked on, or wait for a scan that is going on: no findings yet.
    """

    documents: int
    findings: tuple[Finding, ...] = ()
    pending: int = 0

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.findings

    @property
    def answered(self) -> bool:
        """Whether every store could be compared."""
        return not any(finding.kind is FindingKind.STORE for finding in self.findings)
