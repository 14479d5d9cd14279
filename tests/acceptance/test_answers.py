"""Answers with citations, by the command and over HTTP, from a chat model that is a process of its own."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from support.fake_provider import FakeProvider
from support.fake_provider_faults import Ending, Fault
from support.fake_provider_log import HUNG_UP
from support.provider_world import KEY_VARIABLE, made_key
from support.running_docmill import RunningDocmill, docmill

CHAT: Final = "/chat/completions"
HANDBOOK: Final = "# Handbook\n\n## Refunds\n\nA refund takes thirty days.\n\n## Boats\n\nA boat lies in the harbour.\n"


@pytest.fixture
def running(tmp_path: Path, provider: FakeProvider) -> Iterator[RunningDocmill]:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "handbook.md").write_text(HANDBOOK)
    writer = {"provider": "openai", "model": "my-chat", "base_url": provider.base_url, "token_key": KEY_VARIABLE}
    strategies = [{"type": "bm25", "chunking": {"size": 60, "overlap": 0}}]
    rag = {
        "handbook": {"docs": [str(docs)], "strategies": strategies, "answer": {"model": "writer", "min_score": 0.01}},
        "mute": {"docs": [str(docs)], "strategies": strategies},
    }
    configuration = tmp_path / "docmill.yaml"
    configuration.write_text(json.dumps({"models": {"writer": writer}, "rag": rag}))
    with RunningDocmill(configuration, tmp_path / "data", settings={KEY_VARIABLE: made_key("writer")}) as started:
        for kb in ("handbook", "mute"):
            started.wait_until_indexed(kb)
        yield started


def answer(running: RunningDocmill, question: str, kb: str = "handbook", **body: Any) -> httpx.Response:
    return httpx.post(f"{running.url}/v1/knowledge-bases/{kb}/answer", json={"question": question, **body}, timeout=30)


def events(running: RunningDocmill, question: str) -> list[tuple[str, Any]]:
    said = answer(running, question, stream=True)
    assert said.headers["content-type"].startswith("text/event-stream")
    blocks = [block.split("\n") for block in said.text.strip().split("\n\n")]
    return [(head.removeprefix("event: "), json.loads(data.removeprefix("data: "))) for head, data in blocks]


def test_an_answer_cites_what_it_is_from_whole_and_in_events(running: RunningDocmill) -> None:
    whole = answer(running, "How long does it take to get a refund").json()
    assert whole["text"] == "It is about refund [1], and more."
    (citation,) = whole["citations"]
    assert citation["label"] == "[1] Handbook › Refunds (handbook.md:1-5)"
    place = (Path(citation["document_id"]).name, citation["start_line"], citation["end_line"])
    assert (citation["number"], place) == (1, ("handbook.md", 1, 5))
    assert (whole["citations_used"], whole["citations_invalid"], whole["is_grounded"], whole["declined"]) == (1, 1, True, False)
    assert whole["freshness"]["unverified"] is False

    came = events(running, "How long does it take to get a refund")
    assert [name for name, _ in came if name != "delta"] == ["passages", "citations", "done"]
    assert came[0][1]["passages"][0]["text"].endswith("A refund takes thirty days.")
    assert "".join(data["text"] for name, data in came if name == "delta") == whole["text"]
    assert {**came[-1][1], "took_ms": 0, "freshness": 0} == {**whole, "took_ms": 0, "freshness": 0}


def test_what_the_documents_do_not_answer_is_declined_with_and_without_the_model(running: RunningDocmill, provider: FakeProvider) -> None:
    declined = answer(running, "Does a boat have a captain").json()
    assert (declined["text"], declined["declined"], declined["is_grounded"]) == ("The documents say nothing about captain.", True, False)
    provider.take()
    nothing = answer(running, "Welche Farbe hat die Giraffe?").json()
    assert (nothing["text"], nothing["declined"]) == ("Die Dokumente beantworten diese Frage nicht.", True)
    assert nothing["citations_offered"] == 0
    assert provider.log() == []


def test_without_a_chat_model_the_service_says_so(running: RunningDocmill) -> None:
    refused = answer(running, "How long?", kb="mute")
    assert (refused.status_code, refused.json()["code"]) == (501, "answer.no_model")


def test_a_model_that_fails_is_an_error_and_no_answer(running: RunningDocmill, provider: FakeProvider) -> None:
    provider.fault(Fault(status=500, body={"error": {"message": "broken for {key}"}}, path=CHAT))
    refused = answer(running, "What about a refund")
    assert (refused.status_code, refused.json()["code"]) == (503, "provider.transient")
    assert made_key("writer") not in refused.text
    came = events(running, "What about a refund")
    assert [name for name, _ in came] == ["passages", "error"]
    assert came[-1][1]["code"] == "provider.transient"


def test_a_client_that_hangs_up_ends_the_call_of_the_model(running: RunningDocmill, provider: FakeProvider) -> None:
    provider.fault(Fault(ending=Ending.HANG, path=CHAT))
    url = f"{running.url}/v1/knowledge-bases/handbook/answer"
    with httpx.stream("POST", url, json={"question": "What about a refund", "stream": True}, timeout=30) as response:
        lines = response.iter_lines()
        assert next(lines) == "event: passages"
        provider.wait_for(lambda log: any(CHAT in seen.path for seen in log), "the model to be asked", 30)
    provider.wait_for(lambda log: all(seen.state == HUNG_UP for seen in log if CHAT in seen.path), "the call to end", 30)


def test_the_command_writes_the_answer_and_its_sources(running: RunningDocmill, tmp_path: Path) -> None:
    def ask(question: str, *more: str) -> Any:
        return docmill("ask", question, "--kb", "handbook", "--data-dir", tmp_path / "data", *more)

    found = ask("What about a refund")
    assert (found.returncode, found.stdout) == (0, "It is about refund [1], and more.\n\n[1] Handbook › Refunds (handbook.md:1-5)\n")
    assert json.loads(ask("What about a refund", "--json").stdout)["is_grounded"] is True
    declined = ask("Has it a captain with a boat captain")
    assert (declined.returncode, declined.stdout.strip()) == (1, "The documents say nothing about captain.")
    mute = docmill("ask", "What?", "--kb", "mute", "--data-dir", tmp_path / "data")
    assert mute.returncode == 2
    assert "answer: {model" in mute.stderr
