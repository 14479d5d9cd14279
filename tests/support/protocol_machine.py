"""The protocol machine: edits, messages, faults and time in any order, over the real protocol code."""

from collections.abc import Callable
from functools import partial
from typing import ClassVar

from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from docmill.domain.registry import Lane
from docmill.indexing.anti_entropy import reconcile_stores
from docmill.indexing.sweeping import sweep
from docmill.retrieval.snapshot import Snapshot
from support.protocol_machine_activities import TO_THE_END, Activity, Fault
from support.protocol_machine_checks import check_converged, check_live_versions, check_promises, check_query, check_rebuilt, check_verified
from support.protocol_machine_events import EVENTS, Event
from support.protocol_machine_parts import GRACE_SECONDS, Parts
from support.protocol_machine_world import LEASE_SECONDS, QUERY_SECONDS, REQUEST_SECONDS, ProtocolWorld

MAX_ACTIVITIES = 6
#: How far the registry can be set back; the grace is longer.
SET_BACK_SECONDS = 40.0


class ProtocolMachine(RuleBasedStateMachine):
    """Interleaves everything that one knowledge base's processes do; ``PARTS`` may have a planted defect.

    It has one rule, since hypothesis leaves out many of a machine's rules in each example, and here nothing is found by a few alone.
    """

    PARTS: ClassVar[Parts] = Parts()

    def __init__(self) -> None:
        super().__init__()
        self.world = ProtocolWorld(self.PARTS)
        self._sound = True

    @rule(event=EVENTS)
    def something_happens(self, event: Event) -> None:
        event.happen(self)

    @invariant()
    def live_versions_are_whole(self) -> None:
        self._judge(lambda: check_live_versions(self.world))

    def teardown(self) -> None:
        try:
            if self._sound:
                self._converge()
        finally:
            self.world.close()

    # ---- what events are made of

    def go(self, activity: Activity, stop: str = TO_THE_END, fault: Fault | None = None) -> None:
        """Lets an activity go on, and judges what has ended."""
        if len(self.world.activities) > MAX_ACTIVITIES:
            stop = TO_THE_END
        self._judge(lambda: activity.advance(stop, fault))
        for ended in self.world.forget_ended():
            if isinstance(ended.result, Snapshot):
                self._judge(partial(check_query, self.world, ended.result))

    def work_on(self, document: str, number: int, stop: str) -> None:
        """Takes one document through a worker until it comes to ``stop``."""
        world = self.world
        messages = [message for message in world.broker.waiting if message.document_id == document]
        if messages:
            world.broker.waiting.remove(messages[-1])
            self.go(world.attempt(messages[-1], number), stop)
        if world.workers[number].handed_over:
            self.go(world.commit_turn(number, list(world.workers[number].handed_over)), stop)

    def work_off(self) -> None:
        """Delivers every message and commits everything, without a fault."""
        world = self.world
        while world.broker.waiting or any(worker.handed_over for worker in world.workers):
            if world.broker.waiting:
                self.go(world.attempt(world.broker.waiting.pop(0), 0))
            for worker in world.workers:
                if worker.handed_over:
                    self.go(world.commit_turn(worker.number, list(worker.handed_over)))

    def pass_time(self, seconds: float, *, renewing: bool) -> None:
        """Lets time pass.

        What has a time limit ends before that is over: a query, what a set-back can lose, and, without anti-entropy, late
        writes and workers whose leases ran out.
        """
        world = self.world
        then = world.clock.now + seconds
        for activity in list(world.activities):
            if activity.name == "query" and then - activity.started_at > QUERY_SECONDS:
                self.go(activity)
            elif not self.PARTS.anti_entropy and activity.worker is not None:
                keeps_its_lease = renewing and world.clock.now < activity.renewed_at + LEASE_SECONDS
                if not keeps_its_lease and then - activity.renewed_at > GRACE_SECONDS:
                    world.kill_worker(activity.worker, messages_return=True)
        if world.saved is not None and then - world.saved.at > SET_BACK_SECONDS:
            world.saved = None
        if not self.PARTS.anti_entropy:
            for write in [write for write in world.late_writes if then - write.sent_at > REQUEST_SECONDS]:
                world.late_writes.remove(write)
                write.land()
        world.pass_time(seconds, renewing=renewing)

    def lose_the_registry(self) -> None:
        """The registry is flushed, and rebuilt after a grace, in which the sweeper and the comparison end what they were at."""
        world = self.world
        before = {document_id: world.entry(document_id) for document_id in world.source.files}
        self.pass_time(GRACE_SECONDS, renewing=True)
        world.flush()
        for activity in list(world.activities):
            if activity.name in ("sweep", "comparison"):
                self.go(activity)
        world.rebuild()
        self._judge(lambda: check_rebuilt(world, before))

    def _judge(self, check: Callable[[], None]) -> None:
        """Notes that the example has failed, so that ``teardown`` does not look for more."""
        try:
            check()
        except BaseException:
            self._sound = False
            raise

    # ---- the end

    def _converge(self) -> None:
        """All faults end; then the system's own steps must do, first without a scan, which would make good what the ledger forgot."""
        world = self.world
        for activity in list(world.activities):
            if activity.name == "scan":
                activity.kill()
            elif not activity.ended:
                self.go(activity)
        world.forget_ended()
        while world.late_writes:
            world.late_writes.pop().land()
        world.source.racy = False
        self._let_the_ledger_work()
        self._judge(lambda: check_promises(world))
        self._scan_to_the_end()
        self._clean_up()
        self._judge(lambda: check_converged(world))
        self._judge(lambda: check_verified(world))

    def _let_the_ledger_work(self) -> None:
        for _ in range(3):
            self.work_off()
            self.world.pass_time(31.0, renewing=False)
            self.go(self.world.pump_turn())
        self.work_off()

    def _scan_to_the_end(self) -> None:
        scan = self.world.scan()
        for _ in range(20):
            self.go(scan)
            if scan.ended:
                return
            self._let_the_ledger_work()
        raise AssertionError("the run does not end")

    def _clean_up(self) -> None:
        world = self.world
        for _ in range(2):
            if self.PARTS.anti_entropy:
                repair = reconcile_stores(world.state, world.target)
                world.broker.send(repair.messages, Lane.BULK)
                self._let_the_ledger_work()
            for _ in range(3):
                world.pass_time(61.0, renewing=False)
                sweep(world.registry, [world.target], grace_seconds=self.PARTS.sweep_grace_seconds)
