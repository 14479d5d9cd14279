"""Reads candidates as of one commit number, however much is committed meanwhile."""

import math
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Final

from docmill.domain.chunks import ChunkFilter, ScoredChunk
from docmill.domain.errors import DocmillError, StoreDown
from docmill.domain.index_names import index_name
from docmill.domain.registry import Entry, Position
from docmill.domain.searching import Candidate
from docmill.ports.clock import Clock
from docmill.ports.registry import Registry
from docmill.retrieval.retrievers import Retriever
from docmill.retrieval.together import Call, call_together
from docmill.retrieval.verify import choose_unverified, judge

#: After the registry did not answer, queries do without it for so long: not each one waits for its time-out.
SILENCE_SECONDS: Final = 1.0
#: A first search and two more, when a document changed too often under the query.
MAX_TURNS: Final = 3
#: Searches of one strategy in one turn, each without the dead generations that the ones before found.
MAX_ROUNDS: Final = 4
#: Stores are asked for this many times the strategy's limit, since dead chunks may stand among the live ones.
ASKED_FOR_EACH_WANTED: Final = 2
REMEMBERED_DOCUMENTS: Final = 20_000


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What a query found.

    Attributes:
        position: the moment that it shows; its index set is None when nothing was ever indexed.
        candidates: of all strategies, every one of the generation that was live at the position.
        failures: by strategy, why it did not answer.
        entries: of the candidates' documents; empty when unverified.
        dropped: how many documents were left out since they changed under every search.
        unverified: the registry did not answer, so the generations were chosen without it.
    """

    position: Position
    candidates: tuple[Candidate, ...] = ()
    failures: Mapping[str, DocmillError] = field(default_factory=dict)
    entries: Mapping[str, Entry] = field(default_factory=dict)
    dropped: int = 0
    unverified: bool = False


@dataclass(slots=True)
class _Turn:
    """One try to read everything as of one position.

    Attributes:
        assumed: the position is the last query's, and was not read yet.
        moved: it was read, and was another one: what was found shows no moment.
    """

    position: Position
    assumed: bool = False
    moved: bool = False
    live: dict[str, list[ScoredChunk]] = field(default_factory=dict)
    failures: dict[str, DocmillError] = field(default_factory=dict)
    entries: dict[str, Entry] = field(default_factory=dict)
    accepted: dict[str, int | None] = field(default_factory=dict)
    unsettled: set[str] = field(default_factory=set)
    dead: set[int] = field(default_factory=set)
    unverified: bool = False


class SnapshotReader:
    """Reads one knowledge base; safe for several threads.

    It remembers which generations were live, for the time in which the registry does not answer. And while nothing is committed, it takes
    the position of the last query for granted and has it confirmed when it reads the entries, which saves a round trip: commit numbers
    only rise, so a position that is the same before and after the stores were read is the one at which they were read.
    """

    def __init__(self, knowledge_base: str, registry: Registry, executor: Executor, clock: Clock, *, index_set: str | None = None) -> None:
        """``index_set`` is the one that its retrievers were made for, which it keeps to; None reads whichever is served."""
        self._knowledge_base = knowledge_base
        self._index_set = index_set
        self._registry = registry
        self._executor = executor
        self._clock = clock
        self._last_position: Position | None = None
        self._silent_until = -math.inf
        #: The position, when the last two queries found the same one.
        self._resting: Position | None = None
        self._last_live: OrderedDict[str, int] = OrderedDict()
        self._lock = Lock()

    def read(self, retrievers: Sequence[Retriever], query: str, chunk_filter: ChunkFilter, deadline: float) -> Snapshot:
        """Searches with all ``retrievers`` until what they found can be judged.

        Each turn reads the position (or takes it from the last query), then the stores, then the entries of all candidates, in this
        order: so the generation that was live at the position's commit number is known, and its chunks were there while the stores were
        read.

        Args:
            retrievers: one per strategy.
            query: the text.
            chunk_filter: which chunks may be found.
            deadline: on the clock; strategies that answer later have failed, and no other turn begins after it.

        Raises:
            StoreDown: the registry does not answer and never did, so that the served index set is unknown.
        """
        resting = None if self._is_silent() else self._resting
        turn = self._read_turn(_Turn(_without_news(resting), assumed=True), retrievers, query, chunk_filter, deadline) if resting else None
        if turn is None or turn.moved:
            turn = self._read_turn(self._begin_turn(), retrievers, query, chunk_filter, deadline)
        for number in range(2, MAX_TURNS + 1):
            if not turn.unsettled or self._clock.monotonic() >= deadline:
                break
            turn = self._read_turn(self._begin_turn(), retrievers, query, chunk_filter, deadline, last=number == MAX_TURNS)
        searched = turn.position.index_set and (self._index_set or turn.position.index_set)
        return Snapshot(
            position=replace(turn.position, index_set=searched),
            candidates=tuple(
                candidate
                for retriever in retrievers
                for candidate in _ranked(retriever.spec.name, turn.live.get(retriever.spec.name, []), retriever.spec.limit)
            ),
            failures=turn.failures,
            entries=turn.entries,
            dropped=len(turn.unsettled),
            unverified=turn.unverified,
        )

    @property
    def knows_position(self) -> bool:
        """Whether a position was ever read, so that ``read`` can do without the registry."""
        return self._last_position is not None

    def _read_turn(
        self,
        turn: _Turn,
        retrievers: Sequence[Retriever],
        query: str,
        chunk_filter: ChunkFilter,
        deadline: float,
        *,
        last: bool = False,
    ) -> _Turn:
        if turn.position.index_set is None:
            return turn
        index_set = self._index_set or turn.position.index_set
        open_retrievers = list(retrievers)
        for _ in range(MAX_ROUNDS):
            pages = self._search(turn, open_retrievers, index_set, query, chunk_filter, deadline)
            if not turn.unverified:
                pages = self._judge_pages(turn, index_set, pages, open_retrievers)
            if turn.moved:
                self._resting = None
                return turn
            if turn.unverified:
                _accept_unverified(turn, pages, self._last_live)
            found_dead = _sort_out(turn, pages)
            open_retrievers = [one for one in open_retrievers if _has_too_few(one, pages.get(one.spec.name), turn.live)]
            turn_is_lost = bool(turn.unsettled) and not last
            if turn.unverified or turn_is_lost or not found_dead or not open_retrievers or self._clock.monotonic() >= deadline:
                break
        if not turn.unverified:
            self._remember(turn)
        return turn

    def _begin_turn(self) -> _Turn:
        if self._is_silent() and self._last_position is not None:
            return _Turn(_without_news(self._last_position), unverified=True)
        try:
            position = self._registry.position()
        except StoreDown:
            self._note_silence()
            if self._last_position is None:
                raise
            return _Turn(_without_news(self._last_position), unverified=True)
        if self._last_position is not None and (position.index_set is None or not position.epoch):
            # The registry was emptied: until it is rebuilt and opened it knows no more than one that does not answer.
            return _Turn(_without_news(self._last_position), unverified=True)
        return _Turn(position)

    def _search(
        self,
        turn: _Turn,
        retrievers: Sequence[Retriever],
        index_set: str,
        query: str,
        chunk_filter: ChunkFilter,
        deadline: float,
    ) -> Mapping[str, Sequence[ScoredChunk]]:
        without = frozenset(turn.dead)

        def call(retriever: Retriever) -> Call[list[ScoredChunk]]:
            spec = retriever.spec
            index = index_name(self._knowledge_base, index_set, spec.name)
            return Call(
                spec.name,
                lambda: retriever.retrieve(index, query, spec.limit * ASKED_FOR_EACH_WANTED, chunk_filter, without),
                retriever.answers_at_once(query),
            )

        pages, failures = call_together([call(retriever) for retriever in retrievers], self._executor, self._clock, deadline)
        turn.failures.update(failures)
        return {strategy: sorted(page, key=_place) for strategy, page in pages.items()}

    def _judge_pages(
        self, turn: _Turn, index_set: str, pages: Mapping[str, Sequence[ScoredChunk]], retrievers: Sequence[Retriever]
    ) -> Mapping[str, Sequence[ScoredChunk]]:
        """Judges as much of each page as is needed, and returns that: its best chunks where all of them are live, else all of it."""
        limits = {retriever.spec.name: retriever.spec.limit for retriever in retrievers}
        best = {strategy: page[: limits[strategy]] for strategy, page in pages.items()}
        if not self._judge(turn, index_set, best):
            return pages
        needed = {strategy: best[strategy] if _all_are_live(turn, best[strategy]) else page for strategy, page in pages.items()}
        return needed if self._judge(turn, index_set, needed) else pages

    def _judge(self, turn: _Turn, index_set: str, pages: Mapping[str, Sequence[ScoredChunk]]) -> bool:
        """Asks the registry about documents that were not judged yet; False when it is silent or has moved on."""
        found = {chunk.record.document_id for page in pages.values() for chunk in page}
        new = sorted(found.difference(turn.accepted, turn.unsettled))
        if not new and not turn.assumed:
            return True
        try:
            epoch, entries = self._read_entries(turn, index_set, new)
        except StoreDown:
            self._note_silence()
            turn.unverified = True
            return False
        if turn.moved:
            return False
        verdict = judge(turn.position, epoch, entries, new)
        turn.accepted.update(verdict.accepted)
        turn.unsettled.update(verdict.unsettled)
        turn.entries.update((document_id, entry) for document_id, entry in entries.items() if document_id in verdict.accepted)
        return True

    def _read_entries(self, turn: _Turn, index_set: str, document_ids: Sequence[str]) -> tuple[int, dict[str, Entry]]:
        if not turn.assumed:
            return self._registry.entries(index_set, document_ids)
        position, entries = self._registry.entries_now(index_set, document_ids)
        turn.assumed, turn.moved = False, position != turn.position
        turn.position = position
        return position.epoch, entries

    def _is_silent(self) -> bool:
        return self._clock.monotonic() < self._silent_until

    def _note_silence(self) -> None:
        self._silent_until = self._clock.monotonic() + SILENCE_SECONDS

    def _remember(self, turn: _Turn) -> None:
        with self._lock:
            self._resting = turn.position if turn.position == self._last_position else None
            self._last_position = turn.position
            for document_id, generation in turn.accepted.items():
                if generation is None:
                    self._last_live.pop(document_id, None)
                elif self._last_live.get(document_id) != generation:
                    self._last_live[document_id] = generation
            while len(self._last_live) > REMEMBERED_DOCUMENTS:
                self._last_live.popitem(last=False)


def _without_news(position: Position) -> Position:
    """A position of the past without what was pending then."""
    return replace(position, pending=0, last_complete_run=None)


def _accept_unverified(turn: _Turn, pages: Mapping[str, Sequence[ScoredChunk]], last_live: Mapping[str, int]) -> None:
    """Accepts one generation of each document that was not judged before the registry fell silent."""
    found: dict[str, set[int]] = {}
    for page in pages.values():
        for chunk in page:
            if chunk.record.document_id not in turn.accepted:
                found.setdefault(chunk.record.document_id, set()).add(chunk.record.generation)
    turn.accepted.update(choose_unverified(found, last_live))
    turn.unsettled.clear()


def _all_are_live(turn: _Turn, page: Sequence[ScoredChunk]) -> bool:
    return all(turn.accepted.get(found.record.document_id) == found.record.generation for found in page)


def _sort_out(turn: _Turn, pages: Mapping[str, Sequence[ScoredChunk]]) -> bool:
    """Splits pages into what the query may show and what stands in its way; True when there is more of the latter than before."""
    before = len(turn.dead)
    for strategy, page in pages.items():
        live = turn.live[strategy] = []
        for found in page:
            if turn.accepted.get(found.record.document_id) == found.record.generation:
                live.append(found)
            else:
                turn.dead.add(found.record.generation)
    return len(turn.dead) > before


def _has_too_few(retriever: Retriever, page: Sequence[ScoredChunk] | None, live: Mapping[str, Sequence[ScoredChunk]]) -> bool:
    """Whether a full page left too few chunks, so that more may be found behind the dead ones."""
    limit = retriever.spec.limit
    return page is not None and len(page) >= limit * ASKED_FOR_EACH_WANTED and len(live[retriever.spec.name]) < limit


def _ranked(strategy: str, chunks: Sequence[ScoredChunk], limit: int) -> list[Candidate]:
    return [Candidate(strategy, rank, found.score, found.record) for rank, found in enumerate(chunks[:limit], start=1)]


def _place(found: ScoredChunk) -> tuple[float, str, int]:
    """Best first; equal scores by document, then by place in it, whatever order a store has for them."""
    return -found.score, found.record.document_id, found.record.index
