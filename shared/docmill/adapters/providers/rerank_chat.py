"""Reranking by a chat model: one request for all passages."""

from collections.abc import Callable, Sequence
from typing import Final

from docmill.adapters.providers.rerank_prompt import SCHEMA, SYSTEM, rerank_prompt, scores_in
from docmill.domain.errors import ProviderTransient
from docmill.ports.models import Caller, ChatModel

#: Of the answer: the longest item, its number and its score, and room for a model that counts what it thinks.
_TOKENS_PER_PASSAGE: Final = 40
_TOKENS_BESIDES: Final = 1024


class ChatRerankModel:
    """See ``RerankModel``."""

    def __init__(self, chat: ChatModel, *, close: Callable[[], None]) -> None:
        """``chat`` judges the passages; ``close`` ends its connections."""
        self._chat = chat
        self._close = close

    @property
    def name(self) -> str:
        """See ``RerankModel``; that of the chat model."""
        return self._chat.name

    def score(self, query: str, passages: Sequence[str], *, criteria: str | None) -> list[float | None]:
        """See ``RerankModel``. An answer without scores is a transient error: the next one may have them.

        A passage without text is not shown to the model, and has no score.
        """
        places = [place for place, passage in enumerate(passages) if passage.strip()]
        scores: list[float | None] = [None] * len(passages)
        if not places:
            return scores
        answer = self._chat.complete(
            rerank_prompt(query, [passages[place] for place in places], criteria),
            max_tokens=_TOKENS_BESIDES + _TOKENS_PER_PASSAGE * len(places),
            system=SYSTEM,
            schema=SCHEMA,
        )
        try:
            found = scores_in(answer, count=len(places))
        except ValueError as error:
            raise ProviderTransient(f"{self.name} gave an answer that cannot be used: {error}") from error
        for place, score in zip(places, found, strict=True):
            scores[place] = score
        return scores

    def on_behalf_of(self, caller: Caller) -> "ChatRerankModel":
        """See ``RerankModel``."""
        return ChatRerankModel(self._chat.on_behalf_of(caller), close=self._close)

    def close(self) -> None:
        """Ends the connections."""
        self._close()
