"""What becomes of summaries while their chat model fails, hangs or is to be left alone, and with several workers."""

from pathlib import Path
from typing import Any, Final

from support.fake_provider import FakeProvider, times_paid
from support.fake_provider_faults import Ending, Fault, rate_limited, unavailable
from support.fake_provider_log import HUNG_UP, Seen
from support.fleet import assert_clean
from support.provider_world import Base, ProviderDocmill, numbered, provider_fleet, write_documents, write_text
from support.waiting import wait_until

CHAT: Final = "/chat/completions"
STOP_SECONDS: Final = 10.0
SETTLE_SECONDS: Final = 240.0
#: The model's entry is made for embeddings; this provider's models write as well.
SUMMARIES: Final[dict[str, Any]] = {"type": "semantic-embeddings", "chat_model": "embedder_of_kb", "semantic_prompt": "Say: ${content}"}


def docmill(folder: Path, provider: FakeProvider, documents: int) -> ProviderDocmill:
    write_documents(folder / "docs", numbered(documents), parts=2)
    return ProviderDocmill(folder, provider, {"kb": Base(folder / "docs", embedding=SUMMARIES)})


def to_chat_model(log: list[Seen]) -> list[Seen]:
    return [seen for seen in log if seen.path.endswith(CHAT)]


def test_a_chat_model_that_asks_to_be_left_alone_is_and_what_it_had_written_is_not_paid_for_again(
    tmp_path: Path, provider: FakeProvider
) -> None:
    provider.fault(rate_limited(path=CHAT, times=1, after_requests=10, retry_after="3"))
    with docmill(tmp_path, provider, 20) as running:
        running.wait_for_state("backing_off")
        run = running.wait_for_run()
        assert (run["state"], run["counters"]["indexed"]) == ("complete", 20), running.said
    log = provider.log()
    (refused,) = [seen for seen in log if seen.status == 429]
    assert refused.ended_at is not None
    came_late = [seen.at - refused.ended_at for seen in log if seen.at > refused.ended_at]
    # Those that had left when the refusal was reported are no new ones.
    assert not [seconds for seconds in came_late if 0.5 < seconds < 3.0]
    paid = times_paid(log, CHAT)
    assert (len(paid), set(paid.values())) == (40, {1})
    assert running.said.count("provider_left_alone") == 1


def test_a_document_whose_summary_could_not_be_written_is_tried_again_by_the_next_run(tmp_path: Path, provider: FakeProvider) -> None:
    provider.fault(unavailable(path=CHAT, times=1, after_requests=5))
    with docmill(tmp_path, provider, 8) as running:
        first = running.wait_for_run()
        assert (first["state"], first["counters"]["failed.provider.transient"]) == ("complete_with_errors", 1), running.said
        running.post("/runs")
        second = running.wait_for_run(after=first["id"])
        assert (second["state"], second["counters"]["indexed"]) == ("complete", 1), running.said
    assert set(times_paid(provider.log(), CHAT).values()) == {1}


def test_a_stop_does_not_wait_for_a_chat_model_that_hangs(tmp_path: Path, provider: FakeProvider) -> None:
    provider.fault(Fault(ending=Ending.HANG, path=CHAT))
    with docmill(tmp_path, provider, 8) as running:
        provider.wait_for_requests(2)
        assert running.stop(seconds=STOP_SECONDS) == 4
    provider.wait_for(lambda log: all(seen.state == HUNG_UP for seen in to_chat_model(log)), "the connections to end", 10)


def test_a_text_that_many_documents_share_is_summarised_once_in_the_whole_fleet(tmp_path: Path, provider: FakeProvider) -> None:
    provider.latency(0.05)
    with provider_fleet(tmp_path, "kb", provider, embedding=SUMMARIES) as fleet:
        for number in range(40):
            write_text(fleet.documents / f"{number}.md", f"Everybody says this.\n\nOne of {number % 4} says that. {'word ' * 60}\n")
        api = fleet.start_all(workers=2)
        wait_until(lambda: api.status()["documents"]["live"] == 40, "all documents to be live", SETTLE_SECONDS)
        assert_clean(fleet)
    log = provider.log()
    asked, embedded = times_paid(log, CHAT), times_paid(log)
    assert set(asked.values()) == {1}
    assert set(embedded.values()) == {1}
    assert len(asked) == len(embedded)
