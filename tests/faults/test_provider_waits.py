"""A provider that asks to be called later is left alone for as long as it says, by everybody who has the same credential."""

from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Final

from support.fake_provider import FakeProvider, times_paid
from support.fake_provider_faults import Fault, rate_limited
from support.fake_provider_log import fingerprint
from support.provider_world import KEY_VARIABLE, Base, ProviderDocmill, asked_between, made_key, numbered, refusals, write_documents

#: How late a request may come that was on its way when another one was refused.
ON_ITS_WAY_SECONDS: Final = 1.0
#: How long a gate is closed at least for a refusal that says nothing.
FIRST_WINDOW_SECONDS: Final = 15.0
REFUSAL: Final = {"error": {"message": "Rate limit reached for requests", "type": "requests", "code": "rate_limit_exceeded"}}

#: What a provider may say, and how many seconds that is at least.
HINTS: Final[list[tuple[Mapping[str, str], float]]] = [
    ({"Retry-After": "2"}, 2.0),
    ({"Retry-After": "1.5"}, 1.5),
    ({"Retry-After": "date in 3"}, 2.0),
    ({"retry-after-ms": "1500"}, 1.5),
    ({"x-ratelimit-reset-requests": "1s500ms", "x-ratelimit-remaining-requests": "0"}, 1.5),
]


def test_what_a_provider_says_of_its_return_is_obeyed(tmp_path: Path, provider: FakeProvider) -> None:
    docs = tmp_path / "docs"
    write_documents(docs, numbered(1))
    with ProviderDocmill(tmp_path, provider, {"kb": Base(docs)}) as docmill:
        docmill.wait_for_run()
        docmill.wait_until_it_watches()
        for number, (headers, least_seconds) in enumerate(HINTS, 1):
            provider.take()
            provider.fault(Fault(status=429, body=REFUSAL, headers=headers, times=1))
            [name] = write_documents(docs, numbered(1, number))
            docmill.wait_until(lambda name=name: docmill.finds(name), name)
            refused, again = provider.log()[:2]
            assert (refused.status, again.status) == (429, 200), headers
            waited = again.at - (refused.ended_at or 0)
            assert least_seconds <= waited < FIRST_WINDOW_SECONDS, headers


def test_a_provider_that_goes_on_refusing_is_tried_by_one_request_at_a_time(tmp_path: Path, provider: FakeProvider) -> None:
    docs = tmp_path / "docs"
    names = write_documents(docs, numbered(20))
    provider.fault(rate_limited(retry_after="1"))
    with ProviderDocmill(tmp_path, provider, {"kb": Base(docs, embedding={"embedding_batch_size": 1})}) as docmill:
        log = provider.wait_for(lambda log: len(log) > 0 and log[-1].at > log[0].at + 6.0, "some windows")
        first = log[0].ended_at or 0.0
        alone = [seen for seen in log if seen.at > first + ON_ITS_WAY_SECONDS]
        assert len(log) - len(alone) <= 3
        assert len(alone) >= 2
        assert all(later.at - (earlier.ended_at or 0) >= 1.0 for earlier, later in pairwise(alone))
        assert docmill.run()["state"] == "backing_off"
        provider.heal()
        assert docmill.wait_for_run()["state"] == "complete"
        assert docmill.status()["documents"]["live"] == len(names)
        assert set(times_paid(provider.log()).values()) == {1}


def test_knowledge_bases_with_one_credential_wait_together_and_others_do_not(tmp_path: Path, provider: FakeProvider) -> None:
    one_by_one = {"embedding_batch_size": 1}
    together = {f"kb{number}": Base(tmp_path / f"docs{number}", embedding=one_by_one) for number in range(5)}
    other = Base(tmp_path / "other", key_variable="OTHER_KEY", embedding=one_by_one)
    for number, base in enumerate((*together.values(), other)):
        write_documents(base.docs, numbered(20, 100 * number))
    provider.latency(0.1)
    provider.fault(rate_limited(retry_after="60", key=made_key(KEY_VARIABLE), after_requests=5))
    with ProviderDocmill(tmp_path, provider, {**together, "other": other}) as docmill:
        for name in together:
            docmill.wait_for_state("backing_off", name)
        assert docmill.wait_for_run("other")["state"] == "complete"
        docmill.wait_until_it_watches("other")
        [fresh] = write_documents(other.docs, numbered(1, 900))
        docmill.wait_until(lambda: docmill.finds(fresh, "other"), "what comes later with the other credential")
        gates = [docmill.gate(name) for name in together]
        assert [gate["state"] for gate in gates] == ["closed"] * 5
        assert len({gate["opens_at"] for gate in gates}) == 1
        assert docmill.gate("other")["state"] == "open"
        log = provider.log()
        shared = [seen for seen in log if seen.key == fingerprint(made_key(KEY_VARIABLE))]
        refused_at = refusals(shared)[0].ended_at or 0.0
        late = asked_between(shared, refused_at, float("inf"))
        assert [seen for seen in late if seen.at > refused_at + ON_ITS_WAY_SECONDS] == []
        assert refusals([seen for seen in log if seen not in shared]) == []
