"""Reranking by a provider that fails: the answer has all results, in the order that they had, and says so."""

import json
from pathlib import Path
from typing import Any, Final

import pytest

from support.fake_provider import FakeProvider
from support.fake_provider_faults import Ending, Fault
from support.provider_world import KEY_VARIABLE, made_key
from support.running_docmill import RunningDocmill

RERANK: Final = "/rerank"
#: BM25 prefers the one with the rare word; the model counts how many of the words that are asked for a passage has.
TEXTS: Final = {"rare.md": "anchor anchor anchor", **{f"{number}.md": f"harbour boat {number}" for number in range(4)}}
QUERY: Final = "anchor harbour boat"


def write_configuration(folder: Path, provider: FakeProvider, **reranking: Any) -> Path:
    docs = folder / "docs"
    docs.mkdir()
    for name, text in TEXTS.items():
        (docs / name).write_text(text + "\n")
    base = {
        "docs": [str(docs)],
        "strategies": [{"type": "bm25"}],
        "results": {"reranking": {"model": "judge", "threshold": 0.0, **reranking}},
    }
    judge = {"provider": "openai", "model": "my-rerank-model", "base_url": provider.base_url, "token_key": KEY_VARIABLE}
    path = folder / "docmill.yaml"
    path.write_text(json.dumps({"models": {"judge": judge}, "rag": {"kb": base}}))
    return path


def running(folder: Path, provider: FakeProvider, **settings: str) -> RunningDocmill:
    configuration = write_configuration(folder, provider)
    return RunningDocmill(configuration, folder / "data", settings={KEY_VARIABLE: made_key("judge"), **settings})


def search(docmill: RunningDocmill, query: str = QUERY, **more: Any) -> dict[str, Any]:
    return docmill.search(query, include_score=True, **more)


def names(answer: dict[str, Any]) -> list[str]:
    return [Path(result["document_id"]).name for result in answer["results"]]


def asked(provider: FakeProvider) -> int:
    return sum(RERANK in seen.path for seen in provider.log())


def test_results_come_in_the_order_of_the_model_and_every_failure_costs_the_order_alone(tmp_path: Path, provider: FakeProvider) -> None:
    with running(tmp_path, provider) as docmill:
        docmill.wait_until(lambda: docmill.status()["documents"]["live"] == len(TEXTS), "everything to be indexed", 60)
        plain = search(docmill, rerank=False)
        assert (plain["reranked"], plain["degraded"], asked(provider)) == (False, [], 0)
        reranked = search(docmill)
        assert (names(plain)[0], names(reranked)[-1]) == ("rare.md", "rare.md")
        assert (len(reranked["results"]), reranked["reranked"], reranked["degraded"]) == (len(TEXTS), True, [])
        assert [result["score"] for result in reranked["results"]] == sorted((r["score"] for r in reranked["results"]), reverse=True)

        for fault in (
            Fault(status=500, path=RERANK),
            Fault(status=200, body="{nonsense", path=RERANK),
            Fault(ending=Ending.RESET, path=RERANK),
        ):
            provider.fault(fault)
            answer = search(docmill)
            assert (names(answer), answer["reranked"]) == (names(plain), False)
            assert [one["strategy"] for one in answer["degraded"]] == ["reranking"]
            provider.heal()
            assert search(docmill)["reranked"] is True


def test_a_model_that_hangs_costs_a_query_its_time_limit_and_no_more(tmp_path: Path, provider: FakeProvider) -> None:
    with running(tmp_path, provider, DOCMILL_QUERY_TIMEOUT_SECONDS="1") as docmill:
        docmill.wait_until(lambda: docmill.status()["documents"]["live"] == len(TEXTS), "everything to be indexed", 60)
        provider.fault(Fault(ending=Ending.HANG, path=RERANK))
        answer = search(docmill)
        assert (len(answer["results"]), answer["reranked"]) == (len(TEXTS), False)
        assert [one["code"] for one in answer["degraded"]] == ["search.strategy_late"]


@pytest.mark.parametrize("status", [401, 404])
def test_a_model_that_refuses_is_not_asked_again_and_the_status_says_why(tmp_path: Path, provider: FakeProvider, status: int) -> None:
    with running(tmp_path, provider) as docmill:
        docmill.wait_until(lambda: docmill.status()["documents"]["live"] == len(TEXTS), "everything to be indexed", 60)
        provider.fault(Fault(status=status, body={"error": {"message": "no such judge for {key}"}}, path=RERANK))
        answers = [search(docmill) for _ in range(3)]
        assert asked(provider) == 1
        for answer in answers:
            assert (len(answer["results"]), answer["reranked"]) == (len(TEXTS), False)
            (degraded,) = answer["degraded"]
            assert degraded["code"] == "provider.permanent"
            assert "no such judge" in degraded["reason"]
            assert made_key("judge") not in degraded["reason"]
        (reranker,) = docmill.status()["reranking"]
        assert (reranker["model"], reranker["ok"]) == ("judge", False)
        assert "no such judge" in reranker["detail"]
        assert docmill.said.count("reranker_switched_off") == 1
