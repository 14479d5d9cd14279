"""The ``Leases`` and ``RunLedger`` ports in memory."""

from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from docmill.adapters.memory.state_data import LeaseRecord, RoleRecord, RunRecord, StateData, require_one_line
from docmill.adapters.memory.state_registry import Steps
from docmill.domain.chunks import Vector
from docmill.domain.errors import Superseded
from docmill.domain.registry import CRASHES_TO_QUARANTINE, Attempt, CommitResult, DocumentState, Lane, Suspicion, TaskMessage
from docmill.domain.runs import Run, RunState, tag_of

RUNS_KEPT = 100


class MemoryLeases:
    """Leases face of ``MemoryState``."""

    def __init__(self, step: Steps) -> None:
        self._step = step

    def renew(self, attempts: Sequence[Attempt], ttl_seconds: float) -> list[bool]:
        """See ``Leases.renew``."""
        with self._step() as (data, now):
            held = [data.holds(attempt, now) for attempt in attempts]
            for attempt, ours in zip(attempts, held, strict=True):
                if ours:
                    data.leases[attempt.document_id].expires_ms = now + round(ttl_seconds * 1000)
            return held

    def expire_all(self) -> None:
        """See ``Leases.expire_all``."""
        with self._step() as (data, _):
            for lease in data.leases.values():
                lease.expires_ms = 0
            data.roles.clear()

    def acquire_role(self, role: str, holder: str, ttl_seconds: float) -> int | None:
        """See ``Leases.acquire_role``."""
        with self._step() as (data, now):
            record = data.roles.get(role)
            expires = now + round(ttl_seconds * 1000)
            if record is None or record.expires_ms <= now:
                # From the clock, so that a token given before the state was lost is never given again.
                data.last_token = max(data.last_token + 1, now)
                data.roles[role] = RoleRecord(holder, data.last_token, expires)
                return data.last_token
            if record.holder != holder:
                return None
            record.expires_ms = expires
            return record.token

    def release_role(self, role: str, token: int) -> None:
        """See ``Leases.release_role``."""
        with self._step() as (data, _):
            record = data.roles.get(role)
            if record is not None and record.token == token:
                del data.roles[role]

    def is_role_held(self, role: str) -> bool:
        """See ``Leases.is_role_held``."""
        with self._step() as (data, now_ms):
            record = data.roles.get(role)
            return record is not None and record.expires_ms > now_ms


class MemoryLedger:
    """RunLedger face of ``MemoryState``; with a token, of the producer that leads under it."""

    def __init__(self, steps: Steps, token: int | None = None) -> None:
        self._steps = steps
        self._token = token

    def led_by(self, token: int) -> "MemoryLedger":
        """See ``RunLedger.led_by``."""
        return MemoryLedger(self._steps, token)

    @contextmanager
    def _step(self) -> Iterator[tuple[StateData, int]]:
        with self._steps() as (data, now):
            if self._token is not None:
                data.require_leader(self._token, now)
            yield data, now

    def enqueue(self, document_ids: Sequence[str], lane: Lane, *, run_id: str = "") -> list[TaskMessage]:
        """See ``RunLedger.enqueue``."""
        require_one_line(document_ids)
        messages = []
        with self._step() as (data, now):
            data.require_open()
            if data.has_ended(run_id):
                return []
            for document_id in document_ids:
                entry = data.ledger.get(document_id)
                if data.is_leased(document_id, now) or (entry is not None and entry.begun):
                    data.dirty.add(document_id)
                elif entry is None or (lane is Lane.LIVE and entry.lane is Lane.BULK):
                    messages.append(data.plan(document_id, lane, run_id))
        return messages

    def begin(self, message: TaskMessage, lease_seconds: float) -> Attempt | None:
        """See ``RunLedger.begin``."""
        with self._step() as (data, now):
            data.require_open()
            document_id = message.document_id
            entry = data.ledger.get(document_id)
            if entry is None or entry.ticket != message.ticket:
                return None
            if data.is_leased(document_id, now):
                data.dirty.add(document_id)
                return None
            if entry.begun:
                data.suspects.setdefault(document_id, Suspicion())  # its lease ran out, and this message came before it was sent again
            data.dirty.discard(document_id)
            generation = data.mint_generation()
            data.note_garbage(document_id, generation, None, now)
            data.leases[document_id] = LeaseRecord(generation, now + round(lease_seconds * 1000))
            entry.begun = True
            entry.tries += 1
            known = any(document_id in entries for entries in data.entries.values())
            suspicion = data.suspects.get(document_id)
            return Attempt(data.kb, document_id, entry.ticket, generation, entry.lane, entry.run_id, entry.tries, known, suspicion)

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
        with self._step() as (data, now):
            if not data.holds(attempt, now):
                return CommitResult(False)
            for index_set, fingerprint in (unchanged or {}).items():
                _refresh(data, index_set, attempt.document_id, fingerprint, stat)
            if failed:
                kind = failed.partition(":")[0]
                state = DocumentState.QUARANTINED if kind == DocumentState.QUARANTINED else DocumentState.FAILED
                data.put_failed(attempt.document_id, state, failed, stat)
                data.count(attempt.run_id, {f"failed.{kind}": 1})
            else:
                data.suspects.pop(attempt.document_id, None)
            data.count(attempt.run_id, counters or {})
            return data.end_attempt(attempt)

    def crashed(self, attempt: Attempt, fingerprint: str, *, stat: str, reason: str) -> CommitResult:
        """See ``RunLedger.crashed``."""
        document_id = attempt.document_id
        with self._step() as (data, now):
            if not data.holds(attempt, now):
                return CommitResult(False)
            known = data.suspects.get(document_id, Suspicion())
            crashes = known.crashes + 1 if known.fingerprint == fingerprint else 1
            if crashes < CRASHES_TO_QUARANTINE:
                data.suspects[document_id] = Suspicion(crashes, fingerprint)
                return CommitResult(True, data.wait_again(document_id))
            data.suspects[document_id] = Suspicion(crashes, fingerprint, reason)
            data.put_failed(document_id, DocumentState.QUARANTINED, reason, stat)
            data.count(attempt.run_id, {f"failed.{reason.partition(':')[0]}": 1})
            return data.end_attempt(attempt)

    def give_back(self, attempts: Sequence[Attempt]) -> list[TaskMessage]:
        """See ``RunLedger.give_back``."""
        with self._step() as (data, now):
            held = [attempt.document_id for attempt in attempts if data.holds(attempt, now)]
            messages = [data.wait_again(document_id) for document_id in held]
            return [
                message
                for message in messages
                if not data.has_ended(data.ledger[message.document_id].run_id) or data.leave_run(message.document_id)
            ]

    def claim(self, attempt: Attempt, texts: Sequence[str]) -> bool:
        """See ``RunLedger.claim``."""
        with self._step() as (data, now):
            if not data.holds(attempt, now):
                raise Superseded(f"the lease of {attempt.document_id} ran out")
            earlier = (data.claims.get(text) for text in texts)
            if any(one is not None and one != attempt and data.holds(one, now) for one in earlier):
                return False
            data.claims.update(dict.fromkeys(texts, attempt))
            return True

    def keep_vectors(self, vectors: Mapping[str, Vector]) -> None:
        """See ``RunLedger.keep_vectors``."""
        with self._steps(also_set_back=True) as (data, _):
            data.kept_vectors.update((text, array("f", vector).tolist()) for text, vector in vectors.items())

    def take_vectors(self, texts: Sequence[str]) -> dict[str, Vector]:
        """See ``RunLedger.take_vectors``."""
        with self._step() as (data, _):
            return {text: data.kept_vectors.pop(text) for text in texts if text in data.kept_vectors}

    def retry(self, document_ids: Sequence[str]) -> list[str]:
        """See ``RunLedger.retry``."""
        require_one_line(document_ids)
        with self._step() as (data, _):
            return [document_id for document_id in document_ids if _is_to_be_tried_again(data, document_id)]

    def suspicions(self, document_ids: Sequence[str]) -> dict[str, Suspicion]:
        """See ``RunLedger.suspicions``."""
        with self._step() as (data, _):
            return {document_id: data.suspects[document_id] for document_id in document_ids if document_id in data.suspects}

    def resend_expired(self, limit: int, *, suspects: bool = True) -> list[TaskMessage]:
        """See ``RunLedger.resend_expired``."""
        with self._step() as (data, now):
            expired = sorted((lease.expires_ms, document_id) for document_id, lease in data.leases.items() if lease.expires_ms <= now)
            messages = []
            for _, document_id in expired[:limit]:
                if suspects:
                    data.suspects.setdefault(document_id, Suspicion())
                messages.append(data.wait_again(document_id))
            return messages

    def oldest_waiting(self, limit: int) -> list[TaskMessage]:
        """See ``RunLedger.oldest_waiting``."""
        with self._step() as (data, _):
            return [data.message(document_id, entry) for document_id, entry in data.waiting()[:limit]]

    def pending(self, document_ids: Sequence[str]) -> list[bool]:
        """See ``RunLedger.pending``."""
        with self._step() as (data, _):
            return [document_id in data.ledger for document_id in document_ids]

    def outstanding(self) -> tuple[int, int]:
        """See ``RunLedger.outstanding``."""
        with self._step() as (data, _):
            waiting = len(data.waiting())
            return waiting, len(data.ledger) - waiting

    def start_run(self) -> tuple[Run, bool]:
        """See ``RunLedger.start_run``."""
        with self._step() as (data, now):
            data.require_open()
            going_on = data.run(data.last_run)
            if going_on is not None and not going_on.state.final:
                data.runs[going_on.id].wants_another_pass = True
                return going_on, False
            data.runs_started += 1
            run = Run(f"{data.epoch}-{data.runs_started}-{tag_of(data.kb)}", RunState.SCANNING, now / 1000)
            data.runs[run.id] = RunRecord(run)
            data.last_run = run.id
            data.forget_runs(RUNS_KEPT)
            return run, True

    def wants_another_pass(self, run_id: str) -> bool:
        """See ``RunLedger.wants_another_pass``."""
        with self._step() as (data, _):
            record = data.runs.get(run_id)
            if record is None:
                return False
            wanted, record.wants_another_pass = record.wants_another_pass, False
            return wanted

    def count(self, run_id: str, counters: Mapping[str, int]) -> None:
        """See ``RunLedger.count``."""
        with self._step() as (data, _):
            data.count(run_id, counters)

    def back_off(self, run_id: str, retry_at: float | None) -> None:
        """See ``RunLedger.back_off``."""
        with self._step() as (data, _):
            record = data.runs.get(run_id)
            if record is not None and not record.run.state.final:
                record.run = replace(record.run, retry_at=None if retry_at is None else round(retry_at * 1000) / 1000)

    def scan_ended(self, run_id: str) -> None:
        """See ``RunLedger.scan_ended``."""
        with self._step() as (data, _):
            record = data.runs.get(run_id)
            if record is not None and record.run.state is RunState.SCANNING:
                record.run = replace(record.run, state=RunState.INDEXING)

    def complete(self, run_id: str) -> bool:
        """See ``RunLedger.complete``."""
        with self._step() as (data, now):
            run = data.run(run_id)
            if run is None or run.state.final:
                return True
            if data.runs[run_id].run.state is not RunState.INDEXING or run.pending:
                return False
            failed = any(value > 0 for name, value in run.counters.items() if name.startswith("failed."))
            state = RunState.COMPLETE_WITH_ERRORS if failed else RunState.COMPLETE
            data.end_run(run_id, state, now)
            data.last_complete_run = run_id
            data.forget_runs(RUNS_KEPT)
            return True

    def end_run(self, run_id: str, state: RunState, error: str = "") -> list[str]:
        """See ``RunLedger.end_run``."""
        if state not in (RunState.FAILED, RunState.TIMED_OUT, RunState.CANCELLED):
            raise ValueError(f"a run cannot be ended with {state}")
        with self._step() as (data, now):
            run = data.run(run_id)
            if run is None or run.state.final:
                return []
            data.end_run(run_id, state, now, error)
            planned = [document_id for document_id, entry in data.waiting() if entry.run_id == run_id]
            return [document_id for document_id in planned if not data.leave_run(document_id)]

    def run(self, run_id: str) -> Run | None:
        """See ``RunLedger.run``."""
        with self._step() as (data, _):
            return data.run(run_id)

    def current_run(self) -> Run | None:
        """See ``RunLedger.current_run``."""
        with self._step() as (data, _):
            return data.run(data.last_run)

    def last_complete_run(self) -> Run | None:
        """See ``RunLedger.last_complete_run``."""
        with self._step() as (data, _):
            return data.run(data.last_complete_run)


def _refresh(data: StateData, index_set: str, document_id: str, fingerprint: str, stat: str) -> None:
    known = data.entries.get(index_set, {})
    entry = known.get(document_id)
    if entry is None or entry.live is None or entry.live.fingerprint != fingerprint:
        return
    if entry.state in (DocumentState.FAILED, DocumentState.QUARANTINED):
        state = DocumentState.LIVE if any(entry.live.chunks.values()) else DocumentState.EMPTY
        entry = replace(entry, state=state, reason="")
    known[document_id] = replace(entry, stat=stat)


def _is_to_be_tried_again(data: StateData, document_id: str) -> bool:
    failed = False
    for known in data.entries.values():
        entry = known.get(document_id)
        failed = failed or (entry is not None and entry.state in (DocumentState.FAILED, DocumentState.QUARANTINED))
        if entry is not None and entry.state is DocumentState.QUARANTINED:
            known[document_id] = replace(entry, state=DocumentState.FAILED)
            data.suspects.setdefault(document_id, Suspicion())
    if failed and document_id in data.suspects:
        data.suspects[document_id] = Suspicion()
    return failed
