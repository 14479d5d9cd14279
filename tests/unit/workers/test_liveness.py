"""A worker is judged by its progress."""

from docmill_workers.liveness import Liveness


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def judged(liveness: Liveness, clock: Clock, queued: int, *, after: float) -> float:
    clock.now += after
    return liveness.starving_seconds(queued)


def test_a_worker_that_takes_nothing_from_a_full_queue_starves() -> None:
    clock = Clock()
    liveness = Liveness(clock, patience_seconds=60.0)
    found = [judged(liveness, clock, 5, after=10.0) for _ in range(10)]
    assert found[:7] == [0.0] * 7
    assert found[-1] > 60.0


def test_a_worker_is_well_while_its_queue_is_empty() -> None:
    clock = Clock()
    liveness = Liveness(clock, patience_seconds=60.0)
    assert [judged(liveness, clock, 0, after=100.0) for _ in range(5)] == [0.0] * 5


def test_a_message_taken_since_the_last_look_is_progress() -> None:
    clock = Clock()
    liveness = Liveness(clock, patience_seconds=60.0)
    for _ in range(10):
        with liveness.working():
            pass
        assert judged(liveness, clock, 5, after=50.0) == 0.0


def test_a_long_document_in_work_is_no_standstill() -> None:
    clock = Clock()
    liveness = Liveness(clock, patience_seconds=60.0)
    with liveness.working():
        assert [judged(liveness, clock, 5, after=100.0) for _ in range(3)] == [0.0] * 3


def test_time_before_the_queue_filled_does_not_count() -> None:
    clock = Clock()
    liveness = Liveness(clock, patience_seconds=60.0)
    judged(liveness, clock, 0, after=1000.0)
    assert judged(liveness, clock, 5, after=1.0) == 0.0
    assert judged(liveness, clock, 5, after=59.0) == 0.0
    assert judged(liveness, clock, 5, after=2.0) > 60.0
