"""The ``Registry`` port in memory."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Protocol

from docmill.adapters.memory.state_data import StateData
from docmill.domain.registry import Commit, CommitResult, DocumentState, Entry, Garbage, Intent, Position, Version
from docmill.ports.registry import REBUILD_ROLE

#: The run counter that a commit raises, by its state; SKIPPED has one per reason.
_COUNTER_OF = {DocumentState.LIVE: "indexed", DocumentState.EMPTY: "empty", DocumentState.GONE: "removed"}


class Steps(Protocol):
    """Gives one atomic step: the state, locked, and the present in milliseconds."""

    def __call__(self, *, also_set_back: bool = False) -> AbstractContextManager[tuple[StateData, int]]:
        """The step, as a context; it raises ``StateSetBack`` where that is so, unless it is ``also_set_back``."""
        ...


class MemoryRegistry:
    """Registry face of ``MemoryState``."""

    def __init__(self, step: Steps) -> None:
        self._step = step

    def position(self) -> Position:
        """See ``Registry.position``."""
        with self._step(also_set_back=True) as (data, _):
            return _position(data)

    def raise_epoch(self, at_least: int) -> int:
        """See ``Registry.raise_epoch``."""
        with self._step(also_set_back=True) as (data, _):
            return data.raise_epoch(at_least)

    def reopen(self, at_least: int) -> int | None:
        """See ``Registry.reopen``."""
        with self._step(also_set_back=True) as (data, _):
            return data.raise_epoch(at_least) if data.set_back else None

    def serve(self, index_set: str) -> None:
        """See ``Registry.serve``."""
        with self._step() as (data, _):
            data.served = index_set

    def flip(self, index_set: str, note: str) -> bool:
        """See ``Registry.flip``."""
        with self._step() as (data, _):
            if data.notes.get(note) != index_set:
                return False
            data.served = index_set
            del data.notes[note]
            return True

    def note(self, key: str, text: str | None) -> None:
        """See ``Registry.note``."""
        with self._step() as (data, _):
            if text is None:
                data.notes.pop(key, None)
            else:
                data.notes[key] = text

    def noted(self, key: str) -> str | None:
        """See ``Registry.noted``."""
        with self._step() as (data, _):
            return data.notes.get(key)

    def forget_index_set(self, index_set: str) -> None:
        """See ``Registry.forget_index_set``."""
        with self._step() as (data, _):
            if data.served == index_set:
                raise ValueError(f"index set {index_set!r} is served")
            data.entries.pop(index_set, None)
            data.gone_since = {key: since for key, since in data.gone_since.items() if key[0] != index_set}

    def index_sets(self) -> list[str]:
        """See ``Registry.index_sets``."""
        with self._step() as (data, _):
            return data.index_sets()

    def entries(self, index_set: str, document_ids: Sequence[str]) -> tuple[int, dict[str, Entry]]:
        """See ``Registry.entries``."""
        with self._step() as (data, _):
            known = data.entries.get(index_set, {})
            return data.epoch, {document_id: known[document_id] for document_id in document_ids if document_id in known}

    def entries_now(self, index_set: str, document_ids: Sequence[str]) -> tuple[Position, dict[str, Entry]]:
        """See ``Registry.entries_now``."""
        with self._step() as (data, _):
            known = data.entries.get(index_set, {})
            return _position(data), {document_id: known[document_id] for document_id in document_ids if document_id in known}

    def stats(self, index_set: str, document_ids: Sequence[str]) -> list[str | None]:
        """See ``Registry.stats``."""
        with self._step() as (data, _):
            known = data.entries.get(index_set, {})
            return [_stat_of(known.get(document_id)) for document_id in document_ids]

    def scan(self, index_set: str) -> Iterator[tuple[str, Entry]]:
        """See ``Registry.scan``."""
        with self._step() as (data, _):
            found = list(data.entries.get(index_set, {}).items())
        return iter(found)

    def page(self, index_set: str, *, after: str, limit: int, state: DocumentState | None) -> list[tuple[str, Entry]]:
        """See ``Registry.page``."""
        with self._step() as (data, _):
            wanted = (
                (document_id, entry)
                for document_id, entry in sorted(data.entries.get(index_set, {}).items())
                if document_id > after and entry.state is not DocumentState.GONE and state in (None, entry.state)
            )
            return [item for item, _ in zip(wanted, range(limit), strict=False)]

    def counts(self, index_set: str) -> tuple[dict[DocumentState, int], dict[str, int]]:
        """See ``Registry.counts``."""
        documents: dict[DocumentState, int] = {}
        chunks: dict[str, int] = {}
        with self._step() as (data, _):
            for entry in data.entries.get(index_set, {}).values():
                documents[entry.state] = documents.get(entry.state, 0) + 1
                for strategy, count in (entry.live.chunks if entry.live else {}).items():
                    chunks[strategy] = chunks.get(strategy, 0) + count
        return documents, {strategy: count for strategy, count in chunks.items() if count}

    def intents(self, intents: Sequence[Intent]) -> list[bool]:
        """See ``Registry.intents``."""
        with self._step() as (data, now):
            return [_record_intent(data, intent, now) for intent in intents]

    def commit(self, commits: Sequence[Commit]) -> list[CommitResult]:
        """See ``Registry.commit``."""
        with self._step() as (data, now):
            return [_commit(data, commit, now) for commit in commits]

    def mark(self, index_set: str, document_id: str, generation: int) -> None:
        """See ``Registry.mark``."""
        with self._step() as (data, _):
            known = data.entries.get(index_set, {})
            entry = known.get(document_id)
            if entry is not None and entry.live is not None and entry.live.generation == generation:
                known[document_id] = replace(entry, marked=True)

    def due_garbage(self, grace_seconds: float, limit: int) -> list[Garbage]:
        """See ``Registry.due_garbage``."""
        with self._step() as (data, now):
            due = [
                (record.noted_ms, generation, record.garbage)
                for generation, record in data.garbage.items()
                if record.noted_ms + round(grace_seconds * 1000) <= now
                and not data.is_live(record.garbage.document_id, generation)
                and not _is_leased_by(data, record.garbage.document_id, generation, now)
            ]
            return [garbage for _, _, garbage in sorted(due, key=lambda item: item[:2])[:limit]]

    def settle_garbage(self, garbage: Sequence[Garbage]) -> None:
        """See ``Registry.settle_garbage``."""
        with self._step() as (data, now):
            for item in garbage:
                record = data.garbage.get(item.generation)
                if record is None or record.garbage != item:
                    continue
                if item.chunks is None or item.deleted_once:
                    del data.garbage[item.generation]
                else:
                    record.garbage, record.noted_ms = replace(item, deleted_once=True), now

    def forget_gone(self, grace_seconds: float, limit: int) -> int:
        """See ``Registry.forget_gone``."""
        with self._step() as (data, now):
            due = [key for key, since in sorted(data.gone_since.items(), key=lambda i: i[1]) if since + round(grace_seconds * 1000) <= now]
            for index_set, document_id in due[:limit]:
                del data.entries[index_set][document_id]
                del data.gone_since[index_set, document_id]
            return len(due[:limit])

    def unknown_generations(self, index_set: str, generations: Sequence[tuple[str, int]]) -> list[tuple[str, int]]:
        """See ``Registry.unknown_generations``."""
        with self._step() as (data, now):
            data.require_open()
            known = data.entries.get(index_set, {})
            return [
                (document_id, generation)
                for document_id, generation in generations
                if generation not in data.garbage
                and not _is_leased_by(data, document_id, generation, now)
                and not ((entry := known.get(document_id)) and entry.live and entry.live.generation == generation)
            ]

    def adopt(self, index_set: str, entries: Sequence[tuple[str, Entry]], token: int) -> bool:
        """See ``Registry.adopt``."""
        with self._step() as (data, now):
            role = data.roles.get(REBUILD_ROLE)
            if data.epoch or role is None or role.token != token or role.expires_ms <= now:
                return False
            data.entries.setdefault(index_set, {}).update(entries)
            return True


def _position(data: StateData) -> Position:
    run = data.run(data.last_complete_run)
    return Position(data.epoch, data.commits, data.served, len(data.ledger), run.finished_at if run else None, data.set_back)


def _stat_of(entry: Entry | None) -> str | None:
    if entry is None or entry.state in (DocumentState.GONE, DocumentState.FAILED):
        return None
    return "" if entry.marked else entry.stat


def _is_leased_by(data: StateData, document_id: str, generation: int, now: int) -> bool:
    return data.is_leased(document_id, now) and data.leases[document_id].generation == generation


def _record_intent(data: StateData, intent: Intent, now: int) -> bool:
    attempt = intent.attempt
    if not data.holds(attempt, now):
        return False
    record = data.garbage[attempt.generation]
    record.garbage = replace(record.garbage, chunks=_copied(intent.chunks))
    return True


def _copied(chunks: Mapping[str, Mapping[str, int]]) -> dict[str, dict[str, int]]:
    return {index_set: dict(counts) for index_set, counts in chunks.items()}


def _commit(data: StateData, commit: Commit, now: int) -> CommitResult:
    attempt, state = commit.attempt, commit.state
    document_id = attempt.document_id
    gone = state is DocumentState.GONE
    sets = [name for name, entries in data.entries.items() if document_id in entries] if gone else list(commit.chunks)
    entries = [data.entries.setdefault(index_set, {}) for index_set in sets]
    lives = [entry.live for known in entries if (entry := known.get(document_id)) is not None and entry.live is not None]
    if not data.holds(attempt, now) or any(live.generation >= attempt.generation for live in lives):
        return CommitResult(False)
    if sets:
        data.commits += 1
        data.garbage.pop(attempt.generation, None)
        name = _COUNTER_OF.get(state) or f"skipped.{commit.reason.partition(':')[0]}"
        data.count(attempt.run_id, {name: 1})
    for index_set, known in zip(sets, entries, strict=True):
        old = known.get(document_id)
        live = old.live if old is not None else None
        if live is not None:
            data.note_garbage(document_id, live.generation, {index_set: live.chunks}, now)
        chunks = {} if gone else dict(commit.chunks[index_set])
        version = Version(attempt.generation, data.commits, commit.fingerprint, chunks, now // 1000)
        known[document_id] = Entry(state, version, live, commit.stat, commit.reason, commit.size_bytes)
        data.gone_since.pop((index_set, document_id), None)
        if gone:
            data.gone_since[index_set, document_id] = now
    data.count(attempt.run_id, commit.counters)
    data.suspects.pop(document_id, None)
    return data.end_attempt(attempt)
