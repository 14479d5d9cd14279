"""Google's Gemini API.

The API: https://ai.google.dev/api/generate-content.
"""

from collections.abc import Mapping
from typing import Final
from urllib.parse import quote

from docmill.adapters.providers.chat_api import ChatRequest, Written, objects, text_of
from docmill.adapters.providers.texts import well_formed

#: Why a candidate ended although nothing was held against it; all other reasons are filters.
_PLAIN_ENDS: Final = frozenset(
    {"STOP", "MAX_TOKENS", "FINISH_REASON_UNSPECIFIED", "OTHER", "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS"}
)


class GeminiChat:
    """See ``ChatApi``."""

    def headers(self, api_key: str | None) -> Mapping[str, str]:
        """See ``ChatApi``."""
        return {"x-goog-api-key": api_key} if api_key else {}

    def path(self, request: ChatRequest, *, streams: bool) -> str:
        """See ``ChatApi``."""
        model = quote(request.model.removeprefix("models/"), safe="")
        return f"/models/{model}:streamGenerateContent?alt=sse" if streams else f"/models/{model}:generateContent"

    def body(self, request: ChatRequest, *, streams: bool) -> dict[str, object]:
        """See ``ChatApi``."""
        settings: dict[str, object] = {"maxOutputTokens": request.max_tokens}
        if request.temperature is not None:
            settings["temperature"] = request.temperature
        if request.schema is not None:
            settings |= {"responseMimeType": "application/json", "responseJsonSchema": request.schema}
        body: dict[str, object] = {
            "contents": [{"role": "user", "parts": [{"text": well_formed(request.prompt)}]}],
            "generationConfig": settings,
        }
        if request.system is not None:
            body["systemInstruction"] = {"parts": [{"text": well_formed(request.system)}]}
        return body

    def written(self, answer: object) -> Written:
        """See ``ChatApi``; parts that the model marks as thoughts are left out."""
        if not isinstance(answer, dict):
            raise ValueError("it is not an object")
        feedback = answer.get("promptFeedback")
        blocked = text_of(feedback.get("blockReason")) if isinstance(feedback, dict) else ""
        if blocked:
            return Written(end=blocked, is_refusal=True)
        candidate = next(iter(objects(answer.get("candidates"))), None)
        if candidate is None:
            if not answer.keys() & {"candidates", "usageMetadata", "responseId"}:
                raise ValueError("it has no candidates")
            return Written()
        content = candidate.get("content")
        parts = objects(content.get("parts")) if isinstance(content, dict) else []
        text = "".join(text_of(part.get("text")) for part in parts if not part.get("thought"))
        end = text_of(candidate.get("finishReason")) or None
        return Written(text, end, is_refusal=end is not None and end not in _PLAIN_ENDS)
