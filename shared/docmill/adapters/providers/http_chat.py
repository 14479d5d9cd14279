"""A chat model behind HTTP, whichever API it speaks."""

import copy
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from docmill.adapters.providers.cancellation import Cancellation
from docmill.adapters.providers.chat_api import ChatApi, ChatRequest, Written
from docmill.adapters.providers.failures import RequestRefused
from docmill.adapters.providers.model_calls import ArrivingValues, ModelCalls
from docmill.adapters.providers.permits import NOBODY, Answered, Permits
from docmill.adapters.providers.token_estimates import likely_tokens
from docmill.adapters.providers.usage import tokens_in
from docmill.domain.errors import ProviderError, ProviderTransient, TextRefused
from docmill.ports.models import Caller, JsonSchema

#: What every chat model answers.
_PLAIN_PROMPT: Final = "Say yes."
_PLAIN_TOKENS: Final = 16


class HttpChatModel:
    """See ``ChatModel``. A call that fails is not repeated here, but a refused one is asked about: see ``complete``."""

    def __init__(
        self,
        name: str,
        model: str,
        *,
        api: ChatApi,
        calls: ModelCalls,
        permits: Permits,
        max_tokens: int | None = None,
        temperature: float | None = None,
    ) -> None:
        """Connects to nothing yet.

        Args:
            name: ``provider/model``.
            model: the provider's name of the model.
            api: what the provider speaks.
            calls: to the provider; closed with the model.
            permits: of the model; every request takes one.
            max_tokens: no answer may be longer, whatever is asked for.
            temperature: None leaves it to the provider.
        """
        self._name = name
        self._model = model
        self._api = api
        self._calls = calls
        self._max_tokens = max_tokens
        self._temperature = temperature
        self._permits = permits
        self._caller = NOBODY
        self._learned = _Learned()

    @property
    def name(self) -> str:
        """See ``ChatModel``."""
        return self._name

    def complete(self, prompt: str, *, max_tokens: int, system: str | None = None, schema: JsonSchema | None = None) -> str:
        """See ``ChatModel``.

        A refused request is made once more without its schema, which not all providers and models take: where that is taken, schemas are
        left out from then on. A request that is refused still is blamed on its prompt when a plain prompt is taken, and otherwise on the
        provider: its model, its settings.
        """
        request = self._request(prompt, max_tokens, system, schema if self._learned.takes_schemas else None)
        try:
            return self._completed(request)
        except RequestRefused as refusal:
            if request.schema is None:
                raise self._blamed(refusal) from None
        try:
            answer = self._completed(replace(request, schema=None))
        except RequestRefused as refusal:
            raise self._blamed(refusal) from None
        self._learned.takes_schemas = False
        return answer

    def stream(self, prompt: str, *, max_tokens: int, system: str | None = None) -> "ArrivingText":
        """See ``ChatModel``."""
        request = self._request(prompt, max_tokens, system, None)
        values = self._calls.stream(
            self._api.path(request, streams=True),
            self._api.body(request, streams=True),
            lambda: self._permits.begin(self._caller, _tokens_of(request)),
        )
        return ArrivingText(values, self._api, self._calls)

    def on_behalf_of(self, caller: Caller) -> "HttpChatModel":
        """See ``ChatModel``; with the same connections."""
        bound = copy.copy(self)
        bound._caller = caller
        return bound

    def close(self) -> None:
        """Ends the waiting for permits, the calls and the connections; every call raises ``CallCancelled`` from now on."""
        self._permits.stop()
        self._calls.close()

    def _request(self, prompt: str, max_tokens: int, system: str | None, schema: JsonSchema | None) -> ChatRequest:
        if max_tokens < 1:
            raise ValueError("max_tokens must be at least 1")
        bounded = max_tokens if self._max_tokens is None else min(max_tokens, self._max_tokens)
        return ChatRequest(self._model, prompt, bounded, system, schema, self._temperature)

    def _completed(self, request: ChatRequest, *, is_plain: bool = False) -> str:
        def ask(cancellation: Cancellation) -> Answered[str]:
            answer = self._calls.post(self._api.path(request, streams=False), self._api.body(request, streams=False), cancellation)
            written = _written(self._api, answer, self._calls)
            _require_text(written.text, written, self._calls)
            return Answered(written.text, tokens_in(answer))

        return self._permits.call(self._caller, _tokens_of(request), ask, is_plain=is_plain)

    def _blamed(self, refusal: RequestRefused) -> ProviderError:
        try:
            self._completed(self._request(_PLAIN_PROMPT, _PLAIN_TOKENS, None, None), is_plain=True)
        except TextRefused:
            # It was taken, whatever was written.
            pass
        except RequestRefused:
            return refusal
        return TextRefused(str(refusal), 0)


@dataclass(slots=True)
class _Learned:
    """What was found out about the model, for all its callers; ``takes_schemas`` is taken for true until it is not."""

    takes_schemas: bool = True


class ArrivingText:
    """A text that arrives while it is iterated over; see ``TextStream``."""

    def __init__(self, values: ArrivingValues, api: ChatApi, calls: ModelCalls) -> None:
        """``values`` are those of the events that bring the text."""
        self._values = values
        self._pieces = _pieces(values, api, calls)

    def __iter__(self) -> Iterator[str]:
        """Itself."""
        return self

    def __next__(self) -> str:
        """See ``TextStream``."""
        return next(self._pieces)

    def close(self) -> None:
        """See ``TextStream``."""
        self._values.close()


def _tokens_of(request: ChatRequest) -> int:
    return likely_tokens(request.prompt) + likely_tokens(request.system or "") + request.max_tokens


def _pieces(values: ArrivingValues, api: ChatApi, calls: ModelCalls) -> Iterator[str]:
    has_text = False
    last = Written()
    try:
        for value in values:
            written = _written(api, value, calls)
            if written.text:
                has_text = True
                yield written.text
            if written.end is not None:
                last = written
    finally:
        was_closed = values.is_closed
        values.close()
    if was_closed:
        return
    if last.end is None:
        raise ProviderTransient(f"{calls.provider} broke off in the middle of its answer")
    _require_text("has text" if has_text else "", last, calls)


def _written(api: ChatApi, answer: object, calls: ModelCalls) -> Written:
    try:
        return api.written(answer)
    except ValueError as error:
        raise calls.unusable(error) from None


def _require_text(text: str, written: Written, calls: ModelCalls) -> None:
    """Raises ``TextRefused`` where the model did not want to answer, or wrote nothing: tool calls, for example, or only thoughts."""
    if written.is_refusal:
        raise TextRefused(f"{calls.provider} refuses to answer this prompt: {written.end}", 0)
    if not text.strip():
        reason = "" if written.end is None else f"; it stopped with {written.end}"
        raise TextRefused(f"{calls.provider} wrote no text{reason}", 0)
