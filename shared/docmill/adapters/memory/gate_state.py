"""What the gate in memory keeps, and the steps with it that need no lock of their own: windows, turns and slots."""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from docmill.domain import gate_rules as rules
from docmill.domain.gate_rules import Climb
from docmill.ports.gate import HOLDER_SECONDS, LEARNING_STARTS_AT, SLOT_POLL_SECONDS, Limits, Permit, Request

_MOST_RUNS: Final = 1000


@dataclass(frozen=True, slots=True)
class Slot:
    """A request in flight."""

    holder: str
    request: Request
    granted_at: float


@dataclass(slots=True)
class Asker:
    """A knowledge base that asks: when, with which ceiling, until when it was told to wait, and the number of its last permit."""

    asked: float = 0.0
    starts_at: int = LEARNING_STARTS_AT
    top: int = rules.HIGHEST_LIMIT
    waits_until: float = 0.0
    granted: int = 0


@dataclass(slots=True)
class RunAccount:
    """What a run has spent, its failures since the gate's last success, and why it was aborted."""

    spent: int = 0
    failures: int = 0
    after_success: int = 0
    aborted: str | None = None


@dataclass(slots=True)
class GateData:
    """Everything; moments are seconds since 1970."""

    epoch: int | None = None
    opens_at: float | None = None
    failures: int = 0
    probe: str | None = None
    probe_until: float = 0.0
    climb: Climb = field(default_factory=Climb)
    starts_at: int = LEARNING_STARTS_AT
    top: int = rules.HIGHEST_LIMIT
    rate: float | None = None
    rate_since: float = 0.0
    permits: int = 0
    granted_at: float | None = None
    successes: int = 0
    wanted_until: float | None = None
    wanted_since: float = 0.0
    unhindered_since: float = 0.0
    slots: dict[str, Slot] = field(default_factory=dict)
    holders: dict[str, float] = field(default_factory=dict)
    left: deque[float] = field(default_factory=deque)
    in_second: dict[str, float] = field(default_factory=dict)
    succeeded: deque[float] = field(default_factory=deque)
    tokens: dict[int, int] = field(default_factory=dict)
    askers: dict[str, Asker] = field(default_factory=dict)
    runs: dict[str, RunAccount] = field(default_factory=dict)

    def run(self, run_id: str) -> RunAccount:
        """A run's account; those of the runs that were begun the longest ago are forgotten."""
        if len(self.runs) >= _MOST_RUNS and run_id not in self.runs:
            del self.runs[next(iter(self.runs))]
        return self.runs.setdefault(run_id, RunAccount())

    def limit(self) -> int:
        """How many requests may be in flight."""
        return self.climb.bounded(self.starts_at, self.top)

    def free(self, slot: str, now: float) -> Slot | None:
        """Frees a slot: what was in it has left."""
        freed = self.slots.pop(slot, None)
        if freed is not None:
            self.left.append(now)
        return freed

    def free_slots_of_the_dead(self, now: float) -> None:
        """A dead prober's lease still runs: its request may be under way."""
        self.holders = {holder: seen for holder, seen in self.holders.items() if seen > now - HOLDER_SECONDS}
        for name in [name for name, slot in self.slots.items() if slot.holder not in self.holders]:
            self.free(name, now)

    def note_asker(self, request: Request, limits: Limits, now: float) -> Asker:
        """Notes who asks and with which ceiling, and what follows for the gate's own limit."""
        self.askers = {name: asker for name, asker in self.askers.items() if now - asker.asked < rules.FORGET_ASKER_SECONDS}
        asker = self.askers.setdefault(request.knowledge_base, Asker())
        asker.asked = now
        asker.starts_at = limits.concurrency or LEARNING_STARTS_AT
        asker.top = limits.concurrency or rules.HIGHEST_LIMIT
        recent = [other for other in self.askers.values() if now - other.asked < rules.CEILING_SECONDS]
        self.starts_at = max(other.starts_at for other in recent)
        self.top = max(other.top for other in recent)
        return asker

    def rate_wait(self, limits: Limits, now: float) -> float:
        """The seconds until the rate lets a request through; 0 where it does."""
        most = limits.requests_per_minute
        if most is None:
            return self._spacing_wait(1 / self.rate, now) if self.rate else 0.0
        _forget(self.left, now - rules.MINUTE_SECONDS)
        self.in_second = {slot: leaves for slot, leaves in self.in_second.items() if leaves > now}
        waits = [self._spacing_wait(rules.spacing_seconds(most), now)]
        if len(self.slots) + len(self.left) >= most:
            waits.append(self.left[0] + rules.MINUTE_SECONDS - now if self.left else rules.MINUTE_SECONDS)
        if len(self.in_second) >= rules.requests_in_a_second(most):
            waits.append(min(min(self.in_second.values()) - now, rules.SECOND_SECONDS))
        return max(waits)

    def _spacing_wait(self, seconds: float, now: float) -> float:
        return 0.0 if self.granted_at is None else max(0.0, self.granted_at + seconds - now)

    def token_wait(self, tokens: int, limits: Limits, now: float) -> float:
        """The seconds until the tokens of the last minute let a request through; 0 where they do."""
        if limits.tokens_per_minute is None:
            return 0.0
        self._forget_tokens(now)
        in_minute, wait = sum(self.tokens.values()), 0.0
        for second in sorted(self.tokens):
            if in_minute + tokens <= limits.tokens_per_minute or in_minute <= 0:
                break
            in_minute -= self.tokens[second]
            wait = second + rules.SECOND_SECONDS + rules.MINUTE_SECONDS - now
        return wait

    def _forget_tokens(self, now: float) -> None:
        still = now - rules.SECOND_SECONDS - rules.MINUTE_SECONDS
        self.tokens = {second: tokens for second, tokens in self.tokens.items() if second > still}

    def those_who_go_first(self, knowledge_base: str, limits: Limits, now: float) -> list[Asker]:
        """The knowledge bases that wait and for which this one has to wait now."""
        me, taken = self.askers[knowledge_base], self.taken_by
        busy = sum(1 for asker in self.askers.values() if now - asker.asked <= rules.BUSY_SECONDS)
        share = rules.share_of(self.limit(), busy)
        waiting = {
            name: other
            for name, other in self.askers.items()
            if name != knowledge_base and _keeps_its_turn(other, now) and taken(name) < min(share, other.top)
        }
        if taken(knowledge_base) >= share:
            return list(waiting.values())
        earlier = [other for name, other in waiting.items() if (other.granted, name) < (me.granted, knowledge_base)]
        rate_is_scarce = limits.requests_per_minute is not None or limits.tokens_per_minute is not None or self.rate is not None
        room = 1 if rate_is_scarce else self.limit() - len(self.slots)
        return earlier if len(earlier) >= room else []

    def taken_by(self, knowledge_base: str) -> int:
        """The slots of a knowledge base."""
        return sum(1 for slot in self.slots.values() if slot.request.knowledge_base == knowledge_base)

    def note_slots_wanted(self, seconds: float, now: float) -> None:
        """A request waits while all slots are taken; where the rate has hindered none for long, what was learned of it is forgotten."""
        if self.wanted_until is None or now > self.wanted_until:
            self.wanted_since = now
        if self.wanted_until is None or now - self.wanted_until > rules.UNHINDERED_GAP_SECONDS:
            self.unhindered_since = now
        self.wanted_until = now + seconds + rules.DEMAND_GAP_SECONDS
        if now - self.unhindered_since >= rules.FORGET_RATE_SECONDS:
            self.rate = None

    def take(self, permit: Permit, holder: str, now: float) -> None:
        """Takes a slot, and counts the request in all windows."""
        request = permit.request
        self.slots[permit.slot] = Slot(holder, request, now)
        self.in_second[permit.slot] = now + rules.LONGEST_IN_SECOND
        self.granted_at = now
        self.permits += 1
        if request.tokens:
            self._forget_tokens(now)
            self.tokens[int(now)] = self.tokens.get(int(now), 0) + request.tokens
        if request.run_id:
            self.run(request.run_id).spent += request.tokens
        if not request.waits_for_nobody:
            asker = self.askers[request.knowledge_base]
            asker.granted, asker.waits_until = self.permits, 0.0

    def settle_tokens(self, slot: Slot, tokens: int, *, spent: int) -> None:
        """Puts what was used in the place of what was granted: ``tokens`` in the minute, ``spent`` for the run."""
        second = int(slot.granted_at)
        if second in self.tokens:
            self.tokens[second] += tokens - slot.request.tokens
        if slot.request.run_id:
            self.run(slot.request.run_id).spent += spent - slot.request.tokens

    def count_success(self, now: float) -> None:
        """Notes a success."""
        self.successes += 1
        self.succeeded.append(now)
        _forget(self.succeeded, now - rules.LONG_MEASURE_SECONDS)

    def learn_rate(self, now: float) -> None:
        """Learns from a refusal."""
        self.rate = rules.rate_after_refusal(
            _since(self.succeeded, now - rules.SECOND_SECONDS), _since(self.succeeded, now - rules.LONG_MEASURE_SECONDS), self.rate
        )
        self.unhindered_since = now


def _keeps_its_turn(asker: Asker, now: float) -> bool:
    if now > asker.waits_until + rules.PATIENCE_SECONDS:
        return False
    return now - asker.asked <= rules.BUSY_SECONDS or asker.waits_until <= now + SLOT_POLL_SECONDS


def _forget(moments: deque[float], until: float) -> None:
    while moments and moments[0] <= until:
        moments.popleft()


def _since(moments: Iterable[float], start: float) -> int:
    return sum(1 for moment in moments if moment > start)
