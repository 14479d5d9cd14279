"""The ``RunLedger`` port on Redis."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from docmill.adapters.redis.packing import (
    kind_of,
    pack_counts,
    pack_holder,
    pack_name,
    pack_vector,
    require_plain,
    unpack_name,
    unpack_suspicion,
    unpack_vector,
)
from docmill.adapters.redis.scripts import Scripts
from docmill.adapters.redis.state_registry import one_a_line, result_of
from docmill.domain.chunks import Vector
from docmill.domain.errors import Superseded
from docmill.domain.registry import CRASHES_TO_QUARANTINE, Attempt, CommitResult, Lane, Suspicion, TaskMessage
from docmill.domain.runs import Run, RunState, tag_of
from docmill.indexing.batches import in_batches

_LETTER_OF: Final = {Lane.LIVE: "l", Lane.BULK: "b"}
_LANE_OF: Final = {letter: lane for lane, letter in _LETTER_OF.items()}
_DOCUMENTS_A_SCRIPT: Final = 1000
_VECTORS_A_SCRIPT: Final = 100
_KEPT_SECONDS: Final = 86_400


class RedisLedger:
    """RunLedger face of ``RedisState``."""

    def __init__(self, scripts: Scripts, kb: str) -> None:
        self._scripts = scripts
        self._kb = kb

    def led_by(self, token: int) -> "RedisLedger":
        """See ``RunLedger.led_by``."""
        return RedisLedger(self._scripts.led_by(token), self._kb)

    def enqueue(self, document_ids: Sequence[str], lane: Lane, *, run_id: str = "") -> list[TaskMessage]:
        """See ``RunLedger.enqueue``."""
        if not document_ids:
            return []
        tickets = self._scripts.text("enqueue", _LETTER_OF[lane], run_id, one_a_line(document_ids)).split(",")
        return [TaskMessage(self._kb, name, int(ticket)) for name, ticket in zip(document_ids, tickets, strict=False) if ticket]

    def begin(self, message: TaskMessage, lease_seconds: float) -> Attempt | None:
        """See ``RunLedger.begin``."""
        answer = self._scripts.text("begin", message.document_id, message.ticket, round(lease_seconds * 1000))
        if not answer:
            return None
        fields, _, suspicion = answer.partition("\n")
        generation, lane, tries, known, run_id = fields.split("|", 4)
        return Attempt(
            self._kb,
            message.document_id,
            message.ticket,
            int(generation),
            _LANE_OF[lane],
            run_id,
            int(tries),
            known=known != "0",
            suspicion=unpack_suspicion(suspicion) if suspicion else None,
        )

    def finish(
        self,
        attempt: Attempt,
        *,
        unchanged: Mapping[str, str] | None = None,
        failed: str = "",
        stat: str = "",
        counters: Mapping[str, int] | None = None,
    ) -> CommitResult:
        """See ``RunLedger.finish``."""
        added = dict(counters or {})
        if failed:
            name = f"failed.{kind_of(failed)}"
            added[name] = added.get(name, 0) + 1
        fingerprints = unchanged or {}
        for text in (stat, *fingerprints.values()):
            require_plain(text)
        answer = self._scripts.text(
            "finish",
            attempt.document_id,
            attempt.generation,
            attempt.ticket,
            attempt.run_id,
            stat,
            ";".join(f"{pack_name(index_set)}:{fingerprint}" for index_set, fingerprint in fingerprints.items()),
            failed,
            pack_counts(added),
        )
        return result_of(answer, self._kb, attempt.document_id)

    def crashed(self, attempt: Attempt, fingerprint: str, *, stat: str, reason: str) -> CommitResult:
        """See ``RunLedger.crashed``."""
        for text in (stat, fingerprint):
            require_plain(text)
        answer = self._scripts.text(
            "crashed",
            attempt.document_id,
            attempt.generation,
            attempt.ticket,
            attempt.run_id,
            fingerprint,
            stat,
            reason,
            CRASHES_TO_QUARANTINE,
            pack_counts({f"failed.{kind_of(reason)}": 1}),
        )
        return result_of(answer, self._kb, attempt.document_id)

    def give_back(self, attempts: Sequence[Attempt]) -> list[TaskMessage]:
        """See ``RunLedger.give_back``."""
        messages: list[TaskMessage] = []
        for start in range(0, len(attempts), _DOCUMENTS_A_SCRIPT):
            part = attempts[start : start + _DOCUMENTS_A_SCRIPT]
            messages += self._messages("give_back", *map(pack_holder, part))
        return messages

    def retry(self, document_ids: Sequence[str]) -> list[str]:
        """See ``RunLedger.retry``."""
        wanted: list[str] = []
        for start in range(0, len(document_ids), _DOCUMENTS_A_SCRIPT):
            answer = self._scripts.text("retry", one_a_line(document_ids[start : start + _DOCUMENTS_A_SCRIPT]))
            wanted += answer.split("\n") if answer else []
        return wanted

    def suspicions(self, document_ids: Sequence[str]) -> dict[str, Suspicion]:
        """See ``RunLedger.suspicions``."""
        if not document_ids:
            return {}
        found: list[bytes | None] = self._scripts.any_items("suspicions", one_a_line(document_ids))
        return {name: unpack_suspicion(packed.decode()) for name, packed in zip(document_ids, found, strict=True) if packed is not None}

    def resend_expired(self, limit: int, *, suspects: bool = True) -> list[TaskMessage]:
        """See ``RunLedger.resend_expired``."""
        return self._messages("resend_expired", max(limit, 0), int(suspects))

    def oldest_waiting(self, limit: int) -> list[TaskMessage]:
        """See ``RunLedger.oldest_waiting``."""
        return self._messages("oldest_waiting", max(limit, 0))

    def _messages(self, script: str, *args: str | int) -> list[TaskMessage]:
        pairs = (item.decode().split("\n", 1) for item in self._scripts.items(script, *args))
        return [TaskMessage(self._kb, document_id, int(ticket)) for ticket, document_id in pairs]

    def pending(self, document_ids: Sequence[str]) -> list[bool]:
        """See ``RunLedger.pending``."""
        found: list[bool] = []
        for start in range(0, len(document_ids), _DOCUMENTS_A_SCRIPT):
            lines = one_a_line(document_ids[start : start + _DOCUMENTS_A_SCRIPT])
            found.extend(flag == "1" for flag in self._scripts.text("pending", lines))
        return found

    def outstanding(self) -> tuple[int, int]:
        """See ``RunLedger.outstanding``."""
        waiting, begun = self._scripts.any_items("outstanding")
        return int(waiting), int(begun)

    def start_run(self) -> tuple[Run, bool]:
        """See ``RunLedger.start_run``."""
        new, *run = self._scripts.any_items("start_run", tag_of(self._kb))
        return _unpack_run(*run), new == b"1"

    def wants_another_pass(self, run_id: str) -> bool:
        """See ``RunLedger.wants_another_pass``."""
        return self._scripts.number("wants_another_pass", run_id) == 1

    def count(self, run_id: str, counters: Mapping[str, int]) -> None:
        """See ``RunLedger.count``."""
        self._scripts.run("count", run_id, pack_counts(counters))

    def claim(self, attempt: Attempt, texts: Sequence[str]) -> bool:
        """See ``RunLedger.claim``."""
        answer = self._scripts.text("claim", attempt.document_id, attempt.generation, *texts)
        if answer == "-":
            raise Superseded(f"the lease of {attempt.document_id} ran out")
        return answer == "1"

    def keep_vectors(self, vectors: Mapping[str, Vector]) -> None:
        """See ``RunLedger.keep_vectors``."""
        for part in in_batches(vectors.items(), _VECTORS_A_SCRIPT):
            self._scripts.run("keep_vectors", _KEPT_SECONDS, *(text for key, vector in part for text in (key, pack_vector(vector))))

    def take_vectors(self, texts: Sequence[str]) -> dict[str, Vector]:
        """See ``RunLedger.take_vectors``."""
        taken: dict[str, Vector] = {}
        for part in in_batches(texts, _VECTORS_A_SCRIPT):
            for key, packed in zip(part, self._scripts.items("take_vectors", *part), strict=True):
                if packed:
                    taken[key] = unpack_vector(packed)
        return taken

    def back_off(self, run_id: str, retry_at: float | None) -> None:
        """See ``RunLedger.back_off``."""
        self._scripts.run("back_off", run_id, "" if retry_at is None else round(retry_at * 1000))

    def scan_ended(self, run_id: str) -> None:
        """See ``RunLedger.scan_ended``."""
        self._scripts.run("scan_ended", run_id)

    def complete(self, run_id: str) -> bool:
        """See ``RunLedger.complete``."""
        return self._scripts.number("complete", run_id) == 1

    def end_run(self, run_id: str, state: RunState, error: str = "") -> list[str]:
        """See ``RunLedger.end_run``."""
        if state not in (RunState.FAILED, RunState.TIMED_OUT, RunState.CANCELLED):
            raise ValueError(f"a run cannot be ended with {state}")
        return [document_id.decode() for document_id in self._scripts.items("end_run", run_id, state.value, error)]

    def run(self, run_id: str) -> Run | None:
        """See ``RunLedger.run``."""
        return self._read_run("id", run_id)

    def current_run(self) -> Run | None:
        """See ``RunLedger.current_run``."""
        return self._read_run("last_run")

    def last_complete_run(self) -> Run | None:
        """See ``RunLedger.last_complete_run``."""
        return self._read_run("last_complete_run")

    def _read_run(self, *which: str) -> Run | None:
        answer = self._scripts.any_items("run", *which)
        return _unpack_run(*answer) if answer else None


def _unpack_run(run_id: bytes, flat: list[Any]) -> Run:
    fields: dict[str, str] = {name.decode(): value.decode() for name, value in zip(flat[::2], flat[1::2], strict=True)}
    state, finished, retry = RunState(fields["state"]), fields.get("finished_ms"), fields.get("retry_ms")
    backs_off = retry is not None and not state.final
    return Run(
        run_id.decode(),
        RunState.BACKING_OFF if backs_off else state,
        started_at=int(fields["started_ms"]) / 1000,
        finished_at=int(finished) / 1000 if finished else None,
        retry_at=int(retry) / 1000 if retry is not None and backs_off else None,
        counters={unpack_name(name[2:]): int(count) for name, count in fields.items() if name.startswith("c:")},
        pending=int(fields["pending"]),
        error=fields.get("error", ""),
    )
