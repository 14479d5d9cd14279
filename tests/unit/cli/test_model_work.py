"""How many requests and tokens texts would cost, and how much money."""

from dataclasses import replace

import pytest

from docmill.config.providers import ModelSpec, Price
from docmill.domain.knowledge_bases import ChatModelSpec, EmbeddingModelSpec, StrategyKind, StrategySpec
from docmill_services.model_work import SUMMARY_TOKENS, Workload, price_of
from support.library import record_of

SMALL = EmbeddingModelSpec("openai", "text-embedding-3-small", 1536, token_key="K", batch_size=4)
CHAT = ChatModelSpec("openai", "writer", token_key="K")
WORD = "word "  # one token


def embeds(spec: EmbeddingModelSpec, chat: ChatModelSpec | None = None) -> StrategySpec:
    kind = StrategyKind.CHUNKED_EMBEDDINGS if chat is None else StrategyKind.SEMANTIC_EMBEDDINGS
    return StrategySpec(kind.value, kind, threshold=0.5, embedding=spec, chat_model=chat)


def workload(strategy: StrategySpec, *texts: str) -> Workload:
    work = Workload()
    for place, text in enumerate(texts):
        work.add(strategy, record_of("a.md", place, text))
    return work


def test_requests_are_as_full_as_the_batch_size_allows() -> None:
    (work,) = workload(embeds(SMALL), *[WORD * 10] * 9).by_model()
    assert (work.texts, work.requests, work.input_tokens, work.output_tokens) == (9, 3, 90, 0)


def test_requests_keep_to_what_the_provider_takes_at_once() -> None:
    mistral = EmbeddingModelSpec("mistral", "mistral-embed", 1024, batch_size=50)  # 16,000 tokens a request
    (work,) = workload(embeds(mistral), *["x" * 7000] * 6).by_model()
    assert work.requests == 2


def test_a_text_over_the_window_is_sent_in_several_windows() -> None:
    cohere = EmbeddingModelSpec("cohere", "embed-english-v3.0", 1024, batch_size=1)  # 512 tokens a text
    (work,) = workload(embeds(cohere), "word " * 400).by_model()
    assert work.texts == 1
    assert work.requests > 1


def test_words_that_a_model_wants_before_every_text_are_counted() -> None:
    prefixed = replace(SMALL, passage_prefix="search_document: ")
    (plain,), (work,) = workload(embeds(SMALL), WORD).by_model(), workload(embeds(prefixed), WORD).by_model()
    assert work.input_tokens > plain.input_tokens


def test_a_model_inside_docmill_costs_no_request_and_no_token() -> None:
    (work,) = workload(embeds(EmbeddingModelSpec("local", "wordllama-256", 256)), WORD, WORD).by_model()
    assert (work.texts, work.requests, work.input_tokens) == (2, 0, 0)
    assert work.cost_usd(None) == 0.0


def test_strategies_with_one_model_are_added_up() -> None:
    work = workload(embeds(SMALL), WORD)
    work.add(replace(embeds(SMALL), name="other"), record_of("a.md", 0, WORD))
    (together,) = work.by_model()
    assert together.texts == 2


def test_summaries_cost_a_request_each_and_are_embedded_in_the_place_of_the_text() -> None:
    chat, embedding = workload(embeds(SMALL, CHAT), WORD * 1000, WORD * 1000).by_model()
    assert (chat.role, chat.texts, chat.requests, chat.output_tokens) == ("chat", 2, 2, 2 * SUMMARY_TOKENS)
    assert chat.input_tokens > 2000
    assert (embedding.role, embedding.texts, embedding.requests, embedding.input_tokens) == ("embedding", 2, 1, 2 * SUMMARY_TOKENS)


def test_a_short_answer_that_is_configured_bounds_the_summaries() -> None:
    chat, _ = workload(embeds(SMALL, replace(CHAT, max_tokens=20)), WORD).by_model()
    assert chat.output_tokens == 20


def test_costs_are_dollars_for_a_million_tokens() -> None:
    chat, embedding = workload(embeds(SMALL, CHAT), WORD).by_model()
    assert embedding.cost_usd(Price(input=0.02)) == pytest.approx(SUMMARY_TOKENS * 0.02 / 1e6)
    assert chat.cost_usd(Price(input=1.0, output=4.0)) == pytest.approx((chat.input_tokens + 4 * SUMMARY_TOKENS) / 1e6)
    assert embedding.cost_usd(None) is None


def test_the_price_is_that_of_the_entry_by_which_the_model_is_reached() -> None:
    def entry(price: Price | None, base_url: str | None = None) -> ModelSpec:
        return ModelSpec("m", "openai", "text-embedding-3-small", None, base_url=base_url, token_key="K", price=price)

    models = [entry(None), entry(Price(5.0), "http://elsewhere/v1"), entry(Price(0.02))]
    assert price_of(SMALL, models) == Price(0.02)
    assert price_of(CHAT, models) is None
