"""The chat completions API of OpenAI, and of every server that speaks it.

The API: https://platform.openai.com/docs/api-reference/chat/create.
"""

from collections.abc import Mapping
from typing import Final

from docmill.adapters.providers.chat_api import ChatRequest, Written, objects, text_of
from docmill.adapters.providers.endpoints import bearer
from docmill.adapters.providers.texts import well_formed

_FILTERED: Final = "content_filter"


class OpenAiChat:
    """See ``ChatApi``."""

    def __init__(self, *, counts_thinking: bool) -> None:
        """``counts_thinking``: the provider wants ``max_completion_tokens``, in the place of the ``max_tokens`` that all others know."""
        self._limit_key = "max_completion_tokens" if counts_thinking else "max_tokens"

    def headers(self, api_key: str | None) -> Mapping[str, str]:
        """See ``ChatApi``."""
        return bearer(api_key) if api_key else {}

    def path(self, request: ChatRequest, *, streams: bool) -> str:
        """See ``ChatApi``."""
        return "/chat/completions"

    def body(self, request: ChatRequest, *, streams: bool) -> dict[str, object]:
        """See ``ChatApi``."""
        messages = [{"role": "user", "content": well_formed(request.prompt)}]
        if request.system is not None:
            messages.insert(0, {"role": "system", "content": well_formed(request.system)})
        body: dict[str, object] = {"model": request.model, "messages": messages, self._limit_key: request.max_tokens}
        if request.temperature is not None:
            body["temperature"] = request.temperature
        if request.schema is not None:
            form = {"name": "answer", "strict": True, "schema": request.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        if streams:
            body["stream"] = True
        return body

    def written(self, answer: object) -> Written:
        """See ``ChatApi``; an event without a choice, which carries usage or the filter's opinion of the prompt, writes nothing."""
        if not isinstance(answer, dict) or not isinstance(answer.get("choices"), list):
            raise ValueError("it has no list of choices")
        choice = next(iter(objects(answer["choices"])), None)
        if choice is None:
            return Written()
        part = choice.get("delta") if "delta" in choice else choice.get("message")
        message = part if isinstance(part, dict) else {}
        end = text_of(choice.get("finish_reason")) or None
        refusal = text_of(message.get("refusal"))
        return Written(_content(message.get("content")), refusal or end, is_refusal=bool(refusal) or end == _FILTERED)


def _content(content: object) -> str:
    """The text of a message; some servers give it in parts, of which what the model thought is left out."""
    return text_of(content) or "".join(text_of(part.get("text")) for part in objects(content) if part.get("type") == "text")
