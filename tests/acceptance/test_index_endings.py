"""``docmill index`` against a provider: how it ends, and what its exit code says of that."""

import json
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from support.fake_provider import FakeProvider
from support.fake_provider_faults import poison, rate_limited, unavailable, wrong_key
from support.running_docmill import RunningDocmill, docmill

KEY = "sk-a-secret-of-somebody"


@pytest.fixture
def configuration(tmp_path: Path, provider: FakeProvider) -> Path:
    docs = tmp_path / "docs"
    docs.mkdir()
    for number in range(3):
        (docs / f"{number}.md").write_text(f"# Part {number}\n\nSomething of its own: {number}.\n", encoding="utf-8")
    path = tmp_path / "docmill.yaml"
    path.write_text(
        f'providers: {{here: {{base_url: "{provider.base_url}", token_key: MY_KEY}}}}\n'
        "rag: {kb: {docs: [docs], strategies: [{type: bm25}, "
        "{type: chunked-embeddings, embedding_model: here/m, vector_dimensions: 8}]}}\n",
        encoding="utf-8",
    )
    return path


def index(configuration: Path, *arguments: str, seconds: float = 90.0) -> "subprocess.CompletedProcess[str]":
    return docmill("index", configuration, *arguments, cwd=configuration.parent, settings={"MY_KEY": KEY}, seconds=seconds)


def run_in(ended: "subprocess.CompletedProcess[str]") -> dict[str, Any]:
    found: dict[str, Any] = json.loads(ended.stdout)["kb"]
    return found


def test_a_complete_run_ends_with_0_and_is_printed_as_http_shows_it(configuration: Path) -> None:
    ended = index(configuration, "--json")
    assert ended.returncode == 0, ended.stderr
    run = run_in(ended)
    assert (run["state"], run["counters"]["indexed"], run["counters"]["embedded"]) == ("complete", 3, 3)
    assert run["counters"]["tokens"] > 3, "what the provider has counted"
    assert {"id", "state", "counters", "started_at", "finished_at", "pending"} == set(run)
    assert run["started_at"].endswith("Z")


def test_a_run_with_files_that_failed_ends_with_1_and_lists_them(configuration: Path, provider: FakeProvider) -> None:
    provider.fault(poison("Part 1"))
    ended = index(configuration, "--json")
    assert ended.returncode == 1, ended.stderr
    assert run_in(ended)["state"] == "complete_with_errors"
    listed = docmill("status", "--state", "failed", cwd=configuration.parent, settings={"MY_KEY": KEY})
    assert listed.returncode == 0
    assert listed.stdout.startswith("docs/1.md: provider.text_refused: here/m")
    assert "1 file is failed" in listed.stderr
    as_json = docmill("status", "--state", "failed", "--json", cwd=configuration.parent, settings={"MY_KEY": KEY})
    (document,) = json.loads(as_json.stdout)["kb"]
    assert (document["document_id"], document["state"]) == ("docs/1.md", "failed")


def test_files_that_failed_by_their_provider_are_tried_again_on_request(configuration: Path, provider: FakeProvider) -> None:
    provider.fault(poison("Part 1"))
    assert index(configuration).returncode == 1
    provider.heal()
    retried = docmill("retry", cwd=configuration.parent, settings={"MY_KEY": KEY})
    assert (retried.returncode, "1 file is tried again" in retried.stdout) == (0, True)
    ended = index(configuration, "--json")
    assert ended.returncode == 0, ended.stderr
    assert run_in(ended)["counters"]["indexed"] == 1


def test_a_refused_key_ends_with_3_in_the_providers_words_without_the_key(configuration: Path, provider: FakeProvider) -> None:
    provider.fault(wrong_key())
    ended = index(configuration, "--json")
    assert ended.returncode == 3, ended.stderr
    run = run_in(ended)
    assert run["state"] == "failed"
    assert "provider.permanent" in run["error"]
    assert "Incorrect API key provided: ***" in run["error"]
    assert KEY not in ended.stdout + ended.stderr


def test_a_provider_that_is_down_ends_with_3(configuration: Path, provider: FakeProvider) -> None:
    provider.fault(unavailable())
    ended = index(configuration, "--json")
    assert ended.returncode == 3, ended.stderr
    assert run_in(ended)["state"] == "failed"


def test_who_does_not_want_to_wait_for_the_provider_is_told_until_when_and_ends_with_3(configuration: Path, provider: FakeProvider) -> None:
    provider.fault(rate_limited(retry_after="40"))
    ended = index(configuration, "--no-wait", "--json")
    assert ended.returncode == 3, ended.stderr
    run = run_in(ended)
    assert run["state"] == "backing_off"
    assert run["retry_at"] > run["started_at"]
    assert "a provider is called again at" in ended.stderr


def test_it_waits_for_the_provider_says_so_once_and_goes_on(configuration: Path, provider: FakeProvider) -> None:
    provider.fault(rate_limited(retry_after="2", times=1))
    ended = index(configuration, "--json", seconds=90)
    assert ended.returncode == 0, ended.stderr
    assert run_in(ended)["counters"]["indexed"] == 3
    assert ended.stderr.count("kb: backing off: a provider is called again at") == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stop_while_it_waits_for_the_provider_ends_with_4(configuration: Path, provider: FakeProvider, number: signal.Signals) -> None:
    provider.fault(rate_limited(retry_after="10"))
    command = RunningDocmill(configuration, configuration.parent / "data", verb="index", settings={"MY_KEY": KEY})
    with command as running:
        running.wait_until(lambda: "backing off" in running.said, "the wait to be said")
        assert running.stop(number) == 4
    provider.heal()
    again = index(configuration, "--data-dir", str(configuration.parent / "data"), seconds=90)
    assert again.returncode == 0, "the next one waits for what is left of the time, and goes on"
