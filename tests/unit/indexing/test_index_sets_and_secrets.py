"""What is skipped under one configuration is looked at again under another; what one allowed is not found under the other."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from docmill.domain.documents import LoadedDocument
from docmill.domain.errors import DocumentSkipped, SkipReason
from docmill.domain.knowledge_bases import EmbeddingModelSpec, KnowledgeBase
from docmill.domain.registry import DocumentState, Lane
from docmill.indexing.index_sets import IndexSets
from docmill.ports.models import EmbeddingModel
from support.indexing_world import KB, DictSource, World

ALLOWING = replace(KB, allow_secrets=True)


class WithholdingSource(DictSource):
    """A source that withholds what has the word ``secret`` in it, and what is longer than it may be."""

    def __init__(self) -> None:
        super().__init__()
        self.configured: Callable[[], KnowledgeBase] = lambda: KB

    def require_allowed(self, document_id: str, document: LoadedDocument) -> None:
        if "secret" in document.text and not self.configured().allow_secrets:
            raise DocumentSkipped(SkipReason.SECRET, "it holds a secret")
        if len(document.text) > self.configured().max_file_size_bytes:
            raise DocumentSkipped(SkipReason.TOO_LARGE, "it is too large")


class Place(World):
    """A world that is opened with one configuration after another."""

    def __init__(self) -> None:
        super().__init__()
        self.source: WithholdingSource = WithholdingSource()
        self.source.configured = lambda: self.configured
        self.open(KB)

    def open(self, knowledge_base: KnowledgeBase) -> None:
        self.configured = knowledge_base
        self.sets = IndexSets(knowledge_base, self.state, self.vectors, self.lexical, self.model_of)
        self.sets.open()

    def model_of(self, specification: EmbeddingModelSpec) -> EmbeddingModel:
        return self.model

    def run(self) -> None:
        """A run over all files, which reads those whose signature is not known in every set."""
        run, _ = self.state.ledger.start_run()
        known = [self.state.registry.stats(target.index_set, list(self.source.files)) for target in self.sets.targets()]
        planned = [
            name for name, *stats in zip(self.source.files, *known, strict=True) if any(stat != self.source.stat_of(name) for stat in stats)
        ]
        self.tasks.send(self.state.ledger.enqueue(planned, Lane.BULK, run_id=run.id), Lane.BULK)
        self.state.ledger.scan_ended(run.id)
        while self.tasks.messages:
            replace(self.reconciler(), targets=self.sets.targets).reconcile(self.tasks.take())
            self.commit()
        assert self.state.ledger.complete(run.id)
        self.sets.settle()

    def state_of(self, document_id: str) -> DocumentState:
        _, entries = self.state.registry.entries(self.sets.served().index_set, [document_id])
        return entries[document_id].state


@pytest.fixture
def place() -> Place:
    made = Place()
    made.source.put("a.md", "a secret\n")
    made.source.put("b.md", "nothing\n")
    made.run()
    return made


def test_a_secret_comes_and_goes_with_what_is_allowed(place: Place) -> None:
    states = [place.state_of("a.md")]
    for configured in (ALLOWING, KB, ALLOWING):
        place.open(configured)
        place.run()
        states.append(place.state_of("a.md"))
    assert states == [DocumentState.SKIPPED, DocumentState.LIVE, DocumentState.SKIPPED, DocumentState.LIVE]
    assert place.state_of("b.md") is DocumentState.LIVE


def test_a_set_that_is_being_filled_is_not_emptied_by_a_restart(place: Place) -> None:
    place.open(ALLOWING)
    building = place.sets.targets()[-1]
    (name, *_) = place.source.files
    run, _ = place.state.ledger.start_run()
    place.tasks.send(place.state.ledger.enqueue([name], Lane.BULK, run_id=run.id), Lane.BULK)
    replace(place.reconciler(), targets=place.sets.targets).reconcile(place.tasks.take())
    place.commit()
    place.open(ALLOWING)
    assert name in place.state.registry.entries(building.index_set, [name])[1]


def test_what_was_too_large_is_read_once_it_may_be_so_large(place: Place) -> None:
    small = replace(KB, max_file_size_bytes=9)
    place.open(small)
    place.source.put("c.md", "longer than that\n")
    place.run()
    assert place.state_of("c.md") is DocumentState.SKIPPED
    place.open(KB)
    place.run()
    assert place.state_of("c.md") is DocumentState.LIVE


def test_the_same_configuration_reads_nothing_again(place: Place) -> None:
    place.open(KB)
    stats = place.state.registry.stats(place.sets.served().index_set, ["a.md", "b.md"])
    assert stats == [place.source.stat_of("a.md"), place.source.stat_of("b.md")]
