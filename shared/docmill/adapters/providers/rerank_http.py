"""Rerank models behind a ``/rerank`` endpoint: Cohere, Jina, Voyage, Docker Model Runner, vLLM, llama.cpp and what speaks as they do.

The APIs: https://docs.cohere.com/reference/rerank, https://api.jina.ai/redoc, https://docs.voyageai.com/reference/reranker-api,
https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html (Re-rank API).
"""

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from docmill.adapters.providers.cancellation import Cancellation
from docmill.adapters.providers.failures import RequestRefused
from docmill.adapters.providers.model_calls import ModelCalls
from docmill.adapters.providers.permits import NOBODY, Answered, Permits
from docmill.adapters.providers.rerank_answers import are_logits, scores_of_answer, sigmoid
from docmill.adapters.providers.texts import well_formed
from docmill.adapters.providers.token_estimates import likely_tokens
from docmill.adapters.providers.usage import tokens_in
from docmill.domain.errors import ProviderError, TextRefused
from docmill.ports.models import Caller

#: What every rerank model takes.
_PLAIN_TEXT: Final = "text"


class HttpRerankModel:
    """See ``RerankModel``. A call that fails is not repeated here.

    Most servers score in 0..1. Some hand out a model's logits, and no header or field says so; llama.cpp, and with it Docker Model Runner,
    does it for some models and not for others. So the numbers tell: a score outside of 0..1 can only be a logit, and the first one settles
    it for this model, of whose answers the sigmoid is taken from then on.
    """

    def __init__(
        self, name: str, model: str, *, calls: ModelCalls, permits: Permits, path: str = "/rerank", limit_key: str = "top_n"
    ) -> None:
        """Connects to nothing yet.

        Args:
            name: ``provider/model``.
            model: the provider's name of the model.
            calls: to the provider; closed with the model.
            permits: of the model; every request takes one.
            path: where requests go, after the base URL.
            limit_key: what the API calls the number of results that are wanted.
        """
        self._name = name
        self._model = model
        self._calls = calls
        self._path = path
        self._limit_key = limit_key
        self._permits = permits
        self._caller = NOBODY
        self._learned = _Learned()

    @property
    def name(self) -> str:
        """See ``RerankModel``."""
        return self._name

    def score(self, query: str, passages: Sequence[str], *, criteria: str | None) -> list[float | None]:
        """See ``RerankModel``; ``criteria`` are nothing that these APIs take. A passage without text is not sent, and has no score."""
        places = [place for place, passage in enumerate(passages) if passage.strip()]
        scores: list[float | None] = [None] * len(passages)
        if not places:
            return scores
        try:
            found = self._request(query, [passages[place] for place in places])
        except RequestRefused as refusal:
            raise self._blamed(refusal) from None
        self._learned.gives_logits = self._learned.gives_logits or are_logits(found)
        for place, score in zip(places, found, strict=True):
            scores[place] = sigmoid(score) if self._learned.gives_logits and score is not None else score
        return scores

    def on_behalf_of(self, caller: Caller) -> "HttpRerankModel":
        """See ``RerankModel``; with the same connections."""
        bound = copy.copy(self)
        bound._caller = caller
        return bound

    def close(self) -> None:
        """Ends the waiting for permits, the calls and the connections; every call raises ``CallCancelled`` from now on."""
        self._permits.stop()
        self._calls.close()

    def _request(self, query: str, passages: Sequence[str], *, is_plain: bool = False) -> list[float | None]:
        body: dict[str, object] = {
            "model": self._model,
            "query": well_formed(query),
            "documents": [well_formed(passage) for passage in passages],
            self._limit_key: len(passages),
        }

        def ask(cancellation: Cancellation) -> Answered[list[float | None]]:
            answer = self._calls.post(self._path, body, cancellation)
            try:
                return Answered(scores_of_answer(answer, count=len(passages)), tokens_in(answer))
            except ValueError as error:
                raise self._calls.unusable(error) from None

        # The model reads the query with each passage.
        tokens = len(passages) * likely_tokens(query) + likely_tokens(*passages)
        return self._permits.call(self._caller, tokens, ask, is_plain=is_plain)

    def _blamed(self, refusal: RequestRefused) -> ProviderError:
        """A refusal is that of these texts where a plain one is taken, and otherwise that of the provider: its model, its settings."""
        try:
            self._request(_PLAIN_TEXT, [_PLAIN_TEXT], is_plain=True)
        except RequestRefused:
            return refusal
        return TextRefused(str(refusal), 0)


@dataclass(slots=True)
class _Learned:
    """What was found out about the model, for all its callers."""

    gives_logits: bool = False


def place_of_endpoint(provider: str, base_url: str) -> tuple[str, str]:
    """The base URL and the path of a provider's ``/rerank``, from the base URL of its other endpoints.

    Docker Model Runner's is above the ones that it has for OpenAI's API: ``/engines/v1`` has it at ``/rerank``, ``/engines/NAME/v1`` at
    ``/engines/NAME/rerank``.
    """
    base_url = base_url.rstrip("/")
    match provider:
        case "dmr":
            return base_url.removesuffix("/v1").removesuffix("/engines"), "/rerank"
        case "cohere":
            return base_url.removesuffix("/v2").removesuffix("/v1"), "/v2/rerank"
        case _:
            return base_url, "/rerank"
