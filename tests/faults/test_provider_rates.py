"""A fleet at a provider that bears so much and no more: what the provider saw of it."""

from pathlib import Path
from typing import Final

from support.fake_provider import FakeProvider, times_paid
from support.fake_provider_faults import rate_limited
from support.fake_provider_limits import RateLimit
from support.fleet import Fleet, assert_clean
from support.fleet_api import Api
from support.provider_world import asked_between, most_in_a_window, numbered, provider_fleet, refusals, write_documents
from support.waiting import wait_until

#: How late a request may come that was on its way when another one was refused.
ON_ITS_WAY_SECONDS: Final = 2.0
FIRST_WINDOW_SECONDS: Final = 15.0
SETTLE_SECONDS: Final = 300.0


def start(fleet: Fleet, workers: int) -> Api:
    fleet.start("producer")
    for _ in range(workers):
        fleet.start("worker", "--threads", "2")
    return fleet.start_api()


def warnings_of(fleet: Fleet, words: str) -> list[str]:
    """The lines at warning or above that any process wrote and that have ``words`` in them."""
    lines = [line for member in fleet.members for line in member.said.splitlines()]
    return [line for line in lines if words in line and ("warning" in line.lower() or "error" in line.lower())]


def test_eight_workers_that_know_the_limit_are_never_refused(tmp_path: Path, provider: FakeProvider) -> None:
    provider.limit(RateLimit(requests_per_second=2, requests_per_minute=120))
    embedding, model = {"embedding_batch_size": 2}, {"requests_per_minute": 120}
    with provider_fleet(tmp_path, "limited", provider, embedding=embedding, model=model) as fleet:
        names = write_documents(fleet.documents, numbered(40), parts=2)
        api = start(fleet, workers=8)
        api.wait_until_settled(len(names), SETTLE_SECONDS)
        log = provider.log()
        assert refusals(log) == [], [(round(seen.at - log[0].at, 3), seen.status) for seen in log]
        assert most_in_a_window(log, 1.0) <= 2
        assert set(times_paid(log).values()) == {1}
        assert len(times_paid(log)) == 80
        assert warnings_of(fleet, "") == []
        assert_clean(fleet)


def test_eight_workers_that_do_not_know_the_limit_settle_under_it(tmp_path: Path, provider: FakeProvider) -> None:
    provider.limit(RateLimit(requests_per_second=2, header="Retry-After"))
    with provider_fleet(tmp_path, "learning", provider, embedding={"embedding_batch_size": 1}) as fleet:
        names = write_documents(fleet.documents, numbered(120))
        api = start(fleet, workers=8)
        api.wait_until_settled(len(names), SETTLE_SECONDS)
        log = provider.log()
        refused = refusals(log)
        print([round(seen.at - log[0].at, 1) for seen in refused], round(log[-1].at - log[0].at))  # noqa: T201
        last_minute = [seen for seen in refused if seen.at > log[-1].at - 60.0]
        assert len(last_minute) <= 1
        assert len(refused) < 10
        assert set(times_paid(log).values()) == {1}
        assert len(times_paid(log)) == 120
        assert_clean(fleet)


def test_nothing_is_asked_between_a_refusal_and_the_end_of_its_window(tmp_path: Path, provider: FakeProvider) -> None:
    provider.latency(0.1)
    provider.fault(rate_limited(times=1, after_requests=5))
    with provider_fleet(tmp_path, "closing", provider, embedding={"embedding_batch_size": 1}) as fleet:
        names = write_documents(fleet.documents, numbered(60))
        api = start(fleet, workers=4)
        provider.wait_for(refusals, "the refusal")
        wait_until(lambda: api.status()["run"]["state"] == "backing_off", "the run to back off", 10)
        status = api.status()
        assert status["run"]["retry_at"] is not None
        assert [gate["state"] for gate in status["gate"]] == ["closed"]
        api.wait_until_settled(len(names), SETTLE_SECONDS)
        log = provider.log()
        [refused] = refusals(log)
        assert refused.ended_at is not None
        late = asked_between(log, refused.ended_at, refused.ended_at + FIRST_WINDOW_SECONDS)
        assert [seen.at - refused.ended_at for seen in late if seen.at > refused.ended_at + ON_ITS_WAY_SECONDS] == []
        assert len(late) <= 3
        assert set(times_paid(log).values()) == {1}
        assert len(warnings_of(fleet, "text-embedding-3-small")) == 1
        assert_clean(fleet)


def test_texts_that_many_files_have_are_paid_once(tmp_path: Path, provider: FakeProvider) -> None:
    provider.latency(0.3)
    bare = {"prepend_headings": False}  # otherwise each text begins with the name of its file
    with provider_fleet(tmp_path, "same", provider, embedding={"embedding_batch_size": 4}, more=bare) as fleet:
        text = write_documents(tmp_path / "elsewhere", ["one.md"], parts=5)
        same = (tmp_path / "elsewhere" / text[0]).read_text()
        for name in numbered(40):
            (fleet.documents / name).write_text(same)
        api = start(fleet, workers=4)
        api.wait_until_settled(40, SETTLE_SECONDS)
        log = provider.log()
        assert set(times_paid(log).values()) == {1}
        assert len(times_paid(log)) == 5
        assert_clean(fleet)


def test_an_interrupted_document_is_paid_once_whichever_worker_goes_on(tmp_path: Path, provider: FakeProvider) -> None:
    provider.latency(0.05)
    provider.fault(*(rate_limited(retry_after="1", times=1, after_requests=count) for count in (10, 25)))
    with provider_fleet(tmp_path, "parts", provider, embedding={"embedding_batch_size": 1, "max_embedding_concurrency": 8}) as fleet:
        names = write_documents(fleet.documents, numbered(6), parts=8)
        api = start(fleet, workers=4)
        api.wait_until_settled(len(names), SETTLE_SECONDS)
        paid = times_paid(provider.log())
        assert (len(paid), set(paid.values())) == (48, {1})
        assert len(refusals(provider.log())) == 2
        assert_clean(fleet)
