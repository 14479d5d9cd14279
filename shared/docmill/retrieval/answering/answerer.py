"""Answers questions over one knowledge base: retrieve, rerank, fit to budget, ask the model, resolve citations."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from docmill.domain.answering import Answer, Passage
from docmill.domain.knowledge_bases import Answering, StrategyKind
from docmill.domain.searching import SearchOutcome, SearchRequest
from docmill.ports.models import ChatModel, TextStream
from docmill.retrieval.answering.citations import Citations
from docmill.retrieval.answering.declining import declining_text
from docmill.retrieval.answering.packing import above_floor, pack
from docmill.retrieval.answering.prompt import DECLINES, SYSTEM, answer_prompt
from docmill.retrieval.validate import MAX_LIMIT

#: Of an answer; some models count what they think, too.
MOST_TOKENS: Final = 4096
#: What may stand between the word with which a model declines and its sentence.
_BETWEEN: Final = " \t\n:.,;–—-*\"'`"


@dataclass(frozen=True, slots=True)
class PassagesFound:
    """What the model is shown; the first event of every answer."""

    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class TextWritten:
    """The next part of the answer."""

    text: str


AnswerEvent = PassagesFound | TextWritten | Answer


class Answerer:
    """Answers questions; safe for several threads."""

    def __init__(
        self,
        search: Callable[[SearchRequest], SearchOutcome],
        model: Callable[[], ChatModel],
        settings: Answering,
        kinds: dict[str, StrategyKind],
    ) -> None:
        """``model`` is called for each question and raises as configuration errors do; ``kinds`` of the strategies, by name."""
        self._search = search
        self._model = model
        self._settings = settings
        self._kinds = kinds

    def answer(self, request: SearchRequest) -> Answer:
        """The whole answer to the question that is the request's query; raises as ``search`` and ``ChatModel.complete`` do."""
        question = self._ask(request)
        if not question.passages:
            return question.declined("")
        said = self._model().complete(question.prompt, max_tokens=MOST_TOKENS, system=SYSTEM)
        return question.answer(question.feed(said) + question.finish())

    def _ask(self, request: SearchRequest) -> "_Question":
        # The model reads the best of more than it is shown: retrieval is for recall, the prompt for precision.
        outcome = self._search(replace(request, limit=min(2 * self._settings.passages, MAX_LIMIT)))
        relevant = above_floor(outcome.hits, self._settings.min_score, self._kinds, reranked=outcome.reranked)
        passages = pack(relevant, most=self._settings.passages, budget_characters=self._settings.budget_chars)
        return _Question(request.query, outcome, passages)

    def stream(self, request: SearchRequest) -> "AnswerStream":
        """The same answer while it is written; the search is done when this returns."""
        return AnswerStream(self._ask(request), self._model)


class AnswerStream:
    """The events of one answer: the passages, the parts of the text, and last the ``Answer``."""

    def __init__(self, question: "_Question", model: Callable[[], ChatModel]) -> None:
        """Use ``Answerer.stream``."""
        self._question = question
        self._model = model
        self._written: TextStream | None = None
        self._is_closed = False

    def __iter__(self) -> Iterator[AnswerEvent]:
        """The events; raises as ``Answerer.answer`` while they are awaited. May be asked for once."""
        question = self._question
        yield PassagesFound(tuple(question.passages))
        if not question.passages:
            declined = question.declined("")
            yield TextWritten(declined.text)
            yield declined
            return
        self._written = self._model().stream(question.prompt, max_tokens=MOST_TOKENS, system=SYSTEM)
        if self._is_closed:
            self._written.close()
        said: list[str] = []
        for piece in self._written:
            if text := question.feed(piece):
                said.append(text)
                yield TextWritten(text)
        if self._is_closed:
            return
        answer = question.answer("".join(said) + (rest := question.finish()))
        if last := rest if said or not answer.declined else answer.text:
            yield TextWritten(last)
        yield answer

    def close(self) -> None:
        """Ends the writing, also at the provider; any thread may call it."""
        self._is_closed = True
        if self._written is not None:
            self._written.close()


class _Question:
    """One question on its way: what was found for it, and what of the answer has come."""

    def __init__(self, question: str, outcome: SearchOutcome, passages: Sequence[Passage]) -> None:
        self.passages = passages
        self._question = question
        self._outcome = outcome
        self._citations = Citations(len(passages))
        self._beginning = ""
        self._has_begun = False
        self._declines = False

    @property
    def prompt(self) -> str:
        """What the model is asked."""
        return answer_prompt(self._question, self.passages)

    def feed(self, piece: str) -> str:
        """The text that is certain now; the word with which the model declines is not part of it."""
        if self._has_begun:
            return self._citations.feed(piece)
        self._beginning += piece
        said = _without_marks(self._beginning)
        if DECLINES.startswith(said) or (said.startswith(DECLINES) and not said[len(DECLINES) :].lstrip(_BETWEEN)):
            return ""
        return self._begin(said)

    def finish(self) -> str:
        """What was held back."""
        text = "" if self._has_begun else self._begin(_without_marks(self._beginning))
        return text + self._citations.finish()

    def answer(self, text: str) -> Answer:
        """The answer, whose text is ``text``."""
        if self._declines:
            return self.declined(text)
        cited = tuple(self.passages[number - 1] for number in self._citations.used)
        return self._answer(text.strip(), cited, declined=False)

    def declined(self, text: str) -> Answer:
        """An answer that says that there is none: in the model's words, or where it has none in docmill's."""
        return self._answer(text.strip() or declining_text(self._question), (), declined=True)

    def _begin(self, said: str) -> str:
        self._has_begun = True
        if said.startswith(DECLINES):
            self._declines = True
            said = said[len(DECLINES) :].lstrip(_BETWEEN)
            self._citations = Citations(0)  # what declines cites nothing, whatever it says
        return self._citations.feed(said)

    def _answer(self, text: str, cited: tuple[Passage, ...], *, declined: bool) -> Answer:
        return Answer(
            text=text,
            cited=cited,
            offered=len(self.passages),
            dropped_markers=0 if declined else self._citations.dropped,
            declined=declined,
            degraded=self._outcome.degraded,
            freshness=self._outcome.freshness,
            reranked=self._outcome.reranked,
        )


def _without_marks(beginning: str) -> str:
    """The beginning of an answer; where it is the word for declining, or may become that, without what a model may dress it in."""
    bare = beginning.lstrip(_BETWEEN)
    return bare if bare.startswith(DECLINES) or DECLINES.startswith(bare) else beginning.lstrip()
