"""The ``Registry`` port on Redis."""

from collections.abc import Iterator, Sequence
from typing import Final

from docmill.adapters.redis.packing import (
    LETTER_OF,
    STATE_OF,
    pack_commit,
    pack_entry,
    pack_garbage,
    pack_intent,
    pack_name,
    unpack_entry,
    unpack_garbage,
    unpack_name,
)
from docmill.adapters.redis.scripts import Scripts
from docmill.domain.registry import Commit, CommitResult, DocumentState, Entry, Garbage, Intent, Position, TaskMessage
from docmill.ports.registry import REBUILD_ROLE

#: Commits or intents in one script: many enough to spare round trips, few enough that the server is held for a few milliseconds only.
_ITEMS_A_SCRIPT: Final = 64
_DOCUMENTS_A_SCRIPT: Final = 1000
_ALL_STATES: Final = "".join(STATE_OF)
_ALL_BUT_GONE: Final = _ALL_STATES.replace(LETTER_OF[DocumentState.GONE], "")
_NO_STAT: Final = "|"
_POSITION_FIELDS: Final = 6


class RedisRegistry:
    """Registry face of ``RedisState``."""

    def __init__(self, scripts: Scripts) -> None:
        self._scripts = scripts

    def position(self) -> Position:
        """See ``Registry.position``."""
        return _position(*self._scripts.any_items("position"))

    def raise_epoch(self, at_least: int) -> int:
        """See ``Registry.raise_epoch``."""
        return self._scripts.number("raise_epoch", at_least, 0)

    def reopen(self, at_least: int) -> int | None:
        """See ``Registry.reopen``."""
        return self._scripts.number("raise_epoch", at_least, 1) or None

    def serve(self, index_set: str) -> None:
        """See ``Registry.serve``."""
        self._scripts.run("serve", pack_name(index_set))

    def flip(self, index_set: str, note: str) -> bool:
        """See ``Registry.flip``."""
        return self._scripts.number("flip", pack_name(index_set), note, index_set) == 1

    def note(self, key: str, text: str | None) -> None:
        """See ``Registry.note``."""
        self._scripts.run("note", key, *(() if text is None else (text,)))

    def noted(self, key: str) -> str | None:
        """See ``Registry.noted``."""
        (text,) = self._scripts.any_items("noted", key)
        return None if text is None else text.decode()

    def forget_index_set(self, index_set: str) -> None:
        """See ``Registry.forget_index_set``."""
        if not self._scripts.number("forget_index_set", pack_name(index_set)):
            raise ValueError(f"index set {index_set!r} is served")

    def index_sets(self) -> list[str]:
        """See ``Registry.index_sets``."""
        return sorted({unpack_name(index_set.decode()) for index_set in self._scripts.items("index_sets") if index_set})

    def entries(self, index_set: str, document_ids: Sequence[str]) -> tuple[int, dict[str, Entry]]:
        """See ``Registry.entries``."""
        epoch, *found = self._scripts.any_items("entries", pack_name(index_set), *document_ids)
        return int(epoch), _entries(document_ids, found)

    def entries_now(self, index_set: str, document_ids: Sequence[str]) -> tuple[Position, dict[str, Entry]]:
        """See ``Registry.entries_now``."""
        answer = self._scripts.any_items("position", pack_name(index_set), *document_ids)
        position, found = answer[:_POSITION_FIELDS], answer[_POSITION_FIELDS:]
        return _position(*position), _entries(document_ids, found)

    def stats(self, index_set: str, document_ids: Sequence[str]) -> list[str | None]:
        """See ``Registry.stats``."""
        found: list[str | None] = []
        for start in range(0, len(document_ids), _DOCUMENTS_A_SCRIPT):
            lines = one_a_line(document_ids[start : start + _DOCUMENTS_A_SCRIPT])
            stats = self._scripts.text("stats", pack_name(index_set), lines).split("\n")
            found.extend(None if stat == _NO_STAT else stat for stat in stats)
        return found

    def scan(self, index_set: str) -> Iterator[tuple[str, Entry]]:
        """See ``Registry.scan``."""
        return self._walk(index_set, "", _ALL_STATES, _DOCUMENTS_A_SCRIPT)

    def page(self, index_set: str, *, after: str, limit: int, state: DocumentState | None) -> list[tuple[str, Entry]]:
        """See ``Registry.page``."""
        states = _ALL_BUT_GONE if state is None else LETTER_OF.get(state, "").replace(LETTER_OF[DocumentState.GONE], "")
        if not states or limit <= 0:
            return []
        walk = self._walk(index_set, after, states, min(max(limit, 100), _DOCUMENTS_A_SCRIPT))
        return [item for _, item in zip(range(limit), walk, strict=False)]

    def _walk(self, index_set: str, after: str, states: str, look_at: int) -> Iterator[tuple[str, Entry]]:
        while True:
            last, *found = self._scripts.items("page", pack_name(index_set), after, look_at, states)
            for document_id, packed in zip(found[::2], found[1::2], strict=True):
                yield document_id.decode(), unpack_entry(packed)
            if not last:
                return
            after = last.decode()

    def counts(self, index_set: str) -> tuple[dict[DocumentState, int], dict[str, int]]:
        """See ``Registry.counts``."""
        flat = self._scripts.items("counts", pack_name(index_set))
        counts = {name.decode(): int(count) for name, count in zip(flat[::2], flat[1::2], strict=True) if int(count)}
        documents = {STATE_OF[name[2:]]: count for name, count in counts.items() if name.startswith("s:")}
        return documents, {unpack_name(name[2:]): count for name, count in counts.items() if name.startswith("c:")}

    def intents(self, intents: Sequence[Intent]) -> list[bool]:
        """See ``Registry.intents``."""
        items = [pack_intent(intent) for intent in intents]
        return [flag == "1" for part in _parts(items) for flag in self._scripts.text("intents", *part)]

    def commit(self, commits: Sequence[Commit]) -> list[CommitResult]:
        """See ``Registry.commit``."""
        items = [pack_commit(commit) for commit in commits]
        answers = [answer for part in _parts(items) for answer in self._scripts.text("commit", *part).split(",")]
        return [
            result_of(answer, commit.attempt.knowledge_base, commit.attempt.document_id)
            for answer, commit in zip(answers, commits, strict=True)
        ]

    def mark(self, index_set: str, document_id: str, generation: int) -> None:
        """See ``Registry.mark``."""
        self._scripts.run("mark", pack_name(index_set), document_id, generation)

    def due_garbage(self, grace_seconds: float, limit: int) -> list[Garbage]:
        """See ``Registry.due_garbage``."""
        return [unpack_garbage(packed) for packed in self._scripts.items("due_garbage", round(grace_seconds * 1000), limit)]

    def settle_garbage(self, garbage: Sequence[Garbage]) -> None:
        """See ``Registry.settle_garbage``."""
        for part in _parts([pack_garbage(item) for item in garbage]):
            self._scripts.run("settle_garbage", *part)

    def forget_gone(self, grace_seconds: float, limit: int) -> int:
        """See ``Registry.forget_gone``."""
        return self._scripts.number("forget_gone", round(grace_seconds * 1000), limit)

    def unknown_generations(self, index_set: str, generations: Sequence[tuple[str, int]]) -> list[tuple[str, int]]:
        """See ``Registry.unknown_generations``."""
        unknown: list[tuple[str, int]] = []
        for start in range(0, len(generations), _DOCUMENTS_A_SCRIPT):
            part = generations[start : start + _DOCUMENTS_A_SCRIPT]
            items = (f"{generation}\n{document_id}" for document_id, generation in part)
            flags = self._scripts.text("unknown_generations", pack_name(index_set), *items)
            unknown.extend(item for item, flag in zip(part, flags, strict=True) if flag == "1")
        return unknown

    def adopt(self, index_set: str, entries: Sequence[tuple[str, Entry]], token: int) -> bool:
        """See ``Registry.adopt``."""
        items = [f"{document_id}\n{pack_entry(entry)}" for document_id, entry in entries]
        parts = list(_parts(items)) or [[]]
        return all(self._scripts.number("adopt", pack_name(index_set), REBUILD_ROLE, token, *part) for part in parts)


def _position(epoch: bytes, commits: bytes, served: bytes, pending: int, finished: bytes, set_back: int) -> Position:
    index_set = unpack_name(served.decode()) if served else None
    return Position(int(epoch), int(commits), index_set, int(pending), int(finished) / 1000 if finished else None, set_back == 1)


def _entries(document_ids: Sequence[str], found: Sequence[bytes | None]) -> dict[str, Entry]:
    return {name: unpack_entry(packed) for name, packed in zip(document_ids, found, strict=True) if packed is not None}


def one_a_line(document_ids: Sequence[str]) -> str:
    """Document ids as one text.

    Raises:
        ValueError: an id is empty or has a line break in it.
    """
    lines = "\n".join(document_ids)
    if lines.count("\n") != len(document_ids) - 1 or not all(document_ids):
        wrong = next(document_id for document_id in document_ids if not document_id or "\n" in document_id)
        raise ValueError(f"not a document id: {wrong!r}")
    return lines


def result_of(answer: str, kb: str, document_id: str) -> CommitResult:
    """What a script says of the end of an attempt: ``-`` superseded, nothing, or the ticket of the next one."""
    if answer == "-":
        return CommitResult(False)
    return CommitResult(True, TaskMessage(kb, document_id, int(answer)) if answer else None)


def _parts(items: list[str]) -> Iterator[list[str]]:
    for start in range(0, len(items), _ITEMS_A_SCRIPT):
        yield items[start : start + _ITEMS_A_SCRIPT]
