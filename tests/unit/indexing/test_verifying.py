"""Sources, registry and stores are compared in both directions, and a repair makes good what is found."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from docmill.domain.errors import DocumentSkipped, RootUnavailable, SkipReason, SourceUnreadable, StoreDown
from docmill.domain.knowledge_bases import StrategySpec
from docmill.domain.registry import Commit, DocumentState, Entry, Lane
from docmill.domain.verification import Finding, FindingKind, Verification
from docmill.indexing.index_sets import index_set_id
from docmill.indexing.sweeping import sweep
from docmill.indexing.targets import Target
from docmill.indexing.verifying import Patience, Verifier
from support.failing import Failing
from support.indexing_world import KB, ManualClock, World

DENSE, WORDS = KB.strategies


@dataclass(frozen=True)
class Seen:
    document_id: str


@dataclass
class DictDisk:
    """One look at a world's source."""

    world: World
    unavailable: dict[bytes, RootUnavailable] = field(default_factory=dict)
    gone_is_proved: bool = True

    def files(self) -> Iterator[Seen]:
        return iter([] if self.unavailable else [Seen(document_id) for document_id in list(self.world.source.files)])

    def proves_gone(self, document_id: str) -> bool:
        return self.gone_is_proved


@pytest.fixture
def world() -> World:
    made = World(refresh_needed=True)
    index_set = index_set_id(KB.pipeline_hash, (made.vectors.identity(), made.lexical.identity()))
    made.target = replace(made.target, index_set=index_set)
    made.target.create_indexes()
    made.state.registry.serve(index_set)
    made.source.put("a.md", "one\ntwo")
    made.source.put("b.md", "three")
    made.source.put("empty.md", "")
    made.enqueue("a.md", "b.md", "empty.md")
    made.work()
    return made


def verifier(world: World, **others: Any) -> Verifier:
    parts: dict[str, Any] = {
        "state": world.state,
        "targets": [world.target],
        "source": world.source,
        "disk": DictDisk(world),
        "tasks": world.tasks,
        "clock": world.clock,
        "patience": None,
    }
    return Verifier(**(parts | others))


def found(world: World, **others: Any) -> list[tuple[str, str | None, str]]:
    return [(one.kind.value, one.document_id, one.store) for one in verifier(world, **others).verify().findings]


def repaired(world: World) -> Verification:
    """Repairs, lets the work be done, and compares again."""
    first = verifier(world).verify(repair=True)
    assert not first.ok
    world.work()
    return verifier(world).verify()


def entry_of(world: World, document_id: str, target: Target | None = None) -> Entry:
    return world.state.registry.entries((target or world.target).index_set, [document_id])[1][document_id]


def generation_of(world: World, document_id: str) -> int:
    live = entry_of(world, document_id).live
    assert live is not None
    return live.generation


def lose(world: World, strategy: StrategySpec, document_id: str, count: int) -> None:
    store, index = world.target.store(strategy), world.target.index(strategy.name)
    store.delete(index, document_id, generation_of(world, document_id), count)


def test_an_index_that_equals_its_sources_is_clean(world: World) -> None:
    assert verifier(world).verify() == Verification(documents=3)


def test_a_document_that_nobody_indexed_is_missing(world: World) -> None:
    world.source.put("new.md", "new")
    assert found(world) == [("missing", "new.md", "registry")]
    assert repaired(world) == Verification(documents=4)


def test_an_older_content_is_stale(world: World) -> None:
    world.source.put("a.md", "other")
    assert found(world) == [("stale", "a.md", "registry")]
    assert repaired(world) == Verification(documents=3)


@pytest.mark.parametrize(("strategy", "store"), [(DENSE, "vectors"), (WORDS, "lexical")])
def test_chunks_that_a_store_has_lost_are_missing_or_miscounted(world: World, strategy: StrategySpec, store: str) -> None:
    lose(world, strategy, "a.md", 1)
    lose(world, strategy, "b.md", 1)
    assert found(world) == [("count", "a.md", store), ("missing", "b.md", store)]
    assert repaired(world) == Verification(documents=3)


def test_chunks_that_nobody_knows_are_an_orphan_and_are_removed(world: World) -> None:
    world.source.put("b.md", "later")
    world.enqueue("b.md")
    world.reconciler().reconcile(world.tasks.take())
    (prepared,) = world.handed_over
    for _ in range(2):
        world.clock.now += 61
        sweep(world.state.registry, [world.target], grace_seconds=60)
    world.state.ledger.resend_expired(9)
    for write in prepared.writes:
        write.store.write(write.index, write.records)
    assert found(world)[:2] == [("orphan", "b.md", "vectors"), ("orphan", "b.md", "lexical")]
    result = verifier(world).verify(repair=True)
    assert "they were removed" in result.findings[0].detail
    assert [kind for kind, _, _ in found(world)] == ["stale"]


def test_a_document_whose_source_is_gone_is_an_orphan_whose_removal_is_left_to_a_run(world: World) -> None:
    world.source.delete("a.md")
    assert found(world) == [("orphan", "a.md", "registry")]
    result = verifier(world).verify(repair=True)
    assert "a run was started" in result.findings[0].detail
    assert world.state.ledger.current_run() is not None
    assert world.tasks.messages == []


def test_absence_that_proves_nothing_is_no_finding(world: World) -> None:
    world.source.delete("a.md")
    assert found(world, disk=DictDisk(world, gone_is_proved=False)) == []


def test_sources_that_cannot_be_looked_at_end_the_comparison(world: World) -> None:
    disk = DictDisk(world, unavailable={b"/docs": RootUnavailable("not mounted")})
    with pytest.raises(RootUnavailable, match="not mounted"):
        found(world, disk=disk)


def test_replaced_and_abandoned_generations_are_known_until_they_are_swept(world: World) -> None:
    world.source.put("a.md", "newer")
    world.enqueue("a.md")
    world.work()
    world.source.put("b.md", "later")
    world.enqueue("b.md")
    world.reconciler().reconcile(world.tasks.take())
    (prepared,) = world.handed_over
    for write in prepared.writes:
        write.store.write(write.index, write.records)
    assert found(world, patience=Patience()) == []


def test_a_gone_document_whose_entry_is_kept_for_the_grace_is_clean(world: World) -> None:
    world.source.delete("a.md")
    world.enqueue("a.md")
    world.work()
    assert entry_of(world, "a.md").state is DocumentState.GONE
    assert found(world) == []


def test_a_failed_document_shows_its_reason_unless_what_is_live_is_right(world: World) -> None:
    for document_id, text in (("a.md", "one\ntwo"), ("b.md", "other")):
        world.source.put(document_id, text)
        world.enqueue(document_id)
        attempt = world.state.ledger.begin(world.tasks.take(), 30)
        assert attempt is not None
        world.state.ledger.finish(attempt, failed="provider.error: no answer")
    (finding,) = verifier(world).verify().findings
    assert (finding.kind, finding.document_id) == (FindingKind.STALE, "b.md")
    assert "provider.error: no answer" in finding.detail


class SkippingSource:
    """Refuses one document, or cannot tell."""

    def __init__(self, world: World, document_id: str, error: Exception) -> None:
        self._world, self._document_id, self._error = world, document_id, error

    def __getattr__(self, name: str) -> Any:
        return getattr(self._world.source, name)

    def read(self, document_id: str) -> Any:
        if document_id == self._document_id:
            raise self._error
        return self._world.source.read(document_id)


TOO_LARGE = DocumentSkipped(SkipReason.TOO_LARGE, "3 GB")


def test_a_live_document_that_must_not_be_indexed_is_stale(world: World) -> None:
    assert found(world, source=SkippingSource(world, "a.md", TOO_LARGE)) == [("stale", "a.md", "registry")]


def test_a_document_that_is_recorded_as_skipped_is_clean_until_it_could_be_indexed(world: World) -> None:
    world.enqueue("a.md")
    attempt = world.state.ledger.begin(world.tasks.take(), 30)
    assert attempt is not None
    skipped = Commit(attempt, DocumentState.SKIPPED, "", {world.target.index_set: {}}, reason="too_large: 3 GB")
    assert world.state.registry.commit([skipped])[0].committed
    assert found(world, source=SkippingSource(world, "a.md", TOO_LARGE)) == []
    assert found(world) == [("stale", "a.md", "registry")]


def test_a_source_that_cannot_be_read_now_says_nothing_of_what_is_live(world: World) -> None:
    world.source.put("new.md", "new")
    assert found(world, source=SkippingSource(world, "a.md", SourceUnreadable("disk error"))) == [("missing", "new.md", "registry")]
    assert found(world, source=SkippingSource(world, "new.md", SourceUnreadable("disk error"))) == [("missing", "new.md", "registry")]


def test_a_store_that_does_not_answer_is_a_finding_beside_those_of_the_others(world: World) -> None:
    lose(world, DENSE, "b.md", 1)
    for method in ("indexes", "generations"):
        lexical = Failing(world.lexical)
        lexical.fail(method, StoreDown("connection refused"))
        result = verifier(world, targets=[replace(world.target, lexical=lexical)]).verify()  # type: ignore[type-var]
        assert [(one.kind.value, one.document_id, one.store) for one in result.findings][-1] == ("missing", "b.md", "vectors")
        assert "connection refused" in result.findings[0].detail
        assert not result.answered


def test_a_registry_that_does_not_answer_ends_the_comparison(world: World) -> None:
    for method in ("entries", "unknown_generations", "scan"):
        registry = Failing(world.memory.registry)
        registry.fail(method, StoreDown("connection refused"))
        with pytest.raises(StoreDown):
            found(world, state=replace(world.state, registry=registry))  # type: ignore[type-var]


def test_an_index_that_is_lacking_is_one_finding_and_a_repair_fills_it_again(world: World) -> None:
    world.lexical.drop(world.target.index("words"))
    assert found(world) == [("store", None, "lexical")]
    result = verifier(world).verify(repair=True)
    assert [one.kind.value for one in result.findings] == ["store", "missing", "missing"]
    world.work()
    assert verifier(world).verify() == Verification(documents=3)


def test_a_store_in_the_place_of_another_is_a_finding(world: World) -> None:
    other = World(refresh_needed=True)
    world.target = replace(world.target, vectors=other.vectors)
    world.target.create_indexes()
    assert ("store", None, "vectors and lexical") in found(world)


def test_the_set_that_is_being_built_is_compared_too(world: World) -> None:
    served = replace(world.target, index_set="older")
    served.create_indexes()
    (missing, *_) = verifier(world, targets=[served, world.target]).verify().findings
    assert (missing.kind, missing.document_id) == (FindingKind.MISSING, "a.md")
    lose(world, WORDS, "b.md", 1)
    details = [one.detail for one in verifier(world, targets=[served, world.target]).verify().findings if one.store == "lexical"]
    assert details == [
        f"words holds 0 of 1 chunks of generation {generation_of(world, 'b.md')} (index set {world.target.index_set}, which is being built)"
    ]


def test_a_document_that_belongs_to_other_strategies_now_is_stale(world: World) -> None:
    class OnlyWords(SkippingSource):
        def strategies_for(self, document_id: str) -> tuple[str, ...]:
            return ("words",)

    assert found(world, source=OnlyWords(world, "", TOO_LARGE)) == [("stale", "a.md", "registry"), ("stale", "b.md", "registry")]


class Scripted(ManualClock):
    """A clock at whose every pause something happens."""

    def __init__(self, *events: Callable[[], None]) -> None:
        super().__init__()
        self.events = list(events)

    def sleep(self, seconds: float) -> None:
        super().sleep(seconds)
        if self.events:
            self.events.pop(0)()


def test_a_change_that_is_being_worked_on_is_looked_at_when_it_is_done(world: World) -> None:
    world.source.put("a.md", "newer")
    world.enqueue("a.md", lane=Lane.LIVE)
    assert verifier(world, clock=Scripted(lambda: None, world.work), patience=Patience()).verify() == Verification(documents=3)


def test_a_change_that_is_noticed_a_moment_later_is_no_finding(world: World) -> None:
    world.source.put("a.md", "newer")
    clock = Scripted(lambda: world.enqueue("a.md", lane=Lane.LIVE), world.work)
    assert verifier(world, clock=clock, patience=Patience()).verify() == Verification(documents=3)


def test_a_change_that_nobody_notices_is_a_finding(world: World) -> None:
    world.source.put("a.md", "newer")
    assert found(world, patience=Patience()) == [("stale", "a.md", "registry")]


def test_what_stays_in_work_beyond_all_patience_is_pending(world: World) -> None:
    world.source.put("a.md", "newer")
    world.enqueue("a.md")
    result = verifier(world, patience=Patience()).verify()
    assert result == Verification(documents=3, pending=1)
    assert found(world) == [("stale", "a.md", "registry")]


def test_a_scan_that_is_going_on_may_plan_anything_yet(world: World) -> None:
    run, _ = world.state.ledger.start_run()
    world.source.put("new.md", "new")
    assert verifier(world, patience=Patience()).verify() == Verification(documents=4, pending=1)

    def scan_passes_it() -> None:
        world.state.ledger.scan_ended(run.id)

    assert found(world, clock=Scripted(lambda: None, scan_passes_it), patience=Patience()) == [("missing", "new.md", "registry")]


def test_a_repair_of_more_than_a_window_leaves_the_rest_to_a_run(world: World) -> None:
    for number in range(1100):
        world.source.put(f"{number}.txt", "text")
    result = verifier(world).verify(repair=True)
    assert len(result.findings) == 1100
    assert len(world.tasks.messages) == 1000
    assert world.state.ledger.current_run() is not None


def test_findings_name_stores_first_and_say_what_was_done(world: World) -> None:
    world.source.put("new.md", "new")
    world.lexical.drop(world.target.index("words"))
    result = verifier(world).verify(repair=True)
    assert result.findings[0].document_id is None
    new = next(one for one in result.findings if one.document_id == "new.md")
    assert new == Finding(FindingKind.MISSING, "new.md", "registry", "it is not in the registry; it is planned again")
