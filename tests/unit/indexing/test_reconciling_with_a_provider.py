"""Documents whose vectors a provider makes: each text is paid for once, and waiting costs nobody else anything."""

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace

import pytest
from structlog.testing import capture_logs

from docmill.domain.chunks import Vector
from docmill.domain.errors import CallCancelled, ProviderLeftAlone, ProviderPermanent, ProviderRateLimited, ProviderTransient, StoreDown
from docmill.domain.knowledge_bases import EmbeddingModelSpec, StrategyKind, StrategySpec
from docmill.domain.registry import DocumentState, Entry, Lane
from docmill.indexing.batchers import Batchers
from docmill.indexing.committing import Committer
from docmill.indexing.finishing import Finishing, Step
from docmill.indexing.reconciling import Reconciler
from docmill.indexing.targets import Target
from docmill.indexing.turns import Turns
from support.held_model import FOR_EVER, HeldModel
from support.indexing_world import KB, World
from support.waiting import wait_until


class Joined(Finishing):
    """Lets the thread that has deferred a document wait afterwards until that is finished."""

    def __init__(self) -> None:
        super().__init__(look_seconds=0.05)
        self._last = threading.local()

    def defer(self, characters: int, ask: Callable[[Step], Step | None], is_over: Callable[[], bool] = lambda: False) -> bool:
        finished = self._last.finished = threading.Event()

        def ask_and_join(tell: Step) -> Step | None:
            step = ask(tell)

            def finish() -> None:
                try:
                    assert step is not None
                    step()
                finally:
                    finished.set()

            return None if step is None else finish

        is_deferred = super().defer(characters, ask_and_join, is_over)
        if not is_deferred:
            finished.set()
        return is_deferred

    def join(self) -> None:
        finished = getattr(self._last, "finished", None)
        assert finished is None or finished.wait(FOR_EVER)


class Fleet(World):
    """A world whose model is a provider's, with workers that have threads."""

    def __init__(self, finishing: Joined | None) -> None:
        super().__init__()
        self.model: HeldModel = HeldModel()
        self.target = replace(self.target, models={"dense": self.model})
        self.batchers = Batchers()
        self.finishing = finishing
        if finishing is not None:
            finishing.start()
        self._made = [self.batchers]
        self._pool = ThreadPoolExecutor(16)

    def another_worker(self) -> Reconciler:
        self._made.append(Batchers())
        return replace(self.reconciler(), batchers=self._made[-1])

    def begin(self, document_id: str, text: str, worker: Reconciler | None = None, turns: Turns | None = None) -> "Future[None]":
        """Lets a worker have a document, and goes on."""
        self.source.put(document_id, text)
        self.enqueue(document_id)
        message = self.tasks.take()
        worker = worker or self.reconciler()

        def work() -> None:
            if turns is None:
                worker.reconcile(message, None, self.finishing)
            else:
                with turns.taken():
                    worker.reconcile(message, turns, self.finishing)
            if self.finishing is not None:
                self.finishing.join()

        return self._pool.submit(work)

    def index(self, document_id: str, text: str) -> Entry | None:
        self.begin(document_id, text).result(10)
        self.commit()
        return self.entry(document_id)

    def wait_for_requests(self, count: int) -> None:
        wait_until(lambda: len(self.model.requests) >= count, f"{count} requests")

    def close(self) -> None:
        self.model.answer()
        for batchers in self._made:
            batchers.stop()
        self._pool.shutdown()
        assert all(batchers.join(10.0) for batchers in self._made)
        assert self.finishing is None or self.finishing.stop(10.0)


@pytest.fixture(params=[False, True], ids=["in a thread", "without a thread"])
def world(request: pytest.FixtureRequest) -> Iterator[Fleet]:
    world = Fleet(Joined() if request.param else None)
    yield world
    world.close()


def test_a_document_gets_its_vectors_from_the_provider_and_counts_them(world: Fleet) -> None:
    run, _ = world.state.ledger.start_run()
    world.source.put("a.md", "one\ntwo\none")
    world.tasks.send(world.state.ledger.enqueue(["a.md"], Lane.BULK, run_id=run.id), Lane.BULK)
    world.work()
    assert world.live_texts("a.md")["dense"] == ["one", "two", "one"]
    ended = world.state.ledger.run(run.id)
    assert ended is not None
    assert (ended.counters["chunks"], ended.counters["embedded"], ended.counters.get("reused", 0)) == (6, 2, 0)
    assert world.model.requests == [["one", "two"]]


def test_a_text_that_is_stored_is_not_asked_for(world: Fleet) -> None:
    world.index("a.md", "one")
    world.index("b.md", "one\ntwo")
    assert world.model.asked() == ["one", "two"]


def test_texts_that_another_worker_pays_for_are_waited_for_and_not_paid_for_again(world: Fleet) -> None:
    world.model.answer(0)
    first = world.begin("a.md", "shared\nonly a")
    world.wait_for_requests(1)
    second = world.begin("b.md", "only b\nshared", world.another_worker())
    wait_until(lambda: world.state.ledger.outstanding() == (0, 2), "both documents to be in work")
    world.model.answer()
    first.result(10)
    assert not second.done()
    world.commit()
    second.result(10)
    world.commit()
    assert world.live_texts("b.md")["dense"] == ["only b", "shared"]
    assert world.model.asked() == ["only a", "only b", "shared"]


def test_a_document_that_no_index_set_can_take_now_is_given_back(world: Fleet) -> None:
    def no_targets() -> list[Target]:
        raise StoreDown("its stores were swapped")

    world.source.put("a.md", "one")
    world.enqueue("a.md")
    worker = replace(world.reconciler(), targets=no_targets)
    world.keeper.pause = lambda seconds: None  # type: ignore[method-assign]  # the rest of two seconds
    worker.reconcile(world.tasks.take())
    assert world.keeper.held() == []
    assert world.state.ledger.outstanding() == (1, 0)
    world.work()
    assert world.live_texts("a.md")["dense"] == ["one"]


def test_what_was_paid_for_and_could_not_be_committed_is_not_paid_for_again(world: Fleet) -> None:
    world.begin("a.md", "one\ntwo").result(10)
    (prepared,), world.handed_over = world.handed_over, []
    world.memory.replace_server()
    committer = Committer(lambda _: world.state, world.tasks, world.keeper, linger_seconds=0.0, live_linger_seconds=0.0)
    committer.start()
    committer.submit(prepared)
    assert committer.stop(15)
    world.state.registry.reopen(7)
    world.tasks.send(world.state.ledger.resend_expired(9, suspects=False), Lane.BULK)
    world.another_worker().reconcile(world.tasks.take())
    world.commit()
    assert world.live_texts("a.md")["dense"] == ["one", "two"]
    assert world.model.asked() == ["one", "two"]


def test_what_was_claimed_by_a_document_that_fails_is_paid_for_by_the_one_that_waits(world: Fleet) -> None:
    def fail(texts: Sequence[str]) -> None:
        if "only a" in texts:
            raise ProviderTransient("no answer")

    world.model.fails = fail
    world.model.answer(0)
    first = world.begin("a.md", "shared\nonly a")
    world.wait_for_requests(1)
    second = world.begin("b.md", "shared", world.another_worker())
    world.model.answer()
    first.result(10)
    second.result(10)
    world.commit()
    assert world.live_texts("b.md")["dense"] == ["shared"]


def test_two_strategies_with_the_same_vectors_pay_for_a_text_once(world: Fleet) -> None:
    twin = replace(KB.strategies[0], name="twin")
    other = StrategySpec("other", StrategyKind.CHUNKED_EMBEDDINGS, 0.0, embedding=EmbeddingModelSpec("test", "another", 8))
    both = replace(KB, strategies=(*KB.strategies, twin, other))
    world.target = replace(world.target, knowledge_base=both, models={"dense": world.model, "twin": world.model, "other": HeldModel()})
    world.target.create_indexes()
    world.source.strategies_for = lambda document_id: ("dense", "words", "twin", "other")  # type: ignore[method-assign]
    run, _ = world.state.ledger.start_run()
    world.source.put("a.md", "one\ntwo")
    world.tasks.send(world.state.ledger.enqueue(["a.md"], Lane.BULK, run_id=run.id), Lane.BULK)
    world.work()
    assert world.model.requests == [["one", "two"]]
    ended = world.state.ledger.run(run.id)
    assert ended is not None
    assert (ended.counters["chunks"], ended.counters["embedded"], ended.counters["reused"]) == (8, 4, 2)


@pytest.mark.parametrize(
    "error", [ProviderRateLimited("429: later"), ProviderLeftAlone("it asked to be called later", 15.0), CallCancelled("cancelled")]
)
def test_a_document_that_meets_a_closed_gate_waits_in_the_ledger_and_has_not_failed(world: Fleet, error: Exception) -> None:
    def fail(texts: Sequence[str]) -> None:
        raise error

    world.model.fails = fail
    with capture_logs() as lines:
        assert world.index("a.md", "one") is None
    assert world.state.ledger.outstanding() == (1, 0)
    assert not world.tasks.messages
    assert [line for line in lines if line["log_level"] != "debug"] == []
    world.model.fails = lambda texts: None
    world.tasks.send(world.state.ledger.oldest_waiting(9), Lane.BULK)
    world.work()
    assert world.live_texts("a.md")["dense"] == ["one"]


@pytest.mark.parametrize("error", [ProviderTransient("503"), ProviderPermanent("401: no such key")])
def test_a_document_whose_request_failed_has_failed_with_the_providers_words_and_no_warning(world: Fleet, error: Exception) -> None:
    def fail(texts: Sequence[str]) -> None:
        raise error

    world.model.fails = fail
    with capture_logs() as lines:
        entry = world.index("a.md", "one")
    assert entry is not None
    assert (entry.state, entry.reason) == (DocumentState.FAILED, f"{error.code}: {error}")  # type: ignore[attr-defined]  # a ProviderError
    assert {line["log_level"] for line in lines} == {"info"}


def test_a_refused_text_costs_its_document_only_and_the_reason_names_its_lines(world: Fleet) -> None:
    world.model.answer(0)
    held = world.begin("first.md", "first")
    world.wait_for_requests(1)
    waiting = [world.begin("good.md", "fine\nalso fine"), world.begin("bad.md", "fine too\npoison")]
    world.model.answer()
    for future in [held, *waiting]:
        future.result(10)
    world.commit()
    assert world.live_texts("good.md")["dense"] == ["fine", "also fine"]
    bad = world.entry("bad.md")
    assert bad is not None
    assert bad.reason == "provider.text_refused: it refuses poison (the text of lines 2 to 2)"


def test_a_document_that_waits_lets_others_work(world: Fleet) -> None:
    turns = Turns(1)
    world.model.answer(0)
    waiting = [world.begin(name, name, turns=turns) for name in "abc"]
    wait_until(lambda: world.state.ledger.outstanding() == (0, 3), "all documents to be in work")
    world.model.answer()
    for future in waiting:
        future.result(10)
    assert len(world.handed_over) == 3


@pytest.mark.parametrize("world", [False], indirect=True)
def test_documents_that_wait_with_very_much_text_keep_their_turns(world: Fleet) -> None:
    turns = Turns(1, most_waiting_characters=10)
    world.model.answer(0)
    first = world.begin("a.md", "eight...", turns=turns)
    world.wait_for_requests(1)
    second = world.begin("b.md", "three", turns=turns)
    wait_until(lambda: world.state.ledger.outstanding() == (0, 2), "the second document")
    third = world.begin("c.md", "third", turns=turns)
    assert world.state.ledger.outstanding() == (1, 2)
    world.model.answer()
    for future in (first, second, third):
        future.result(10)
    assert len(world.handed_over) == 3


def test_the_deadline_of_a_document_does_not_run_while_it_waits_for_the_provider(world: Fleet) -> None:
    world.model.answer(0)
    waiting = world.begin("a.md", "one")
    world.wait_for_requests(1)
    for _ in range(140):
        world.clock.now += 5
        world.keeper.renew_all()
    world.model.answer()
    waiting.result(10)
    assert len(world.handed_over) == 1


def test_a_lease_that_is_lost_ends_the_waiting_at_once(world: Fleet) -> None:
    world.model.answer(0)
    waiting = world.begin("a.md", "one")
    world.wait_for_requests(1)
    world.clock.now += 31
    world.keeper.renew_all()
    waiting.result(10)
    assert not world.handed_over
    assert not world.keeper.held()


@pytest.mark.parametrize("world", [True], indirect=True)
def test_a_document_may_wait_when_its_thread_has_gone_on_to_others(world: Fleet) -> None:
    world.model.answer(0)
    for name in ("a.md", "b.md"):
        world.source.put(name, name)
        world.enqueue(name)
        world.reconciler().reconcile(world.tasks.take(), Turns(1), world.finishing)
    assert world.state.ledger.outstanding() == (0, 2)
    assert not world.handed_over
    world.model.answer()
    wait_until(lambda: len(world.handed_over) == 2, "both documents")
    world.commit()
    assert world.live_texts("b.md")["dense"] == ["b.md"]


def test_a_stop_ends_the_waiting_at_once_and_leaves_the_document_to_be_given_back(world: Fleet) -> None:
    world.model.answer(0)
    waiting = world.begin("a.md", "one")
    world.wait_for_requests(1)
    world.keeper.stop()
    assert world.batchers is not None
    world.batchers.stop()
    waiting.result(10)
    assert [attempt.document_id for attempt in world.keeper.held()] == ["a.md"]
    assert world.state.ledger.outstanding() == (0, 1)


def test_a_suspect_is_not_kept_alone_while_the_provider_makes_its_vectors(world: Fleet) -> None:
    alone: list[bool] = []
    embed: Callable[[Sequence[str]], list[Vector]] = world.model.embed_passages

    def embed_passages(texts: Sequence[str]) -> list[Vector]:
        alone.append(world.isolation.alone_now)
        return embed(texts)

    world.model.embed_passages = embed_passages  # type: ignore[method-assign]  # looks who is alone
    world.source.put("a.md", "one")
    world.enqueue("a.md")
    assert world.state.ledger.begin(world.tasks.take(), 30) is not None
    world.clock.now += 31
    world.tasks.send(world.state.ledger.resend_expired(9), Lane.BULK)
    world.work()
    assert world.isolation.fresh == [False]
    assert alone == [False]
    assert world.live_texts("a.md")["dense"] == ["one"]
