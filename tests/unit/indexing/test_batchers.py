"""The batchers of a process: one for whom texts wait, gone when nobody does."""

import threading

import pytest

from docmill.adapters.memory.models import hash_vector
from docmill.domain.errors import CallCancelled
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
    for caller in callers:
        assert batchers.embed(model, SPEC, caller, ["one"], nothing) == [hash_vector("one", 8)]
    assert model.callers == callers[:3]
    batchers.stop()
    assert batchers.join(10.0)


def test_a_batcher_that_nobody_uses_is_forgotten() -> None:
    now = [0.0]
    model, batchers = BoundModel(), Batchers(lambda: now[0])
    for run in ("1", "2", "1"):
        batchers.embed(model, SPEC, Caller("a", run), ["one"], nothing)
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
