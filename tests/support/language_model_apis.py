"""The chat and rerank APIs that ``language_model_server`` speaks, as their documentation has them."""

import json
import math
import re
from collections.abc import Mapping
from typing import Any, Protocol

Json = Any

WORDS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
_QUERY = re.compile(r"Query:\n<<<[^\n]*\n(.*?)\n[^\n]*>>>", re.DOTALL)
_PASSAGE = re.compile(r"Passage (\d+):\n<<<[^\n]*\n(.*?)\n[^\n]*>>>", re.DOTALL)


class Api(Protocol):
    def problem_of(self, body: dict[str, Json], headers: Mapping[str, str]) -> str | None: ...

    def schema_of(self, body: dict[str, Json]) -> Json: ...

    def streams(self, body: dict[str, Json], path: str, query: str) -> bool: ...

    def answer(self, body: dict[str, Json], says: str | None) -> Json: ...

    def events(self, body: dict[str, Json], says: str | None) -> list[Json]: ...

    def error(self, message: str) -> Json: ...


class OpenAiApi:
    """https://platform.openai.com/docs/api-reference/chat"""

    def problem_of(self, body: dict[str, Json], headers: Mapping[str, str]) -> str | None:
        del headers
        known = {"model", "messages", "max_tokens", "max_completion_tokens", "temperature", "response_format", "stream"}
        if unknown := body.keys() - known:
            return f"Unrecognized request argument supplied: {unknown}"
        if not body.get("messages") or any(message["role"] not in ("system", "user") for message in body["messages"]):
            return "messages is a required property"
        form = body.get("response_format")
        if form is not None and not (form["type"] == "json_schema" and {"name", "schema"} <= form["json_schema"].keys()):
            return "Missing required parameter: 'response_format.json_schema'"
        return None

    def schema_of(self, body: dict[str, Json]) -> Json:
        return body.get("response_format")

    def streams(self, body: dict[str, Json], path: str, query: str) -> bool:
        del path, query
        return bool(body.get("stream"))

    def answer(self, body: dict[str, Json], says: str | None) -> Json:
        text, reason = self._said(body, says)
        choice = {"index": 0, "message": {"role": "assistant", "content": text, "refusal": None}, "logprobs": None, "finish_reason": reason}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        return {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": body["model"], "choices": [choice], "usage": usage}

    def events(self, body: dict[str, Json], says: str | None) -> list[Json]:
        text, reason = self._said(body, says)
        deltas = [{"role": "assistant", "content": ""}, *({"content": piece} for piece in _pieces(text))]
        events = [openai_event(delta) for delta in deltas]
        return [*events, openai_event({}, reason), {**openai_event({}), "choices": [], "usage": {"total_tokens": 2}}, "[DONE]"]

    def error(self, message: str) -> Json:
        return {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": None}}

    def _said(self, body: dict[str, Json], says: str | None) -> tuple[str, str]:
        limit = body.get("max_tokens", body.get("max_completion_tokens", 100))
        text, is_whole = _said(body["messages"][-1]["content"], limit, says, wants_json=self.schema_of(body) is not None)
        return text, "stop" if is_whole else "length"


def openai_event(delta: dict[str, Json], finish_reason: str | None = None) -> dict[str, Json]:
    """A chunk of a streamed chat completion."""
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
    return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}


class AnthropicApi:
    """https://docs.anthropic.com/en/api/messages and .../en/docs/build-with-claude/streaming"""

    def problem_of(self, body: dict[str, Json], headers: Mapping[str, str]) -> str | None:
        if headers.get("anthropic-version") != "2023-06-01":
            return "anthropic-version: header is required"
        if unknown := body.keys() - {"model", "max_tokens", "messages", "system", "temperature", "output_config", "stream"}:
            return f"{unknown}: Extra inputs are not permitted"
        if not isinstance(body.get("max_tokens"), int):
            return "max_tokens: Field required"
        if not body.get("messages") or any(message["role"] != "user" for message in body["messages"]):
            return "messages: at least one message is required"
        form = body.get("output_config", {}).get("format")
        return None if form is None or (form["type"] == "json_schema" and "schema" in form) else "output_config.format: invalid"

    def schema_of(self, body: dict[str, Json]) -> Json:
        return body.get("output_config")

    def streams(self, body: dict[str, Json], path: str, query: str) -> bool:
        del path, query
        return bool(body.get("stream"))

    def answer(self, body: dict[str, Json], says: str | None) -> Json:
        text, reason = self._said(body, says)
        content = [{"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "text", "text": text}]
        return {**anthropic_message(body["model"]), "content": content, "stop_reason": reason}

    def events(self, body: dict[str, Json], says: str | None) -> list[Json]:
        text, reason = self._said(body, says)
        deltas = [anthropic_text(piece) for piece in _pieces(text)]
        return [
            {"type": "message_start", "message": anthropic_message(body["model"])},
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
            {"type": "ping"},
            *deltas,
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": {"output_tokens": 2}},
            {"type": "message_stop"},
        ]

    def error(self, message: str) -> Json:
        return {"type": "error", "error": {"type": "invalid_request_error", "message": message}, "request_id": "req_1"}

    def _said(self, body: dict[str, Json], says: str | None) -> tuple[str, str]:
        text, is_whole = _said(body["messages"][-1]["content"], body["max_tokens"], says, wants_json=self.schema_of(body) is not None)
        return text, "end_turn" if is_whole else "max_tokens"


def anthropic_message(model: str = "m") -> dict[str, Json]:
    """A message that has no content yet."""
    usage = {"input_tokens": 1, "output_tokens": 1}
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage,
    }


def anthropic_text(text: str) -> dict[str, Json]:
    """An event that writes ``text``."""
    return {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}


class GeminiApi:
    """https://ai.google.dev/api/generate-content"""

    def problem_of(self, body: dict[str, Json], headers: Mapping[str, str]) -> str | None:
        del headers
        if unknown := body.keys() - {"contents", "generationConfig", "systemInstruction"}:
            return f"Invalid JSON payload received. Unknown name {unknown}"
        settings = {"maxOutputTokens", "temperature", "responseMimeType", "responseJsonSchema"}
        if unknown := body.get("generationConfig", {}).keys() - settings:
            return f"Invalid JSON payload received. Unknown name {unknown} at 'generation_config'"
        return None if body.get("contents") else "contents is not specified"

    def schema_of(self, body: dict[str, Json]) -> Json:
        return body.get("generationConfig", {}).get("responseJsonSchema")

    def streams(self, body: dict[str, Json], path: str, query: str) -> bool:
        del body
        return path.endswith(":streamGenerateContent") and query == "alt=sse"

    def answer(self, body: dict[str, Json], says: str | None) -> Json:
        text, reason = self._said(body, says)
        return gemini_answer([{"text": "hm", "thought": True}, {"text": text}], reason)

    def events(self, body: dict[str, Json], says: str | None) -> list[Json]:
        text, reason = self._said(body, says)
        pieces = _pieces(text)
        return [gemini_answer([{"text": piece}], reason if number == len(pieces) else None) for number, piece in enumerate(pieces, 1)]

    def error(self, message: str) -> Json:
        return {"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}}

    def _said(self, body: dict[str, Json], says: str | None) -> tuple[str, str]:
        limit = body.get("generationConfig", {}).get("maxOutputTokens", 100)
        prompt = body["contents"][-1]["parts"][0]["text"]
        text, is_whole = _said(prompt, limit, says, wants_json=self.schema_of(body) is not None)
        return text, "STOP" if is_whole else "MAX_TOKENS"


def gemini_answer(parts: list[Json], finish_reason: str | None = None) -> dict[str, Json]:
    """An answer with one candidate, or an event of a stream."""
    candidate: dict[str, Json] = {"content": {"parts": parts, "role": "model"}, "index": 0}
    if finish_reason is not None:
        candidate["finishReason"] = finish_reason
    return {"candidates": [candidate], "usageMetadata": {"totalTokenCount": 2}, "modelVersion": "m", "responseId": "r"}


API_OF_PATH: dict[str, Api] = {
    "/chat/completions": OpenAiApi(),
    "/messages": AnthropicApi(),
    ":generateContent": GeminiApi(),
    ":streamGenerateContent": GeminiApi(),
}


def event_bytes(event: Json) -> bytes:
    """An event of a stream, as it is sent; JSON or text."""
    name = f"event: {event['type']}\n" if isinstance(event, dict) and "type" in event else ""
    data = event if isinstance(event, str) else json.dumps(event, ensure_ascii=False)
    return f"{name}data: {data}\n\n".encode()


def rerank_answer(body: dict[str, Json], *, logits: bool) -> Json:
    """Best first, at most ``top_n``; https://docs.cohere.com/reference/rerank."""
    scores = [_overlap(body["query"], document) for document in body["documents"]]
    if logits:
        scores = [math.log((score * 0.98 + 0.01) / (0.99 - score * 0.98)) for score in scores]
    results = [{"index": index, "relevance_score": score} for index, score in enumerate(scores)]
    results.sort(key=lambda result: -result["relevance_score"])
    limit = body.get("top_n", body.get("top_k", len(results)))
    return {"id": "r", "results": results[:limit], "meta": {"billed_units": {"search_units": 1}}}


def _said(prompt: str, limit: int, says: str | None, *, wants_json: bool) -> tuple[str, bool]:
    """What the model says to ``prompt``, and whether that is all that it would say."""
    if says is not None:
        return says, True
    if passages := _PASSAGE.findall(prompt):
        query = _QUERY.findall(prompt)[0]
        return json.dumps({"scores": [{"number": int(number), "score": _overlap(query, passage)} for number, passage in passages]}), True
    if wants_json:
        return json.dumps({"word": "yes"}), True
    return " ".join(WORDS[:limit]), limit >= len(WORDS)


def _pieces(text: str) -> list[str]:
    return re.findall(r"\S+\s*|\s+", text)


def _overlap(query: str, passage: str) -> float:
    words = set(query.lower().split())
    return len(words & set(passage.lower().split())) / len(words) if words else 0.0
