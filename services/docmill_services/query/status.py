"""How a knowledge base stands, from its registry, its ledger and its stores."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from docmill.domain.errors import DocmillError
from docmill.domain.registry import DocumentState
from docmill.domain.runs import Run, RunState
from docmill.indexing.index_sets import BUILDING, WATCHING
from docmill.indexing.watch_note import trouble_of
from docmill_services.query.backend import Backend
from docmill_services.query.problems import without_folders
from docmill_services.query.responses import IndexSetReply, KnowledgeBaseStateName, StoreReply

#: The states that people see; ``gone`` is none of them.
SHOWN_STATES: Final = tuple(state for state in DocumentState if state is not DocumentState.GONE)


@dataclass(frozen=True, slots=True)
class Counts:
    """Documents by state, each state being there, and live chunks by strategy."""

    documents: Mapping[str, int]
    chunks: Mapping[str, int]


def document_counts(backend: Backend) -> Counts:
    """Counts of the served index set; raises ``StoreDown``."""
    index_set = backend.registry.position().index_set
    stored, chunks = backend.registry.counts(index_set) if index_set is not None else ({}, {})
    documents = {state.value: stored.get(state, 0) for state in SHOWN_STATES}
    documents[DocumentState.PENDING.value] = sum(backend.ledger.outstanding())
    return Counts(documents, {name: chunks.get(name, 0) for name in backend.strategy_stores})


def state_of(counts: Counts, run: Run | None) -> KnowledgeBaseStateName:
    """The one word for how a knowledge base stands.

    Args:
        counts: of its documents.
        run: the one that is going on, else the last one.
    """
    if run is not None and run.state is RunState.BACKING_OFF:
        return "backing_off"
    if run is not None and not run.state.final:
        return "indexing"
    if run is not None and run.state is RunState.FAILED:
        return "failed"
    if counts.documents[DocumentState.LIVE.value] > 0:
        return "ready"
    return "indexing" if counts.documents[DocumentState.PENDING.value] > 0 else "empty"


def index_sets_of(backend: Backend) -> list[IndexSetReply]:
    """The served index set and the one being built, as far as there are any; raises ``StoreDown``."""
    served, building = backend.registry.position().index_set, backend.registry.noted(BUILDING)
    roles: dict[str, Literal["served", "building"]] = {}
    if served is not None:
        roles[served] = "served"
    if building is not None:
        roles.setdefault(building, "building")
    found = []
    for index_set, role in roles.items():
        stored, _ = backend.registry.counts(index_set)
        documents = {state.value: stored[state] for state in SHOWN_STATES if stored.get(state)}
        found.append(IndexSetReply(id=index_set, role=role, documents=documents))
    return found


def store_states(backend: Backend) -> dict[str, StoreReply]:
    """Asks each store whether it answers."""
    found = {}
    for name, store in backend.stores.items():
        try:
            store.epoch()
        except DocmillError as error:
            found[name] = StoreReply(ok=False, detail=without_folders(str(error)))
        else:
            found[name] = StoreReply(ok=True)
    return found


def why_not_ready(backend: Backend) -> str | None:
    """Why a search could not be answered now; None when it could. One store that answers is enough."""
    stores = store_states(backend)
    if stores and not any(store.ok for store in stores.values()):
        return "no store answers"
    try:
        backend.registry.position()
    except DocmillError as error:
        return None if backend.searcher.can_do_without_registry else without_folders(str(error))
    return None


def why_degraded(backend: Backend) -> str | None:
    """What keeps changes from being noticed at once, while searches are answered; None where nothing does or nobody can tell."""
    try:
        trouble = trouble_of(backend.registry.noted(WATCHING))
    except DocmillError:
        return None
    return None if trouble is None else f"degraded: {without_folders(trouble)}"
