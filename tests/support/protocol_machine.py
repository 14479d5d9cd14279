"""The protocol machine: edits, messages, faults and time in any order, over the real protocol code."""

from collections.abc import Callable
from typing import ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from docmill.domain.registry import Lane
from docmill.indexing.anti_entropy import reconcile_stores
from docmill.indexing.sweeping import sweep
from docmill.retrieval.snapshot import Snapshot
from docmill.adapters.memory.stores import MemoryLexicalStore
from support.protocol_machine_activities import TO_THE_END, Activity, Fault
from support.protocol_machine_checks import check_converged, check_live_versions, check_promises, check_query
from support.protocol_machine_plants import GRACE_SECONDS, Parts
from support.protocol_machine_source import CONTENTS, DOCUMENTS
from support.protocol_machine_world import QUERY_SECONDS, REQUEST_SECONDS, ProtocolWorld

#: How many calls of ports something carries out before it is interrupted; most often it is not.
CALLS = st.one_of(st.just(TO_THE_END), st.integers(0, 12))
PLACE = st.integers(0, 7)
MAX_ACTIVITIES = 6
#: How long the registry can be set back; the grace is longer.
SET_BACK_SECONDS = 40.0


class ProtocolMachine(RuleBasedStateMachine):
    """Interleaves everything that one knowledge base's processes do; ``PARTS`` may have a planted defect."""

    PARTS: ClassVar[Parts] = Parts()

    def __init__(self) -> None:
        super().__init__()
        self.world = ProtocolWorld(self.PARTS)
        self.sound = True

    # ---- the outside

    @rule(document=st.sampled_from(DOCUMENTS), content=st.sampled_from(CONTENTS), noticed=st.booleans(), lane=st.sampled_from(Lane))
    def file_is_written(self, document: str, content: str | None, noticed: bool, lane: Lane) -> None:
        self.world.source.change(document, content)
        if noticed:
            self._go(self.world.announcement(document, lane))

    @rule(document=st.sampled_from(DOCUMENTS), calls=CALLS)
    def file_is_touched(self, document: str, calls: int) -> None:
        self.world.source.touch(document)
        self._go(self.world.announcement(document, Lane.LIVE), calls)

    @rule(racy=st.booleans())
    def files_are_read_soon_after_a_change(self, racy: bool) -> None:
        self.world.source.racy = racy

    # ---- the broker

    @precondition(lambda self: self.world.broker.waiting)
    @rule(place=PLACE, worker=st.integers(0, 1), calls=CALLS)
    def message_is_delivered(self, place: int, worker: int, calls: int) -> None:
        waiting = self.world.broker.waiting
        self._go(self.world.attempt(waiting.pop(place % len(waiting)), worker), calls)

    @precondition(lambda self: self.world.broker.waiting)
    @rule(place=PLACE)
    def message_is_doubled(self, place: int) -> None:
        waiting = self.world.broker.waiting
        waiting.append(waiting[place % len(waiting)])

    @precondition(lambda self: self.world.broker.waiting)
    @rule(place=PLACE)
    def message_is_lost(self, place: int) -> None:
        waiting = self.world.broker.waiting
        waiting.pop(place % len(waiting))

    # ---- what the processes do

    @precondition(lambda self: any(worker.handed_over for worker in self.world.workers))
    @rule(worker=st.integers(0, 1), most=st.integers(1, 3), calls=CALLS)
    def committer_takes_a_turn(self, worker: int, most: int, calls: int) -> None:
        number = worker if self.world.workers[worker].handed_over else 1 - worker
        self._go(self.world.commit_turn(number, self.world.workers[number].handed_over[:most]), calls)

    @rule()
    def everything_is_worked_off(self) -> None:
        self._work_off()

    @rule(calls=CALLS)
    def producer_scans(self, calls: int) -> None:
        if not any(activity.name == "scan" for activity in self.world.activities):
            self._go(self.world.scan(), calls)

    @rule(calls=CALLS)
    def pump_turns(self, calls: int) -> None:
        self._go(self.world.pump_turn(), calls)

    @rule(calls=CALLS)
    def sweeper_makes_a_round(self, calls: int) -> None:
        self._go(self.world.sweep_round(), calls)

    @precondition(lambda self: self.PARTS.anti_entropy)
    @rule(calls=CALLS)
    def stores_are_compared(self, calls: int) -> None:
        self._go(self.world.comparison(), calls)

    @rule(calls=CALLS)
    def query_begins(self, calls: int) -> None:
        self._go(self.world.query(), calls)

    @rule()
    def lexical_store_refreshes_by_itself(self) -> None:
        MemoryLexicalStore.refresh(self.world.raw_lexical, self.world.raw_target.index("words"))

    @precondition(lambda self: self.world.activities)
    @rule(place=PLACE, calls=CALLS)
    def activity_goes_on(self, place: int, calls: int) -> None:
        activities = self.world.activities
        self._go(activities[place % len(activities)], calls)

    # ---- faults and time

    @precondition(lambda self: self.world.activities)
    @rule(place=PLACE, fault=st.sampled_from(Fault), calls=CALLS)
    def call_fails(self, place: int, fault: Fault, calls: int) -> None:
        activities = self.world.activities
        self._go(activities[place % len(activities)], max(1, calls), fault)

    @rule(number=st.integers(0, 1), messages_return=st.booleans())
    def worker_is_killed(self, number: int, messages_return: bool) -> None:
        self.world.kill_worker(number, messages_return=messages_return)

    @precondition(lambda self: any(activity.worker is None for activity in self.world.activities))
    @rule(place=PLACE)
    def other_process_is_killed(self, place: int) -> None:
        others = [activity for activity in self.world.activities if activity.worker is None]
        others[place % len(others)].kill()
        self.world.forget_ended()

    @precondition(lambda self: self.world.late_writes)
    @rule(place=PLACE)
    def late_write_lands(self, place: int) -> None:
        writes = self.world.late_writes
        writes.pop(place % len(writes)).land()

    @rule(seconds=st.sampled_from((1.0, 11.0, 31.0, 61.0)), renewing=st.booleans())
    def time_passes(self, seconds: float, renewing: bool) -> None:
        self._bound_what_goes_on(seconds)
        self.world.pass_time(seconds, renewing=renewing)

    @rule()
    def everything_is_restarted(self) -> None:
        self.world.restart()

    @precondition(lambda self: self.PARTS.set_back)
    @rule()
    def registry_is_saved(self) -> None:
        self.world.save()

    @precondition(lambda self: self.world.saved is not None)
    @rule()
    def registry_is_set_back(self) -> None:
        self.world.set_back()

    @precondition(lambda self: self.PARTS.anti_entropy)
    @rule(document=st.sampled_from(DOCUMENTS))
    def store_loses_chunks(self, document: str) -> None:
        self.world.lose_chunks(document)

    # ---- what must hold

    @invariant()
    def live_versions_are_whole(self) -> None:
        self._judge(lambda: check_live_versions(self.world))

    def teardown(self) -> None:
        try:
            if self.sound:
                self._converge()
        finally:
            self.world.close()

    # ---- how it is done

    def _go(self, activity: Activity, calls: int = TO_THE_END, fault: Fault | None = None) -> None:
        if len(self.world.activities) > MAX_ACTIVITIES:
            calls = TO_THE_END
        self._judge(lambda: activity.advance(calls, fault))
        for ended in self.world.forget_ended():
            result = ended.result
            if isinstance(result, Snapshot):
                self._judge(lambda snapshot=result: check_query(self.world, snapshot))

    def _judge(self, check: Callable[[], None]) -> None:
        """Notes that the example has failed, so that ``teardown`` does not look for more."""
        try:
            check()
        except BaseException:
            self.sound = False
            raise

    def _bound_what_goes_on(self, seconds: float) -> None:
        """What has a time limit ends before it is over: a query, what a set-back can lose, and, without anti-entropy, late writes."""
        world = self.world
        then = world.clock.now + seconds
        for activity in list(world.activities):
            if activity.name == "query" and then - activity.started_at > QUERY_SECONDS:
                self._go(activity)
            elif not self.PARTS.anti_entropy and activity.worker is not None and then - activity.started_at > GRACE_SECONDS:
                world.kill_worker(activity.worker, messages_return=True)
        if world.saved is not None and then - world.saved.at > SET_BACK_SECONDS:
            world.saved = None
        if not self.PARTS.anti_entropy:
            for write in [write for write in world.late_writes if then - write.sent_at > REQUEST_SECONDS]:
                world.late_writes.remove(write)
                write.land()

    def _work_off(self) -> None:
        world = self.world
        while world.broker.waiting or any(worker.handed_over for worker in world.workers):
            if world.broker.waiting:
                self._go(world.attempt(world.broker.waiting.pop(0), 0))
            for worker in world.workers:
                if worker.handed_over:
                    self._go(world.commit_turn(worker.number, list(worker.handed_over)))

    def _converge(self) -> None:
        """All faults end; then the system's own steps must do."""
        world = self.world
        for activity in list(world.activities):
            if activity.name == "scan":
                activity.kill()
            elif not activity.ended:
                self._go(activity)
        world.forget_ended()
        while world.late_writes:
            world.late_writes.pop().land()
        world.source.racy = False
        self._let_the_ledger_work()
        self._judge(lambda: check_promises(world))
        self._scan_to_the_end()
        self._clean_up()
        self._judge(lambda: check_converged(world))

    def _let_the_ledger_work(self) -> None:
        for _ in range(3):
            self._work_off()
            self.world.pass_time(31.0, renewing=False)
            self._go(self.world.pump_turn())
        self._work_off()

    def _scan_to_the_end(self) -> None:
        scan = self.world.scan()
        for _ in range(20):
            self._go(scan)
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
