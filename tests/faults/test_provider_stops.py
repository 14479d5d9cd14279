"""What ends while a provider is awaited: workers, producers, runs, Redis."""

import time
from pathlib import Path
from typing import Final

import pytest

from support.fake_provider import FakeProvider
from support.fake_provider_faults import Ending, Fault, rate_limited
from support.fake_provider_log import HUNG_UP, UNDER_WAY
from support.fleet import assert_clean
from support.fleet_api import Api
from support.provider_world import Base, ProviderDocmill, numbered, provider_fleet, write_documents
from support.waiting import wait_until

ONE_BY_ONE: Final = {"embedding_batch_size": 1}
#: What a request may take at most; who waits for one to end by itself takes longer than a stop may.
HANGING: Final = Fault(ending=Ending.HANG)
#: A stop takes under 2 s on an idle machine.
STOP_SECONDS: Final = 10.0
SETTLE_SECONDS: Final = 240.0
#: By when every worker has noticed at the latest that the registry was opened again: it has begun something by then.
NOTICED_SECONDS: Final = 2.0


def answers(api: Api) -> bool:
    """Whether the query service can say how the knowledge base stands."""
    try:
        return bool(api.status())
    except AssertionError:
        return False


def test_processes_end_at_once_while_a_request_hangs(tmp_path: Path, provider: FakeProvider) -> None:
    provider.fault(HANGING)
    with provider_fleet(tmp_path, "hangs", provider, embedding=ONE_BY_ONE) as fleet:
        write_documents(fleet.documents, numbered(20))
        fleet.start_all(workers=2)
        provider.wait_for_requests(2)
        for member in fleet.members:
            assert member.stop(STOP_SECONDS) == 0
        provider.wait_for(lambda log: all(seen.state == HUNG_UP for seen in log), "the connections to end", 10)


def test_processes_end_at_once_while_the_provider_is_left_alone(tmp_path: Path, provider: FakeProvider) -> None:
    provider.fault(rate_limited(retry_after="120"))
    with provider_fleet(tmp_path, "closed", provider, embedding=ONE_BY_ONE) as fleet:
        names = write_documents(fleet.documents, numbered(20))
        api = fleet.start_all(workers=2)
        wait_until(lambda: (api.status()["run"] or {}).get("state") == "backing_off", "the run to back off", 60)
        for member in fleet.members[:-1]:
            assert member.stop(STOP_SECONDS) == 0
        assert api.status()["documents"] == {"live": 0, "pending": len(names), "skipped": 0, "empty": 0, "failed": 0, "quarantined": 0}
        assert fleet.members[-1].stop(STOP_SECONDS) == 0
        assert len(provider.log()) <= 3


@pytest.mark.parametrize("fault", [HANGING, rate_limited(retry_after="120")], ids=["hanging", "closed"])
def test_a_run_is_cancelled_at_once_and_docmill_ends_at_once(tmp_path: Path, provider: FakeProvider, fault: Fault) -> None:
    docs = tmp_path / "docs"
    write_documents(docs, numbered(20))
    provider.fault(fault)
    with ProviderDocmill(tmp_path, provider, {"kb": Base(docs, embedding=ONE_BY_ONE)}, "--no-watch") as docmill:
        provider.wait_for_requests(1)
        if fault.status == 429:
            docmill.wait_for_state("backing_off")
        docmill.cancel(docmill.run()["id"])
        assert docmill.wait_for_run(seconds=STOP_SECONDS)["state"] == "cancelled"
        provider.wait_for(lambda log: all(seen.state != UNDER_WAY for seen in log), "the requests to be given up", STOP_SECONDS)
        assert docmill.gate()["state"] == ("closed" if fault.status == 429 else "open")
        assert docmill.stop(seconds=STOP_SECONDS) in (0, 4)


@pytest.mark.parametrize("fault", [HANGING, rate_limited(retry_after="120")], ids=["hanging", "closed"])
def test_one_machine_ends_at_once_in_the_middle_of_a_run(tmp_path: Path, provider: FakeProvider, fault: Fault) -> None:
    docs = tmp_path / "docs"
    names = write_documents(docs, numbered(20))
    provider.fault(fault)
    bases = {"kb": Base(docs, embedding=ONE_BY_ONE)}
    with ProviderDocmill(tmp_path, provider, bases) as docmill:
        assert docmill.url
        provider.wait_for_requests(1)
        assert docmill.stop(seconds=STOP_SECONDS) in (0, 4)
    provider.wait_for(lambda log: all(seen.state != UNDER_WAY for seen in log), "the requests to be given up", STOP_SECONDS)
    if fault is HANGING:
        provider.heal()
        with ProviderDocmill(tmp_path, provider, bases) as docmill:
            docmill.wait_until(lambda: docmill.status()["documents"]["live"] == len(names), "all of it after a new start", SETTLE_SECONDS)
            assert docmill.documents("failed") == {}


def test_redis_is_killed_in_the_middle_of_a_paid_run(tmp_path: Path, provider: FakeProvider) -> None:
    provider.latency(0.1)
    with provider_fleet(tmp_path, "middle", provider, embedding={**ONE_BY_ONE, "max_embedding_concurrency": 3}) as fleet:
        names = write_documents(fleet.documents, numbered(200))
        api = fleet.start_all(workers=4)
        provider.wait_for_requests(15)
        killed_at = time.time()
        fleet.redis.kill()
        fleet.redis.start()
        wait_until(lambda: answers(api), "the registry to be opened again", 60)
        opened_at = time.time()
        api.wait_until_settled(len(names), SETTLE_SECONDS)
        paid_at: dict[str, list[float]] = {}
        for seen in provider.log():
            if seen.status == 200:
                paid_at.setdefault(seen.texts[0], []).append(seen.at)
        assert len(paid_at) == 200
        again = [times for times in paid_at.values() if len(times) > 1]
        assert all(len(times) == 2 for times in again)
        # What came shortly before the end could not be committed, nor what was on its way until every worker knew of it.
        assert [first - killed_at for first, _ in again if not killed_at - 3.0 < first < opened_at + NOTICED_SECONDS] == []
        assert_clean(fleet)


def test_workers_that_are_killed_while_one_probes_are_replaced(tmp_path: Path, provider: FakeProvider) -> None:
    provider.fault(rate_limited(retry_after="1", times=1), HANGING)
    with provider_fleet(tmp_path, "probing", provider, embedding=ONE_BY_ONE) as fleet:
        names = write_documents(fleet.documents, numbered(10))
        fleet.start("producer")
        workers = [fleet.start("worker", "--threads", "2") for _ in range(2)]
        api = fleet.start_api()
        wait_until(lambda: [gate["state"] for gate in api.status()["gate"]] == ["probing"], "a probe", 60)
        for worker in workers:
            worker.kill()
        provider.heal()
        before = len(provider.log())
        for _ in range(2):
            fleet.start("worker", "--threads", "2")
        api.wait_until_settled(len(names), SETTLE_SECONDS)
        probe = provider.log()[before]
        assert probe.status == 200
        assert_clean(fleet)
