"""Events: everything that may happen to the protocol machine, one at a time, each with how often it is drawn."""

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final, Protocol

from hypothesis import strategies as st

from docmill.adapters.memory.stores import MemoryLexicalStore
from docmill.domain.registry import Lane
from support.protocol_machine_activities import NEXT_CALL, TO_THE_END, Fault
from support.protocol_machine_source import CONTENTS, DOCUMENTS, TEXTS

if TYPE_CHECKING:
    from support.protocol_machine import ProtocolMachine

#: Calls before which things may be interrupted.
ENQUEUE: Final = ("ledger.enqueue", "broker.send")
ATTEMPT: Final = ("ledger.begin", "source.read", "registry.entries", "model.embed_passages", "ledger.finish", "broker.send")
COMMIT: Final = ("registry.intents", "vectors.write", "lexical.write", "lexical.refresh", "registry.commit", "broker.send")
SCAN: Final = ("ledger.start_run", "registry.stats", "registry.scan", "broker.send", "ledger.complete")
PUMP: Final = ("ledger.outstanding", "broker.depth", "broker.send")
SWEEP: Final = ("vectors.delete", "lexical.delete", "registry.settle_garbage", "registry.forget_gone")
COMPARISON: Final = ("registry.unknown_generations", "lexical.delete_generation", "registry.scan", "registry.mark", "ledger.enqueue")
QUERY: Final = ("vectors.search", "lexical.search", "registry.entries")


class Event(Protocol):
    """Something that may happen; where it cannot, it does nothing."""

    def happen(self, machine: "ProtocolMachine") -> None: ...


@dataclass(frozen=True)
class FileIsWritten:
    """A file gets another content, or none; the producer notices or does not."""

    document: str
    content: str | None
    noticed: bool
    lane: Lane
    stop: str

    def happen(self, machine: "ProtocolMachine") -> None:
        machine.world.source.change(self.document, self.content)
        if self.noticed:
            machine.go(machine.world.announcement(self.document, self.lane), self.stop)


@dataclass(frozen=True)
class FileIsWrittenAndWorkedOn:
    """The same, and a worker takes it up."""

    document: str
    content: str | None
    worker: int
    stop: str

    def happen(self, machine: "ProtocolMachine") -> None:
        FileIsWritten(self.document, self.content, True, Lane.LIVE, TO_THE_END).happen(machine)
        machine.work_on(self.document, self.worker, self.stop)


@dataclass(frozen=True)
class FileIsTouched:
    """A file gets another time; when that is racy, times of files that are read are not trusted until the next touch."""

    document: str
    racy: bool

    def happen(self, machine: "ProtocolMachine") -> None:
        source = machine.world.source
        source.racy = self.racy
        FileIsWritten(self.document, source.files[self.document].content, True, Lane.BULK, TO_THE_END).happen(machine)


@dataclass(frozen=True)
class MessageIsDelivered:
    """A worker takes any of the messages that wait."""

    place: int
    worker: int
    stop: str

    def happen(self, machine: "ProtocolMachine") -> None:
        waiting = machine.world.broker.waiting
        if waiting:
            machine.go(machine.world.attempt(waiting.pop(self.place % len(waiting)), self.worker), self.stop)


@dataclass(frozen=True)
class CommitterTakesATurn:
    """A worker commits at most so many of the documents that were handed over to it."""

    worker: int
    most: int
    stop: str

    def happen(self, machine: "ProtocolMachine") -> None:
        handed_over = machine.world.workers[self.worker].handed_over
        if handed_over:
            machine.go(machine.world.commit_turn(self.worker, handed_over[: self.most]), self.stop)


@dataclass(frozen=True)
class EverythingIsWorkedOff:
    """Whatever waits is carried out and committed."""

    def happen(self, machine: "ProtocolMachine") -> None:
        machine.work_off()


@dataclass(frozen=True)
class ProducerScans:
    """The producer begins a run, or goes on with one that its death interrupted."""

    stop: str

    def happen(self, machine: "ProtocolMachine") -> None:
        if not any(activity.name == "scan" for activity in machine.world.activities):
            machine.go(machine.world.scan(), self.stop)


@dataclass(frozen=True)
class UpkeepIsDone:
    """The pump, the sweeper or the comparison of stores and registry makes a round."""

    work: str
    stop: str

    def happen(self, machine: "ProtocolMachine") -> None:
        if self.work == "pump":
            machine.go(machine.world.pump_turn(), self.stop)
        elif self.work == "sweep":
            machine.go(machine.world.sweep_round(), self.stop)
        elif machine.PARTS.anti_entropy:
            machine.go(machine.world.comparison(), self.stop)


@dataclass(frozen=True)
class QueryBegins:
    """Somebody searches."""

    stop: str

    def happen(self, machine: "ProtocolMachine") -> None:
        machine.go(machine.world.query(), self.stop)


@dataclass(frozen=True)
class SomethingGoesOn:
    """What was interrupted goes on, perhaps with a call that fails."""

    place: int
    stop: str
    fault: Fault | None

    def happen(self, machine: "ProtocolMachine") -> None:
        activities = machine.world.activities
        if activities:
            machine.go(activities[self.place % len(activities)], self.stop, self.fault)


@dataclass(frozen=True)
class TimePasses:
    """Time passes; workers that are not paused renew their leases, and others do their work."""

    seconds: float
    renewing: bool
    others: str
    stop: str

    def happen(self, machine: "ProtocolMachine") -> None:
        machine.pass_time(self.seconds, renewing=self.renewing)
        if "pump" in self.others:
            machine.go(machine.world.pump_turn())
        if "sweeper" in self.others:
            machine.go(machine.world.sweep_round(), self.stop)


class Kind(StrEnum):
    """What else may come from outside."""

    REFRESH = "the lexical store refreshes by itself"
    MESSAGE_DOUBLED = "a message is doubled"
    MESSAGE_LOST = "a message is lost"
    LATE_WRITE = "a write lands that had timed out"
    WORKER_KILLED = "a worker is killed, its messages are lost"
    WORKER_KILLED_MESSAGES_RETURN = "a worker is killed, its messages return"
    OTHER_PROCESS_KILLED = "producer, sweeper or query is killed"
    RESTART = "everything is killed and starts again"
    SAVED = "the registry's state is saved"
    SET_BACK = "the registry is set back to what was saved"
    CHUNKS_LOST = "a store loses chunks"
    FLUSHED = "the registry loses everything and is rebuilt from the stores"


@dataclass(frozen=True)
class Misfortune:
    """One of these comes."""

    kind: Kind
    document: str
    place: int

    def happen(self, machine: "ProtocolMachine") -> None:
        world, waiting = machine.world, machine.world.broker.waiting
        match self.kind:
            case Kind.REFRESH:
                MemoryLexicalStore.refresh(world.raw_lexical, world.raw_target.index("words"))
            case Kind.MESSAGE_DOUBLED if waiting:
                waiting.append(waiting[self.place % len(waiting)])
            case Kind.MESSAGE_LOST if waiting:
                waiting.pop(self.place % len(waiting))
            case Kind.LATE_WRITE if world.late_writes:
                world.late_writes.pop(self.place % len(world.late_writes)).land()
            case Kind.WORKER_KILLED | Kind.WORKER_KILLED_MESSAGES_RETURN:
                world.kill_worker(self.place % 2, messages_return=self.kind is Kind.WORKER_KILLED_MESSAGES_RETURN)
            case Kind.OTHER_PROCESS_KILLED:
                world.kill_newest_other()
            case Kind.RESTART:
                world.restart()
            case Kind.SAVED if machine.PARTS.set_back:
                world.save()
            case Kind.SET_BACK if world.saved is not None:
                world.set_back()
                for activity in list(world.activities)[self.place % 2 :: 2]:
                    machine.go(activity, NEXT_CALL)  # nobody knows of it yet
                world.reopen()
            case Kind.CHUNKS_LOST if machine.PARTS.anti_entropy:
                world.lose_chunks(self.document)
            case Kind.FLUSHED if machine.PARTS.anti_entropy:
                machine.lose_the_registry()


#: What meets in one document is worth more than what happens to several.
_DOCUMENT = st.sampled_from((DOCUMENTS[0], DOCUMENTS[0], *DOCUMENTS))
_CONTENT = st.sampled_from((*CONTENTS, *TEXTS, *TEXTS))
_PLACE, _WORKER, _BOOL = st.integers(0, 7), st.integers(0, 1), st.booleans()
_LANE = st.sampled_from(Lane)
_OTHERS = st.sampled_from(("nobody", "sweeper", "pump, then sweeper"))


def _stops(*calls: str) -> st.SearchStrategy[str]:
    """Nowhere, one time in three."""
    return st.one_of(st.just(TO_THE_END), st.sampled_from(calls), st.sampled_from(calls))


_ANY_STOP = st.one_of(st.just(TO_THE_END), st.just(NEXT_CALL), st.sampled_from(sorted({*ATTEMPT, *COMMIT, *SWEEP, *QUERY})))
_FAULT = st.one_of(st.none(), st.none(), st.sampled_from(Fault))

_WEIGHTED: Final[tuple[tuple[int, st.SearchStrategy[Event]], ...]] = (
    (1, st.builds(FileIsWritten, _DOCUMENT, _CONTENT, _BOOL, _LANE, _stops(*ENQUEUE))),
    (1, st.builds(FileIsTouched, _DOCUMENT, _BOOL)),
    (6, st.builds(FileIsWrittenAndWorkedOn, _DOCUMENT, _CONTENT, _WORKER, _stops(*ATTEMPT, *COMMIT))),
    (2, st.builds(MessageIsDelivered, _PLACE, _WORKER, _stops(*ATTEMPT))),
    (2, st.builds(CommitterTakesATurn, _WORKER, st.integers(1, 3), _stops(*COMMIT))),
    (1, st.builds(EverythingIsWorkedOff)),
    (1, st.builds(ProducerScans, _stops(*SCAN))),
    (3, st.builds(UpkeepIsDone, st.sampled_from(("sweep", "sweep", "sweep", "pump", "compare")), _stops(*PUMP, *SWEEP, *COMPARISON))),
    (2, st.builds(QueryBegins, _stops(*QUERY))),
    (6, st.builds(SomethingGoesOn, _PLACE, _ANY_STOP, _FAULT)),
    (3, st.builds(TimePasses, st.sampled_from((11.0, 31.0, 61.0)), _BOOL, _OTHERS, _stops(*SWEEP))),
    (2, st.builds(Misfortune, st.sampled_from((*Kind, Kind.CHUNKS_LOST)), _DOCUMENT, _PLACE)),
)
EVENTS: Final = st.sampled_from([events for weight, events in _WEIGHTED for _ in range(weight)]).flatmap(lambda events: events)
