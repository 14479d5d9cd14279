"""The batchers of a process: one for whom texts wait, gone when nobody does."""

import threading
from collections.abc import Sequence
from dataclasses import replace

import pytest

from docmill.adapters.memory.models import hash_vector
from docmill.adapters.memory.state import MemoryState
from docmill.domain.errors import CallCancelled, ProviderLeftAlone, TextRefused
from docmill.domain.knowledge_bases import EmbeddingModelSpec
from docmill.indexing.batchers import Batchers, is_remote
from docmill.ports.models import Caller
from support.held_model import HeldModel

SPEC = EmbeddingModelSpec("openai", "m", batch_size=2)


class BoundModel(HeldModel):
    """Notes for whom it is called."""

    def __init__(self) -> None:
        super().__init__()
        self.callers: list[Caller] = []

    def on_behalf_of(self, caller: Caller) -> "BoundModel":
        self.callers.append(caller)
        return self


def nothing() -> None:
    pass


def test_a_model_is_remote_unless_it_runs_inside_docmill() -> None:
    assert is_remote(SPEC)
    assert is_remote(EmbeddingModelSpec("ollama", "m"))
    assert not is_remote(EmbeddingModelSpec("local", "all-minilm-l6-v2"))


def test_each_knowledge_base_and_run_has_its_own_requests_bound_to_it() -> None:
    model, batchers = BoundModel(), Batchers()
    callers = [Caller("a", "1"), Caller("a", "2"), Caller("b", "1"), Caller("a", "1")]
    for text, caller in zip(("one", "two", "three", "four"), callers, strict=True):
        assert batchers.embed(model, SPEC, caller, [text], nothing) == [hash_vector(text, 8)]
    assert model.callers == callers[:3]
    batchers.stop()
    assert batchers.join(10.0)


def test_a_batcher_that_nobody_uses_is_forgotten() -> None:
    now = [0.0]
    model, batchers = BoundModel(), Batchers(lambda: now[0])
    for text, run in (("one", "1"), ("two", "2"), ("three", "1")):
        batchers.embed(model, SPEC, Caller("a", run), [text], nothing)
        now[0] += 61
    assert [caller.run_id for caller in model.callers] == ["1", "2", "1"]
    batchers.stop()
    assert batchers.join(10.0)


def test_no_thread_outlives_a_stop_and_nothing_begins_after_it() -> None:
    before = set(threading.enumerate())
    model, batchers = BoundModel(), Batchers()
    batchers.embed(model, SPEC, Caller("a"), ["one"], nothing)
    batchers.stop()
    assert batchers.join(10.0)
    assert set(threading.enumerate()) <= before
    for caller in (Caller("a"), Caller("b")):
        with pytest.raises(CallCancelled):
            batchers.embed(model, SPEC, caller, ["two"], nothing)


def test_what_an_interrupted_attempt_has_paid_for_is_not_paid_for_again() -> None:
    model, batchers = BoundModel(), Batchers()
    model.answer()

    def is_left_alone_at_the_third(texts: Sequence[str]) -> None:
        if len(model.requests) == 3:
            raise ProviderLeftAlone("it is asked again later", 15.0)

    model.fails = is_left_alone_at_the_third
    texts = [f"text {number}" for number in range(5)]
    with pytest.raises(ProviderLeftAlone):
        batchers.embed(model, replace(SPEC, max_concurrency=1), Caller("a", "1"), texts, nothing)
    vectors = batchers.embed(model, replace(SPEC, max_concurrency=1), Caller("a", "2"), texts, nothing)
    assert [list(vector) for vector in vectors] == [pytest.approx(hash_vector(text, 8)) for text in texts]
    assert model.asked() == sorted([*texts, "text 4"])  # the one that was refused is asked for again
    batchers.stop()
    assert batchers.join(10.0)


def test_what_an_attempt_cannot_use_is_left_for_one_in_another_process() -> None:
    shelf = MemoryState("a").ledger
    first, second = BoundModel(), BoundModel()
    one, other = Batchers(), Batchers()
    texts = [f"text {number}" for number in range(5)]

    def is_left_alone_at_the_third(_: Sequence[str]) -> None:
        if len(first.requests) == 3:
            raise ProviderLeftAlone("it is asked again later", 15.0)

    first.fails = is_left_alone_at_the_third
    for model in (first, second):
        model.answer()
    spec = replace(SPEC, max_concurrency=1)
    with pytest.raises(ProviderLeftAlone):
        one.embed(first, spec, Caller("a", "1"), texts, nothing, shelf)
    vectors = other.embed(second, spec, Caller("a", "1"), texts, nothing, shelf)
    assert [list(vector) for vector in vectors] == [pytest.approx(hash_vector(text, 8)) for text in texts]
    assert second.asked() == ["text 4"]
    for batchers in (one, other):
        batchers.stop()
        assert batchers.join(10.0)


def test_a_refused_text_is_named_by_its_place_also_beside_those_that_are_kept() -> None:
    model, batchers = BoundModel(), Batchers()
    model.answer()
    batchers.embed(model, SPEC, Caller("a"), ["one", "two"], nothing)
    with pytest.raises(TextRefused) as refused:
        batchers.embed(model, SPEC, Caller("a"), ["one", "two", "poison", "three"], nothing)
    assert refused.value.place == 2
    batchers.stop()
    assert batchers.join(10.0)
