"""Chat and rerank models that cost nothing, for tests of what stands on the ports."""

from collections.abc import Callable, Sequence

from docmill.domain.errors import ProviderError


class ScriptedChatModel:
    """Answers with what a function makes of the prompt.

    Attributes:
        prompts: all that were asked, in order.
    """

    def __init__(self, answer: Callable[[str], str], *, name: str = "memory/scripted") -> None:
        """``answer`` may raise a ``ProviderError``."""
        self._answer = answer
        self._name = name
        self.prompts: list[str] = []

    @property
    def name(self) -> str:
        """See ``ChatModel.name``."""
        return self._name

    def complete(self, prompt: str, *, max_tokens: int) -> str:
        """See ``ChatModel.complete``; a word is a token here."""
        if max_tokens < 1:
            raise ValueError("max_tokens must be at least 1")
        self.prompts.append(prompt)
        return " ".join(self._answer(prompt).split(" ")[:max_tokens])


class WordOverlapRerankModel:
    """Scores a passage by the share of the query's words that are in it."""

    def __init__(self, *, name: str = "memory/overlap", failure: ProviderError | None = None) -> None:
        """``failure`` is raised by every call."""
        self._name = name
        self._failure = failure

    @property
    def name(self) -> str:
        """See ``RerankModel.name``."""
        return self._name

    def score(self, query: str, passages: Sequence[str], *, criteria: str | None) -> list[float | None]:
        """See ``RerankModel.score``; ``criteria`` say nothing to this model."""
        if self._failure is not None:
            raise self._failure
        words = set(query.lower().split())
        return [len(words & set(passage.lower().split())) / len(words) if words else None for passage in passages]
