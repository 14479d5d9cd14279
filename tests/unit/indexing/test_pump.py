"""What the queue lost is sent again, and nothing is sent again that is only waiting."""

import pytest

from docmill.adapters.memory.state import MemoryState
from docmill.domain.errors import StoreDown
from docmill.domain.registry import Lane, QueueDepth
from docmill.ports.state import KnowledgeBaseState
from docmill_services.producer.pump import Pump
from support.failing import Failing
from support.indexing_world import ManualClock, MemoryQueue, World

PATIENCE = 5.0
IDLE = 30.0


class CountedQueue(MemoryQueue):
    """A broker some of whose messages are with workers."""

    unacknowledged = 0

    def depth(self) -> QueueDepth:
        depth = super().depth()
        return QueueDepth(depth.live, depth.bulk, self.unacknowledged)


class Pumping:
    """Two knowledge bases and their pump."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.queue = CountedQueue()
        self.broker = Failing(self.queue)
        self.states = {name: self._state(name) for name in ("first", "second")}
        self.led = self.states
        self.pump = Pump(self.states, self.broker, lambda: self.led, PATIENCE, self.clock.monotonic, IDLE)

    def _state(self, name: str) -> KnowledgeBaseState:
        memory = MemoryState(name, self.clock)
        memory.registry.raise_epoch(1)
        return KnowledgeBaseState(memory.registry, memory.leases, memory.ledger)

    def enqueue(self, name: str, *document_ids: str) -> None:
        self.queue.send(self.states[name].ledger.enqueue(document_ids, Lane.BULK), Lane.BULK)

    def waiting(self) -> list[str]:
        return [message.document_id for _, message in self.queue.messages]


@pytest.fixture
def pumping() -> Pumping:
    return Pumping()


def test_a_document_whose_lease_ran_out_is_sent_again_once(pumping: Pumping) -> None:
    pumping.enqueue("first", "a")
    first = pumping.queue.take()
    assert pumping.states["first"].ledger.begin(first, 30) is not None
    assert pumping.pump.turn() == 0
    pumping.clock.now += 31
    assert pumping.pump.turn() == 1
    assert pumping.pump.turn() == 0
    assert pumping.queue.take() == first


def test_a_lost_message_is_sent_again_after_the_patience(pumping: Pumping) -> None:
    pumping.enqueue("first", "a", "b")
    pumping.queue.take()
    assert pumping.pump.turn() == 0
    pumping.clock.now += PATIENCE - 1
    assert pumping.pump.turn() == 0
    pumping.clock.now += 1
    assert pumping.pump.turn() == 1


def test_the_oldest_entries_are_sent_again_as_many_as_messages_are_missing(pumping: Pumping) -> None:
    pumping.enqueue("first", "a", "b", "c")
    pumping.queue.messages = pumping.queue.messages[2:]
    pumping.pump.turn()
    pumping.clock.now += PATIENCE
    assert pumping.pump.turn() == 2
    assert pumping.waiting() == ["c", "a", "b"]


def test_messages_that_busy_workers_hold_are_not_missing(pumping: Pumping) -> None:
    pumping.enqueue("first", "a")
    pumping.enqueue("second", "b")
    assert pumping.states["first"].ledger.begin(pumping.queue.take(), 1e9) is not None
    pumping.queue.take()
    pumping.queue.unacknowledged = 2
    pumping.pump.turn()
    pumping.clock.now += 100 * IDLE
    assert pumping.pump.turn() == 0


def test_messages_that_idle_workers_hold_are_sent_again(pumping: Pumping) -> None:
    pumping.enqueue("first", "a", "b")
    pumping.queue.messages.clear()
    pumping.queue.unacknowledged = 3
    pumping.pump.turn()
    pumping.clock.now += IDLE - 1
    assert pumping.pump.turn() == 0
    pumping.clock.now += 1
    assert pumping.pump.turn() == 2
    pumping.clock.now += 2 * IDLE
    assert pumping.pump.turn() == 0


def test_documents_that_only_wait_are_not_sent_again_however_long(pumping: Pumping) -> None:
    pumping.enqueue("first", "a", "b")
    for _ in range(5):
        pumping.clock.now += 10 * PATIENCE
        assert pumping.pump.turn() == 0


def test_entries_whose_messages_are_still_being_sent_at_every_look_are_not_sent_again(pumping: Pumping) -> None:
    for number in range(5):
        pumping.states["first"].ledger.enqueue([f"document {number}"], Lane.BULK)
        assert pumping.pump.turn() == 0
        message = pumping.states["first"].ledger.oldest_waiting(1)[0]
        assert pumping.states["first"].ledger.begin(message, 1e9) is not None
        pumping.clock.now += PATIENCE


def test_the_patience_begins_anew_when_nothing_was_missing_meanwhile(pumping: Pumping) -> None:
    pumping.enqueue("first", "a")
    message = pumping.queue.messages.pop()
    pumping.pump.turn()
    pumping.clock.now += PATIENCE - 1
    pumping.queue.messages.append(message)
    pumping.pump.turn()
    pumping.queue.messages.clear()
    pumping.clock.now += 1
    assert pumping.pump.turn() == 0


def test_what_is_missing_is_counted_over_all_knowledge_bases(pumping: Pumping) -> None:
    pumping.enqueue("first", "a")
    pumping.enqueue("second", "b")
    pumping.queue.messages.clear()
    pumping.pump.turn()
    pumping.clock.now += PATIENCE
    assert pumping.pump.turn() == 2
    assert sorted(pumping.waiting()) == ["a", "b"]


def test_a_broker_that_refuses_an_expired_document_gets_it_later(pumping: Pumping) -> None:
    pumping.enqueue("first", "a")
    pumping.states["first"].ledger.begin(pumping.queue.take(), 30)
    pumping.clock.now += 31
    pumping.broker.fail("send", StoreDown("no answer"))
    with pytest.raises(StoreDown):
        pumping.pump.turn()
    pumping.broker.mend()
    pumping.pump.turn()
    pumping.clock.now += PATIENCE
    assert pumping.pump.turn() == 1
    assert pumping.waiting() == ["a"]


def test_a_document_is_indexed_although_its_message_and_then_its_worker_were_lost() -> None:
    world = World()
    pump = Pump({"kb": world.state}, world.tasks, lambda: {"kb": world.state}, PATIENCE, world.clock.monotonic)
    world.source.put("a.md", "one")
    world.enqueue("a.md")
    world.tasks.messages.clear()
    pump.turn()
    world.clock.now += PATIENCE
    pump.turn()
    world.reconciler().reconcile(world.tasks.take())
    world.handed_over.clear()
    world.clock.now += 31
    pump.turn()
    world.work()
    assert world.live_texts("a.md")["words"] == ["one"]


def test_only_what_this_producer_leads_is_sent_again(pumping: Pumping) -> None:
    pumping.enqueue("first", "a")
    pumping.enqueue("second", "b")
    pumping.queue.messages.clear()
    pumping.led = {"second": pumping.states["second"]}
    pumping.pump.turn()
    pumping.clock.now += PATIENCE
    assert pumping.pump.turn() == 1
    assert pumping.waiting() == ["b"]
