"""``docmill doctor`` tries each model and says in one line what it saw, and what to do."""

import json
from pathlib import Path
from typing import Any

import pytest

from support.fake_provider import FakeProvider
from support.fake_provider_faults import Fault, no_such_model, rate_limited, unavailable, wrong_key
from support.running_docmill import docmill

KEY = "sk-a-secret-of-somebody"


def doctor(folder: Path, base_url: str, *models: str, dimensions: int = 8, key: str = KEY) -> tuple[int, list[dict[str, Any]]]:
    """The exit code, and what was found about embedding models, one finding each."""
    strategies = ", ".join(
        f"{{type: chunked-embeddings, name: s{place}, embedding_model: {model}, vector_dimensions: {dimensions}}}"
        for place, model in enumerate(models)
    )
    return doctor_of(folder, base_url, strategies, "embedding model", key)


def doctor_of(folder: Path, base_url: str, strategies: str, check: str, key: str = KEY) -> tuple[int, list[dict[str, Any]]]:
    """The exit code, and what ``check`` found."""
    (folder / "docs").mkdir()
    (folder / "docmill.yaml").write_text(
        f'providers: {{here: {{base_url: "{base_url}", token_key: MY_KEY}}}}\nrag: {{kb: {{docs: [docs], strategies: [{strategies}]}}}}\n',
        encoding="utf-8",
    )
    ended = docmill("doctor", "--json", cwd=folder, settings={"MY_KEY": key})
    found = json.loads(ended.stdout)["findings"]
    assert KEY not in ended.stdout + ended.stderr
    return ended.returncode, [one for one in found if one["check"] == check]


def test_it_says_which_model_made_what_and_how_long_it_took(tmp_path: Path, provider: FakeProvider) -> None:
    code, (finding,) = doctor(tmp_path, provider.base_url, "here/m")
    assert (code, finding["state"]) == (0, "ok")
    assert finding["detail"].startswith(f"here/m at {provider.base_url} made a vector of 8 dimensions in ")
    assert finding["detail"].endswith(" ms")
    assert len(provider.take()) == 1


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (wrong_key(), ("answered 401: Incorrect API key provided: ***; check the environment variable MY_KEY",)),
        (no_such_model(), ("answered 404: The model", "check the model's name (m) and base_url")),
        (unavailable(), ("answered 503", "try again later")),
        (rate_limited(retry_after="40"), ("answered 429: Rate limit reached", "try again in 40 s")),
        (Fault(status=200, body="<html><title>Welcome</title></html>"), ("cannot be used", "no embeddings API")),
    ],
    ids=["wrong key", "wrong model", "down", "rate limited", "another site"],
)
def test_a_failure_is_one_line_with_the_providers_words_and_what_to_do(
    tmp_path: Path, provider: FakeProvider, fault: Fault, words: tuple[str, ...]
) -> None:
    provider.fault(fault)
    code, (finding,) = doctor(tmp_path, provider.base_url, "here/m")
    assert (code, finding["state"]) == (1, "failed")
    assert "\n" not in finding["detail"]
    assert "here/m" in finding["detail"]
    assert [part for part in words if part not in finding["detail"]] == []


def test_vectors_of_another_length_are_found_with_what_to_set(tmp_path: Path, provider: FakeProvider) -> None:
    provider.fault(Fault(status=200, body={"data": [{"index": 0, "embedding": [0.5] * 8}], "model": "m"}))
    code, (finding,) = doctor(tmp_path, provider.base_url, "here/m", dimensions=4)
    assert code == 1
    assert "makes vectors of 8 dimensions where 4 are configured" in finding["detail"]
    assert finding["detail"].endswith("set vector_dimensions: 8, or name another embedding_model")


def test_an_unreachable_host_is_found(tmp_path: Path) -> None:
    code, (finding,) = doctor(tmp_path, "http://127.0.0.1:9/v1", "here/m")
    assert code == 1
    assert "cannot be reached" in finding["detail"]
    assert finding["detail"].endswith("check that the server runs, its base_url, and the network")


def test_a_missing_key_is_found_and_the_other_models_are_tried_all_the_same(tmp_path: Path, provider: FakeProvider) -> None:
    code, findings = doctor(tmp_path, provider.base_url, "here/m", "here/m", "openai/other", key="")
    assert code == 1
    assert [finding["state"] for finding in findings] == ["failed", "failed"], "one model is tried once"
    assert "set the environment variable MY_KEY" in findings[0]["detail"]
    assert "set the environment variable OPENAI_API_KEY" in findings[1]["detail"]


SUMMARIES = "{type: semantic-embeddings, embedding_model: here/m, vector_dimensions: 8, chat_model: here/writer}"


def test_a_chat_model_writes_a_word(tmp_path: Path, provider: FakeProvider) -> None:
    code, (finding,) = doctor_of(tmp_path, provider.base_url, SUMMARIES, "chat model")
    assert (code, finding["state"]) == (0, "ok")
    assert finding["detail"].startswith(f"here/writer at {provider.base_url} wrote an answer in ")


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (no_such_model(path="chat"), "check the model's name (writer) and base_url, which mostly ends in /v1"),
        (Fault(status=200, body="<html><title>Welcome</title></html>", path="chat"), "check base_url: what answers there is no chat API"),
        (
            Fault(status=200, body={"choices": [{"message": {"content": ""}, "finish_reason": "length"}]}, path="chat"),
            "give it a larger max_tokens in models:, or name another chat_model than writer",
        ),
    ],
    ids=["wrong model", "another API", "thinks only"],
)
def test_a_chat_model_that_fails_comes_with_what_to_do(tmp_path: Path, provider: FakeProvider, fault: Fault, words: str) -> None:
    provider.fault(fault)
    code, (finding,) = doctor_of(tmp_path, provider.base_url, SUMMARIES, "chat model")
    assert (code, finding["state"]) == (1, "failed")
    assert finding["detail"].endswith(f"; {words}")
