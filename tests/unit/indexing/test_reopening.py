"""A registry whose server was replaced is opened again above every epoch that the stores know; state and stores are the twins in memory."""

import pytest

from docmill.domain.errors import StateSetBack
from docmill.domain.generations import epoch_of
from docmill.domain.registry import Lane
from docmill.indexing.reopening import reopen_if_set_back
from support.indexing_world import World


@pytest.fixture
def world() -> World:
    made = World(refresh_needed=True)
    made.source.put("a.md", "one")
    made.enqueue("a.md")
    made.work()
    return made


def reopen(world: World) -> bool:
    return reopen_if_set_back(world.state, (world.vectors, world.lexical), world.tasks, "kb")


def test_a_state_that_was_not_set_back_is_left_alone(world: World) -> None:
    before = world.state.registry.position()
    assert not reopen(world)
    assert world.state.registry.position() == before
    assert world.state.ledger.current_run() is None


def test_the_new_epoch_is_above_what_the_stores_know_and_known_to_them(world: World) -> None:
    world.vectors.raise_epoch(7)
    world.memory.replace_server()
    assert reopen(world)
    assert not reopen(world)
    assert (world.state.registry.position().epoch, world.vectors.epoch(), world.lexical.epoch()) == (8, 8, 8)


def test_the_stores_know_the_new_epoch_before_anything_is_minted_in_it(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.memory.replace_server()

    def fail(_: int) -> None:
        raise RuntimeError("killed")

    with monkeypatch.context() as patched:
        patched.setattr(world.lexical, "raise_epoch", fail)
        with pytest.raises(RuntimeError):
            reopen(world)
    assert world.state.registry.position().set_back
    with pytest.raises(StateSetBack):
        world.state.ledger.start_run()
    known = world.vectors.epoch()
    assert reopen(world)
    assert world.state.registry.position().epoch == known + 1


def test_what_was_in_work_is_sent_again_unsuspected_and_a_pass_is_asked_for(world: World) -> None:
    (message,) = world.state.ledger.enqueue(["a.md"], Lane.BULK)
    old = world.state.ledger.begin(message, 30)
    assert old is not None
    world.memory.replace_server()
    assert reopen(world)
    assert [sent.document_id for _, sent in world.tasks.messages] == ["a.md"]
    again = world.state.ledger.begin(world.tasks.take(), 30)
    assert again is not None
    assert again.suspicion is None
    assert epoch_of(again.generation) > epoch_of(old.generation)
    run = world.state.ledger.current_run()
    assert run is not None
    assert not run.state.final
