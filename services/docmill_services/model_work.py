"""Model work: how many requests and tokens texts would cost, and how much money; all of it estimates."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, Literal

from docmill.adapters.providers.text_limits import ModelLimits, limits_of, most_tokens, windows_of
from docmill.adapters.providers.token_estimates import likely_tokens
from docmill.config.providers import LOCAL, ModelSpec, Price
from docmill.domain.chunks import ChunkRecord
from docmill.domain.knowledge_bases import ChatModelSpec, EmbeddingModelSpec, StrategySpec
from docmill.domain.semantic_prompt import SYSTEM

Role = Literal["embedding", "chat"]
#: Of a summary of a few sentences.
SUMMARY_TOKENS: Final = 120
_PER_PRICE: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class ModelWork:
    """What one model would be asked for.

    Attributes:
        spec: of the model.
        role: whether it embeds texts or writes summaries.
        texts: to embed, or to summarise; each counted once.
        requests: by which they would be sent, each as full as it may be; 0 for a model that runs inside docmill.
        input_tokens: that a provider would count for what it reads; 0 for a model that runs inside docmill.
        output_tokens: that it would write.
    """

    spec: EmbeddingModelSpec | ChatModelSpec
    role: Role
    texts: int
    requests: int
    input_tokens: int
    output_tokens: int

    def cost_usd(self, price: Price | None) -> float | None:
        """What it would cost; None where nobody says what the model costs."""
        if price is None:
            return 0.0 if self.spec.provider == LOCAL else None
        return (self.input_tokens * price.input + self.output_tokens * price.output) / _PER_PRICE


def price_of(spec: EmbeddingModelSpec | ChatModelSpec, models: Iterable[ModelSpec]) -> Price | None:
    """The price in the entry of ``models`` that ``spec`` was made of; None where it has none."""
    access = (spec.name, spec.base_url, spec.token_key)
    found = (model.price for model in models if (model.name, model.base_url, model.token_key) == access)
    return next((price for price in found if price is not None), None)


@dataclass(slots=True)
class _Tally:
    """The work of one model so far, and the request that is being filled."""

    spec: EmbeddingModelSpec | ChatModelSpec
    role: Role
    limits: ModelLimits
    texts: int = 0
    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    _texts_in_request: int = 0
    _tokens_in_request: int = 0

    def fill(self, most_texts: int, most: int) -> None:
        """One more text of at most ``most`` tokens, in this request or in the next one."""
        is_full = self._texts_in_request >= most_texts
        if self.limits.request_tokens is not None and self._tokens_in_request + most > self.limits.request_tokens:
            is_full = True
        if not self._texts_in_request or is_full:
            self.requests += 1
            self._texts_in_request = self._tokens_in_request = 0
        self._texts_in_request += 1
        self._tokens_in_request += most


@dataclass(slots=True)
class Workload:
    """What is to be embedded, and summarised before, added up by model."""

    _tallies: dict[tuple[str, str, str | None, str | None], _Tally] = field(default_factory=dict, init=False)

    def add(self, strategy: StrategySpec, record: ChunkRecord) -> None:
        """One text of a strategy that embeds."""
        if strategy.embedding is None:
            raise ValueError(f"{strategy.name} embeds nothing")
        if strategy.chat_model is None:
            self._embed(strategy.embedding, record.indexed_text)
        else:
            self._summarise(strategy.chat_model, strategy.prompt.for_chunk(record))
            self._embed(strategy.embedding, None)

    def by_model(self) -> list[ModelWork]:
        """What was added, in the order in which models came up."""
        return [
            ModelWork(one.spec, one.role, one.texts, one.requests, one.input_tokens, one.output_tokens) for one in self._tallies.values()
        ]

    def _embed(self, spec: EmbeddingModelSpec, text: str | None) -> None:
        """``text`` is None for a summary, which is not written yet."""
        tally = self._tally(spec, "embedding")
        tally.texts += 1
        if spec.provider == LOCAL:
            return
        tally.input_tokens += SUMMARY_TOKENS if text is None else likely_tokens(text)
        most_texts = min(spec.batch_size, tally.limits.request_texts or spec.batch_size)
        prefix_tokens = most_tokens(spec.passage_prefix) if spec.passage_prefix else 0
        for window in (None,) if text is None else windows_of(text, tally.limits.text_tokens):
            tally.input_tokens += likely_tokens(spec.passage_prefix)
            tally.fill(most_texts, prefix_tokens + (SUMMARY_TOKENS if window is None else most_tokens(window)))

    def _summarise(self, spec: ChatModelSpec, prompt: str) -> None:
        tally = self._tally(spec, "chat")
        tally.texts += 1
        tally.requests += 1
        tally.input_tokens += likely_tokens(SYSTEM) + likely_tokens(prompt)
        tally.output_tokens += min(SUMMARY_TOKENS, spec.max_tokens or SUMMARY_TOKENS)

    def _tally(self, spec: EmbeddingModelSpec | ChatModelSpec, role: Role) -> _Tally:
        key = (role, spec.name, spec.base_url, spec.token_key)
        if key not in self._tallies:
            self._tallies[key] = _Tally(spec, role, limits_of(spec.name))
        return self._tallies[key]
