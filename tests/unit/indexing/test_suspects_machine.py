"""Deadly and harmless documents, workers that die, stop and go on in any order: who is quarantined, and who never is."""

from collections.abc import Callable
from typing import Final

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from docmill.adapters.memory.isolation import MemoryIsolation
from docmill.domain.documents import LoadedDocument, fingerprint_of
from docmill.domain.registry import CRASHES_TO_QUARANTINE, DocumentState, Lane
from docmill.indexing.giving_back import give_back
from docmill.indexing.leasekeeping import LeaseKeeper
from support.indexing_world import World, line_chunks

DOCUMENTS: Final = ("a.md", "b.md", "c.md")
DEADLY: Final = ("deadly one", "deadly two")
HARMLESS: Final = ("one", "two\nthree", "")

KINDS: Final = ("written", "written", "worked on", "worked on", "worked on", "committed", "begun", "removed", "died", "stopped", "retried")

documents = st.sampled_from(DOCUMENTS)
contents = st.sampled_from((*DEADLY, *HARMLESS))


class WorkerDied(BaseException):
    """The process that loads a deadly content is gone."""


class SuspectsMachine(RuleBasedStateMachine):
    """One knowledge base and one worker; ``lone_crashes`` counts what really happened."""

    def __init__(self) -> None:
        super().__init__()
        self.world = World()
        self.load = self.world.source.load
        self.world.source.load = self._load_among_others  # type: ignore[method-assign]  # a deadly content
        self.world.isolation = MemoryIsolation(self.load, line_chunks, self._how_it_ends)
        self.current = ""
        self.lone_crashes: dict[tuple[str, str], int] = {}
        self.deaths = 0

    # ---- what contents do

    def _load_among_others(self, document_id: str, content: bytes) -> LoadedDocument:
        assert self.world.state.ledger.suspicions([document_id]) == {}, f"the suspect {document_id} is worked on among others"
        if content.decode() in DEADLY:
            raise WorkerDied
        return self.load(document_id, content)

    def _how_it_ends(self, content: bytes) -> str | None:
        if content.decode() not in DEADLY:
            return None
        key = (self.current, fingerprint_of(content))
        self.lone_crashes[key] = self.lone_crashes.get(key, 0) + 1
        return "it was ended by SIGSEGV"

    # ---- what happens

    @rule(kind=st.sampled_from(KINDS), document=documents, content=contents, lane=st.sampled_from(Lane), place=st.integers(0, 5))
    def something_happens(self, kind: str, document: str, content: str, lane: Lane, place: int) -> None:
        """One rule, since hypothesis leaves out many of a machine's rules in each example, and here nothing is found by a few alone."""
        match kind:
            case "written":
                self.world.source.put(document, content)
                self.world.enqueue(document, lane=lane)
            case "removed":
                self.world.source.delete(document)
                self.world.enqueue(document)
            case "worked on":
                self.work_on(place)
            case "begun":
                self.begin(place)
            case "committed":
                self.world.commit()
            case "died":
                self.die()
            case "stopped":
                self.stop()
            case "retried":
                self.retry(document)

    def work_on(self, place: int) -> None:
        """A worker takes a message."""
        messages = self.world.tasks.messages
        if not messages:
            return
        _, message = messages.pop(place % len(messages))
        self.current = message.document_id
        try:
            self.world.reconciler().reconcile(message)
        except WorkerDied:
            self.deaths += 1
            self.die()

    def begin(self, place: int) -> None:
        """A worker takes a message and gets no further."""
        messages = self.world.tasks.messages
        if messages:
            attempt = self.world.state.ledger.begin(messages.pop(place % len(messages))[1], 30)
            if attempt is not None:
                self.world.keeper.hold(attempt)

    def die(self) -> None:
        """The worker's process is killed, and what it had in work is sent again."""
        self._new_worker()
        self.world.clock.now += 31
        self.world.tasks.send(self.world.state.ledger.resend_expired(99), Lane.BULK)

    def stop(self) -> None:
        """The worker stops in order."""
        before = self.world.state.ledger.suspicions(DOCUMENTS)
        self.world.keeper.stop()
        give_back(self.world.keeper.held(), lambda _: self.world.state.ledger, self.world.tasks)
        assert self.world.state.ledger.suspicions(DOCUMENTS) == before
        assert self.world.state.ledger.outstanding()[1] == 0
        self._new_worker()

    def retry(self, document: str) -> None:
        """Somebody wants a document to be tried again."""
        if self.world.state.ledger.retry([document]):
            for key in [key for key in self.lone_crashes if key[0] == document]:
                del self.lone_crashes[key]
            self.world.enqueue(document)

    def _new_worker(self) -> None:
        self.world.handed_over.clear()
        self.world.keeper = LeaseKeeper(lambda _: self.world.state.leases, ttl_seconds=30, interval_seconds=5)

    # ---- what must hold

    @invariant()
    def only_what_crashed_when_alone_often_enough_is_quarantined(self) -> None:
        for document in DOCUMENTS:
            entry = self.world.entry(document)
            if entry is not None and entry.state is DocumentState.QUARANTINED:
                assert document in self.world.state.ledger.suspicions([document])
                assert max(count for (of, _), count in self.lone_crashes.items() if of == document) >= CRASHES_TO_QUARANTINE

    def teardown(self) -> None:
        self._converge(lambda: any(self.world.state.ledger.outstanding()))
        for document in DOCUMENTS:
            content, entry = self.world.source.files.get(document), self.world.entry(document)
            if content is None:
                assert entry is None or entry.state is DocumentState.GONE
            elif content.decode() in DEADLY:
                assert entry is not None
                assert entry.state is DocumentState.QUARANTINED
            else:
                assert entry is not None
                assert entry.state is (DocumentState.LIVE if content else DocumentState.EMPTY), entry
                assert document not in self.world.state.ledger.suspicions(DOCUMENTS)

    def _converge(self, is_anything_left: Callable[[], bool]) -> None:
        deaths = self.deaths
        for _ in range(50):
            if not is_anything_left():
                break
            for _ in range(50):
                self.work_on(0)
                self.world.commit()
            self.world.clock.now += 31
            self.world.tasks.send(self.world.state.ledger.resend_expired(99), Lane.BULK)
            self.world.tasks.send(self.world.state.ledger.oldest_waiting(99), Lane.BULK)
        assert not is_anything_left()
        assert self.deaths - deaths <= len(DOCUMENTS), "a document kills more than one worker"


def test_deadly_documents_are_quarantined_and_no_other_ever_is() -> None:
    run_state_machine_as_test(  # type: ignore[no-untyped-call]  # hypothesis's own
        SuspectsMachine,
        settings=settings(
            max_examples=150,
            stateful_step_count=50,
            deadline=None,
            database=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        ),
    )
