"""Documents that wait without a thread are finished once each, whichever comes first: their last step or what it needs."""

import threading
from collections.abc import Callable, Iterator

import pytest
from structlog.testing import capture_logs

from docmill.domain.errors import CallCancelled, StoreDown
from docmill.indexing.finishing import Finishing
from support.waiting import wait_until


class Document:
    """What a document asks for and what is done when that is there."""

    def __init__(self) -> None:
        self.tell: Callable[[], None] = lambda: None
        self.finished = 0

    def ask(self, tell: Callable[[], None]) -> Callable[[], None]:
        self.tell = tell
        return self.finish

    def finish(self) -> None:
        self.finished += 1


@pytest.fixture
def make() -> Iterator[Callable[..., Finishing]]:
    made: list[Finishing] = []

    def make(**bounds: float) -> Finishing:
        made.append(Finishing(**bounds))  # type: ignore[arg-type]  # counts and seconds
        made[-1].start()
        return made[-1]

    yield make
    assert all(finishing.stop(10.0) for finishing in made)


def test_a_document_is_finished_when_what_it_waits_for_is_there_and_once(make: Callable[..., Finishing]) -> None:
    finishing, document = make(), Document()
    assert finishing.defer(5, document.ask)
    assert document.finished == 0
    document.tell()
    document.tell()
    wait_until(lambda: document.finished == 1, "the step")
    assert finishing.stop(10.0)
    assert document.finished == 1


def test_what_arrives_while_it_is_asked_for_finishes_the_document_too(make: Callable[..., Finishing]) -> None:
    document = Document()

    def ask(tell: Callable[[], None]) -> Callable[[], None]:
        tell()
        return document.finish

    assert make().defer(5, ask)
    wait_until(lambda: document.finished == 1, "the step")


def test_a_document_that_asks_for_nothing_does_not_wait(make: Callable[..., Finishing]) -> None:
    finishing = make(most_waiting=1)
    assert not finishing.defer(5, lambda tell: None)
    assert finishing.defer(5, Document().ask)  # there is room again


def test_what_asking_raises_is_raised_and_leaves_room(make: Callable[..., Finishing]) -> None:
    def ask(tell: Callable[[], None]) -> Callable[[], None]:
        raise StoreDown("out")

    finishing = make(most_waiting=1)
    with pytest.raises(StoreDown):
        finishing.defer(5, ask)
    assert finishing.defer(5, Document().ask)


@pytest.mark.parametrize("bounds", [{"most_waiting": 1}, {"most_characters": 9}])
def test_beyond_the_bounds_the_next_document_waits_for_room(make: Callable[..., Finishing], bounds: dict[str, int]) -> None:
    finishing, first, second = make(**bounds), Document(), Document()
    assert finishing.defer(5, first.ask)
    asked = threading.Event()
    later = threading.Thread(target=lambda: (finishing.defer(5, second.ask), asked.set()))
    later.start()
    assert not asked.wait(0.05)
    first.tell()
    assert asked.wait(10.0)
    second.tell()
    wait_until(lambda: second.finished == 1, "the step")
    later.join(10.0)


def test_a_stop_lets_those_go_on_who_wait_for_room(make: Callable[..., Finishing]) -> None:
    finishing = make(most_waiting=1)
    assert finishing.defer(5, Document().ask)
    raised: list[Exception] = []

    def ask(tell: Callable[[], None]) -> Callable[[], None]:
        raise CallCancelled("docmill is stopping")

    def defer() -> None:
        try:
            finishing.defer(5, ask)
        except CallCancelled as error:
            raised.append(error)

    later = threading.Thread(target=defer)
    later.start()
    assert finishing.stop(10.0)
    later.join(10.0)
    assert len(raised) == 1


def test_one_document_may_hold_more_than_all_together(make: Callable[..., Finishing]) -> None:
    assert make(most_characters=9).defer(100, Document().ask)


def test_a_document_whose_waiting_is_over_is_finished_though_nothing_has_come(make: Callable[..., Finishing]) -> None:
    finishing, document, over = make(look_seconds=0.01), Document(), threading.Event()
    other = Document()
    finishing.defer(5, other.ask)
    finishing.defer(5, document.ask, over.is_set)
    over.set()
    wait_until(lambda: document.finished == 1, "the step")
    document.tell()
    assert (document.finished, other.finished) == (1, 0)


@pytest.mark.parametrize(("error", "level"), [(StoreDown("out"), "warning"), (KeyError("a defect"), "error")])
def test_a_step_that_fails_harms_no_other_document(make: Callable[..., Finishing], error: Exception, level: str) -> None:
    def ask(tell: Callable[[], None]) -> Callable[[], None]:
        def fail() -> None:
            raise error

        tell()
        return fail

    finishing, document = make(), Document()
    with capture_logs() as lines:
        finishing.defer(5, ask)
        finishing.defer(5, document.ask)
        document.tell()
        wait_until(lambda: document.finished == 1, "the step")
    assert finishing.alive
    assert [line["log_level"] for line in lines] == [level]
