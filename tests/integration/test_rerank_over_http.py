"""Rerank models behind HTTP: what they send, and what they make of every kind of answer."""

from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest

from docmill.adapters.memory.language_models import ScriptedChatModel
from docmill.adapters.providers.failures import RequestRefused
from docmill.adapters.providers.language_models import rerank_model_for
from docmill.adapters.providers.rerank_chat import ChatRerankModel
from docmill.adapters.providers.rerank_prompt import SYSTEM
from docmill.domain.errors import ProviderPermanent, ProviderRateLimited, ProviderTransient, TextRefused
from docmill.ports.models import RerankModel
from support.language_model_connections import CHAT_PROVIDERS, KEY, spec_of
from support.language_model_server import LanguageModelServer, running_language_model_server

QUERY = "refunds take long"
PASSAGES = ["a lighthouse", "refunds take thirty days", " ", "refunds"]


@pytest.fixture(scope="module")
def server() -> Iterator[LanguageModelServer]:
    with running_language_model_server() as server:
        yield server


@contextmanager
def reranker(server: LanguageModelServer, reference: str, timeout_seconds: float = 20.0) -> Iterator[RerankModel]:
    provider, _, model = reference.partition("/")
    server.take_requests()
    made = rerank_model_for(spec_of(server, provider, model), credentials={"KEY": KEY}, timeout_seconds=timeout_seconds)
    with closing(made):
        yield made
    server.behave()


@pytest.mark.parametrize(
    ("reference", "path", "limit_key"),
    [("cohere/rerank-v3.5", "/v2/rerank", "top_n"), ("voyage/rerank-2.5", "/v1/rerank", "top_k"), ("dmr/ai/bge", "/rerank", "top_n")],
)
def test_every_passage_with_text_is_sent_in_one_request(server: LanguageModelServer, reference: str, path: str, limit_key: str) -> None:
    with reranker(server, reference) as model:
        assert model.score(QUERY, PASSAGES, criteria="Prefer short texts.") == [0.0, pytest.approx(2 / 3), None, pytest.approx(1 / 3)]
        [request] = server.take_requests()
    assert request["path"] == path
    assert request["headers"]["authorization"] == f"Bearer {KEY}"
    documents = [PASSAGES[0], PASSAGES[1], PASSAGES[3]]
    assert request["body"] == {"model": reference.partition("/")[2], "query": QUERY, "documents": documents, limit_key: 3}


@pytest.mark.parametrize("reference", ["cohere/rerank-v3.5", "openai/gpt"])
def test_passages_without_text_are_not_sent_at_all(server: LanguageModelServer, reference: str) -> None:
    with reranker(server, reference) as model:
        assert model.score(QUERY, ["", " \n"], criteria=None) == [None, None]
        assert server.take_requests() == []


def test_logits_become_scores_between_0_and_1_from_the_first_one_that_shows_itself(server: LanguageModelServer) -> None:
    half = {"results": [{"index": 0, "relevance_score": 0.5}]}
    logits = {"results": [{"index": 1, "relevance_score": 4.0}, {"index": 0, "relevance_score": -11.0}]}
    with reranker(server, "dmr/ai/bge") as model:
        server.misbehave({"answers": half}, {"answers": logits}, {"answers": half})
        assert model.score(QUERY, ["a"], criteria=None) == [0.5]
        low, high = model.score(QUERY, ["a", "b"], criteria=None)
        assert low == pytest.approx(1.67e-5, rel=0.01)
        assert high == pytest.approx(0.982, rel=0.01)
        assert model.score(QUERY, ["a"], criteria=None) == [pytest.approx(0.622, rel=0.01)]


def test_the_order_of_logits_is_the_order_of_scores(server: LanguageModelServer) -> None:
    with reranker(server, "dmr/ai/bge") as model:
        server.misbehave({"logits": True})
        first, second, _, fourth = model.score(QUERY, PASSAGES, criteria=None)
    assert first is not None
    assert second is not None
    assert fourth is not None
    assert 0 <= first < fourth < second <= 1


def test_a_passage_that_the_server_leaves_out_has_no_score(server: LanguageModelServer) -> None:
    with reranker(server, "cohere/rerank-v3.5") as model:
        server.misbehave({"answers": {"results": [{"index": 1, "relevance_score": 0.5}, {"index": 9, "relevance_score": 0.9}]}})
        assert model.score(QUERY, ["a", "b"], criteria=None) == [None, 0.5]


@pytest.mark.parametrize(
    ("fault", "kind", "words"),
    [
        ({"status": 200, "body": "<html>Log in</html>"}, ProviderPermanent, "cannot be used"),
        ({"answers": {"choices": []}}, ProviderPermanent, "no list of results"),
        ({"answers": {"results": [{"index": 7, "relevance_score": 0.5}]}}, ProviderPermanent, "none of its results"),
        ({"status": 429, "body": {"message": "slow down"}}, ProviderRateLimited, "slow down"),
        ({"status": 401, "body": {"message": f"wrong key {KEY}"}}, ProviderPermanent, r"wrong key \*\*\*"),
        ({"status": 503, "body": {"message": "busy"}}, ProviderTransient, "busy"),
        ({"answers": {"error": {"message": "slow down", "code": 429}}}, ProviderRateLimited, "slow down"),
        ({"disconnect": True}, ProviderTransient, "cannot be reached"),
    ],
)
def test_a_failure_has_one_kind_and_is_not_tried_again(
    server: LanguageModelServer, fault: dict[str, object], kind: type[Exception], words: str
) -> None:
    with reranker(server, "cohere/rerank-v3.5") as model:
        server.misbehave(fault)
        with pytest.raises(kind, match=words):
            model.score(QUERY, ["a", "b"], criteria=None)
        assert len(server.take_requests()) == 1


@pytest.mark.parametrize("fault", [{"delay_seconds": 60}, {"drips": True}])
def test_a_late_answer_ends_at_the_time_limit_and_the_request_with_it(server: LanguageModelServer, fault: dict[str, object]) -> None:
    with reranker(server, "cohere/rerank-v3.5", timeout_seconds=0.3) as model:
        server.misbehave(fault)
        with pytest.raises(ProviderTransient, match="did not answer in time"):
            model.score(QUERY, ["a", "b"], criteria=None)
        server.wait_for_requests(1, "hung up")


@pytest.mark.parametrize("reference", ["cohere/rerank-v3.5", "openai/gpt"])
def test_texts_that_are_refused_where_others_are_taken_are_to_blame(server: LanguageModelServer, reference: str) -> None:
    with reranker(server, reference) as model:
        server.misbehave({"refuses": "poison"})
        with pytest.raises(TextRefused, match="answered 400: this prompt is too long"):
            model.score(QUERY, ["a", "poison"], criteria=None)


@pytest.mark.parametrize("reference", ["cohere/rerank-v3.5", "openai/gpt"])
def test_a_provider_that_refuses_all_texts_is_to_blame_itself(server: LanguageModelServer, reference: str) -> None:
    with reranker(server, reference) as model:
        server.misbehave({"refuses": ""})
        with pytest.raises(RequestRefused, match="answered 400"):
            model.score(QUERY, ["a", "b"], criteria=None)


@pytest.mark.parametrize("provider", CHAT_PROVIDERS)
def test_a_chat_model_scores_all_passages_in_one_request_with_structured_output(server: LanguageModelServer, provider: str) -> None:
    with reranker(server, f"{provider}/chat") as model:
        assert model.score(QUERY, PASSAGES, criteria="Prefer short texts.") == [0.0, pytest.approx(2 / 3), None, pytest.approx(1 / 3)]
        [request] = server.take_requests()
    sent = str(request["body"])
    assert "Prefer short texts." in sent
    assert SYSTEM[:60] in sent
    assert "'additionalProperties': False" in sent


@pytest.mark.parametrize("provider", CHAT_PROVIDERS)
def test_a_chat_model_that_writes_no_scores_fails_for_this_time(server: LanguageModelServer, provider: str) -> None:
    with reranker(server, f"{provider}/chat") as model:
        server.misbehave({"says": "I would rather not."})
        with pytest.raises(ProviderTransient, match="no scores that can be read"):
            model.score(QUERY, ["a", "b"], criteria=None)


def test_what_a_chat_model_leaves_out_has_no_score() -> None:
    chat = ScriptedChatModel(lambda _: 'Sure: {"number":2,"score":0.75}, {"number":7,"score":1} and {"number":1,"sc')
    model = ChatRerankModel(chat, close=lambda: None)
    assert model.score(QUERY, ["a", " ", "b"], criteria=None) == [None, None, 0.75]
    assert chat.systems == [SYSTEM]
