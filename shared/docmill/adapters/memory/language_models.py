"""Chat and rerank models that cost nothing, for tests of what stands on the ports."""

from collections.abc import Callable, Iterator, Sequence

from docmill.domain.errors import ProviderError
from docmill.ports.models import Caller, JsonSchema


class ScriptedChatModel:
    """Answers with what a function makes of the prompt.

    Attributes:
        prompts: all that were asked, in order.
        systems: what the model was told to be, with each of them.
    """

    def __init__(self, answer: Callable[[str], str], *, name: str = "memory/scripted") -> None:
        """``answer`` may raise a ``ProviderError``."""
        self._answer = answer
        self._name = name
        self.prompts: list[str] = []
        self.systems: list[str | None] = []

    @property
    def name(self) -> str:
        """See ``ChatModel.name``."""
        return self._name

    def complete(self, prompt: str, *, max_tokens: int, system: str | None = None, schema: JsonSchema | None = None) -> str:
        """See ``ChatModel.complete``; a word is a token here, and the function keeps to the schema or does not."""
        if max_tokens < 1:
            raise ValueError("max_tokens must be at least 1")
        self.prompts.append(prompt)
        self.systems.append(system)
        return " ".join(self._answer(prompt).split(" ")[:max_tokens])

    def stream(self, prompt: str, *, max_tokens: int, system: str | None = None) -> "ScriptedStream":
        """See ``ChatModel.stream``; word by word."""
        return ScriptedStream(lambda: self.complete(prompt, max_tokens=max_tokens, system=system))

    def on_behalf_of(self, caller: Caller) -> "ScriptedChatModel":
        """See ``ChatModel.on_behalf_of``."""
        return self


class ScriptedStream:
    """The words of an answer; see ``TextStream``.

    Attributes:
        is_closed: whether ``close`` was called.
    """

    def __init__(self, answer: Callable[[], str]) -> None:
        """``answer`` is asked for with the first piece."""
        self._pieces = _words_of(answer)
        self.is_closed = False

    def __iter__(self) -> Iterator[str]:
        """Itself."""
        return self

    def __next__(self) -> str:
        """See ``TextStream``."""
        if self.is_closed:
            raise StopIteration
        return next(self._pieces)

    def close(self) -> None:
        """See ``TextStream``."""
        self.is_closed = True


def _words_of(answer: Callable[[], str]) -> Iterator[str]:
    """The words, each but the first with the space before it."""
    for place, word in enumerate(answer().split(" ")):
        piece = f" {word}" if place else word
        if piece:
            yield piece


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

    def on_behalf_of(self, caller: Caller) -> "WordOverlapRerankModel":
        """See ``RerankModel.on_behalf_of``."""
        return self
