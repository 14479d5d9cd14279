"""Repairing: starts what makes good what a comparison has found; the ordinary work does the rest."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from docmill.domain.errors import DocmillError
from docmill.domain.knowledge_bases import StrategySpec
from docmill.domain.registry import Entry, Lane
from docmill.domain.verification import Finding, FindingKind
from docmill.indexing.batches import PLANNED_AT_ONCE
from docmill.indexing.store_checks import store_name
from docmill.indexing.targets import Target
from docmill.ports.queue import TaskQueue
from docmill.ports.state import KnowledgeBaseState


@dataclass(frozen=True, slots=True)
class Suspect:
    """A document of an index set with what is wrong with it."""

    target: Target
    document_id: str
    entry: Entry | None
    finding: Finding


@dataclass(frozen=True, slots=True)
class Stray:
    """A generation in a store that nobody knows."""

    target: Target
    strategy: StrategySpec
    document_id: str
    generation: int

    @property
    def finding(self) -> Finding:
        """As it is reported."""
        detail = f"{self.strategy.name} holds chunks of generation {self.generation}, which nobody knows"
        return Finding(FindingKind.ORPHAN, self.document_id, store_name(self.strategy), detail)


@dataclass(frozen=True, slots=True)
class Repairer:
    """Repairs one knowledge base."""

    state: KnowledgeBaseState
    targets: Sequence[Target]
    tasks: TaskQueue

    def plan(self, suspects: Sequence[Suspect]) -> list[Finding]:
        """Plans documents again, those whose source is gone by a pass of the producer; returns the findings with what was done."""
        if not suspects:
            return []
        for suspect in suspects:
            if suspect.entry is not None and suspect.entry.live is not None and suspect.finding.kind is not FindingKind.ORPHAN:
                self.state.registry.mark(suspect.target.index_set, suspect.document_id, suspect.entry.live.generation)
        wrong = dict.fromkeys(one.document_id for one in suspects if one.finding.kind is not FindingKind.ORPHAN)
        first = list(wrong)[:PLANNED_AT_ONCE]
        if first:
            self.tasks.send(self.state.ledger.enqueue(first, Lane.BULK), Lane.BULK)
        if len(wrong) > len(first) or any(one.finding.kind is FindingKind.ORPHAN for one in suspects):
            self.state.ledger.start_run()
        return [_done(one.finding, _THEN.get(one.finding.kind, "it is planned again")) for one in suspects]

    def remove(self, strays: Sequence[Stray]) -> list[Finding]:
        """Removes generations that nobody knows; returns the findings with what was done."""
        return [_done(stray.finding, self._remove(stray)) for stray in strays]

    def _remove(self, stray: Stray) -> str:
        store, index = stray.target.store(stray.strategy), stray.target.index(stray.strategy.name)
        try:
            store.delete_generation(index, stray.document_id, stray.generation)
        except DocmillError as error:
            return f"they could not be removed: {error}"
        return "they were removed"


_THEN: Final = {FindingKind.ORPHAN: "a run was started that removes it"}


def _done(finding: Finding, what: str) -> Finding:
    return replace(finding, detail=f"{finding.detail}; {what}")
