"""Anthropic's messages API.

The API: https://docs.anthropic.com/en/api/messages, its streams: https://docs.anthropic.com/en/docs/build-with-claude/streaming.
"""

from collections.abc import Mapping
from typing import Final

from docmill.adapters.providers.chat_api import ChatRequest, Written, objects, text_of
from docmill.adapters.providers.texts import well_formed

_VERSION: Final = "2023-06-01"

_REFUSED: Final = "refusal"


class AnthropicChat:
    """See ``ChatApi``."""

    def headers(self, api_key: str | None) -> Mapping[str, str]:
        """See ``ChatApi``."""
        version = {"anthropic-version": _VERSION}
        return {**version, "x-api-key": api_key} if api_key else version

    def path(self, request: ChatRequest, *, streams: bool) -> str:
        """See ``ChatApi``."""
        return "/v1/messages"

    def body(self, request: ChatRequest, *, streams: bool) -> dict[str, object]:
        """See ``ChatApi``."""
        body: dict[str, object] = {
            "model": request.model,
            "max_tokens": request.max_tokens,
            "messages": [{"role": "user", "content": well_formed(request.prompt)}],
        }
        if request.system is not None:
            body["system"] = well_formed(request.system)
        if request.temperature is not None:
            body["temperature"] = request.temperature
        if request.schema is not None:
            body["output_config"] = {"format": {"type": "json_schema", "schema": request.schema}}
        if streams:
            body["stream"] = True
        return body

    def written(self, answer: object) -> Written:
        """See ``ChatApi``; kinds of events that are not known write nothing, as the API asks of its clients."""
        if not isinstance(answer, dict) or not isinstance(answer.get("type"), str):
            raise ValueError("it has no type")
        match answer["type"]:
            case "message":
                if not isinstance(answer.get("content"), list):
                    raise ValueError("it has no list of content")
                text = "".join(text_of(block.get("text")) for block in objects(answer["content"]) if block.get("type") == "text")
                return _ended(text, answer.get("stop_reason"))
            case "content_block_start":
                return Written(_text_in(answer.get("content_block"), "text"))
            case "content_block_delta":
                return Written(_text_in(answer.get("delta"), "text_delta"))
            case "message_delta":
                delta = answer.get("delta")
                return _ended("", delta.get("stop_reason") if isinstance(delta, dict) else None)
            case _:
                return Written()


def _text_in(block: object, kind: str) -> str:
    return text_of(block.get("text")) if isinstance(block, dict) and block.get("type") == kind else ""


def _ended(text: str, reason: object) -> Written:
    return Written(text, text_of(reason) or None, is_refusal=reason == _REFUSED)
