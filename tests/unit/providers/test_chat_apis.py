"""What each chat API is asked, and what is read in its answers."""

import pytest

from docmill.adapters.providers.anthropic_chat import AnthropicChat
from docmill.adapters.providers.chat_api import ChatApi, ChatRequest, Written
from docmill.adapters.providers.gemini_chat import GeminiChat
from docmill.adapters.providers.openai_chat import OpenAiChat
from support.language_model_apis import anthropic_message, anthropic_text, gemini_answer, openai_event

SCHEMA = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
WHOLE = ChatRequest("m", "hello", 50, "be brief", SCHEMA, 0.25)
BARE = ChatRequest("m", "hello", 50)

OPENAI = OpenAiChat(counts_thinking=False)
ANTHROPIC = AnthropicChat()
GEMINI = GeminiChat()


def test_openai_is_asked_by_messages_and_held_to_a_strict_schema() -> None:
    assert OPENAI.path(WHOLE, streams=True) == "/chat/completions"
    assert OPENAI.body(WHOLE, streams=True) == {
        "model": "m",
        "messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": "hello"}],
        "max_tokens": 50,
        "temperature": 0.25,
        "response_format": {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": SCHEMA}},
        "stream": True,
    }
    bare = {"model": "m", "messages": [{"role": "user", "content": "hello"}], "max_tokens": 50}
    assert OPENAI.body(BARE, streams=False) == bare


def test_a_provider_that_counts_what_a_model_thinks_is_told_so() -> None:
    body = OpenAiChat(counts_thinking=True).body(BARE, streams=False)
    assert body["max_completion_tokens"] == 50
    assert "max_tokens" not in body


def test_anthropic_is_asked_with_the_system_text_apart() -> None:
    assert ANTHROPIC.path(WHOLE, streams=True) == "/v1/messages"
    assert ANTHROPIC.headers("key") == {"anthropic-version": "2023-06-01", "x-api-key": "key"}
    assert ANTHROPIC.headers(None) == {"anthropic-version": "2023-06-01"}
    assert ANTHROPIC.body(WHOLE, streams=True) == {
        "model": "m",
        "system": "be brief",
        "messages": [{"role": "user", "content": "hello"}],
        "max_tokens": 50,
        "temperature": 0.25,
        "output_config": {"format": {"type": "json_schema", "schema": SCHEMA}},
        "stream": True,
    }
    assert ANTHROPIC.body(BARE, streams=False) == {"model": "m", "messages": [{"role": "user", "content": "hello"}], "max_tokens": 50}


def test_gemini_is_asked_at_a_path_of_the_model() -> None:
    assert GEMINI.path(ChatRequest("models/m", "hello", 50), streams=False) == "/models/m:generateContent"
    assert GEMINI.path(ChatRequest("../m?", "hello", 50), streams=True) == "/models/..%2Fm%3F:streamGenerateContent?alt=sse"
    assert GEMINI.headers("key") == {"x-goog-api-key": "key"}
    assert GEMINI.headers(None) == {}
    settings = {"maxOutputTokens": 50, "temperature": 0.25, "responseMimeType": "application/json", "responseJsonSchema": SCHEMA}
    contents = [{"role": "user", "parts": [{"text": "hello"}]}]
    assert GEMINI.body(WHOLE, streams=True) == {
        "systemInstruction": {"parts": [{"text": "be brief"}]},
        "contents": contents,
        "generationConfig": settings,
    }
    assert GEMINI.body(BARE, streams=True) == {"contents": contents, "generationConfig": {"maxOutputTokens": 50}}


def openai(message: object, finish_reason: object = "stop") -> dict[str, object]:
    return {"choices": [{"message": message, "finish_reason": finish_reason}]}


def anthropic(*blocks: object, stop_reason: object = "end_turn") -> dict[str, object]:
    return {**anthropic_message(), "content": list(blocks), "stop_reason": stop_reason}


TOOL_CALL = {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "type": "function"}]}
FILTERED = {"choices": [], "prompt_filter_results": [{}]}
CALLED = {"candidates": [{"content": {"parts": [{"functionCall": {"name": "f"}}]}, "finishReason": "STOP"}]}


@pytest.mark.parametrize(
    ("api", "answer", "written"),
    [
        (OPENAI, openai({"content": "hello", "refusal": None}), Written("hello", "stop")),
        (OPENAI, openai({"content": "hel"}, "length"), Written("hel", "length")),
        (OPENAI, openai({"content": "hel"}, "content_filter"), Written("hel", "content_filter", is_refusal=True)),
        (OPENAI, openai({"content": None, "refusal": "I will not."}), Written("", "I will not.", is_refusal=True)),
        (OPENAI, openai(TOOL_CALL, "tool_calls"), Written("", "tool_calls")),
        (OPENAI, openai({"content": "", "reasoning_content": "hm"}, "length"), Written("", "length")),
        (OPENAI, openai({"content": [{"type": "thinking", "text": "hm"}, {"type": "text", "text": "hello"}]}), Written("hello", "stop")),
        (OPENAI, openai(None, None), Written()),
        (OPENAI, {"choices": []}, Written()),
        (OPENAI, FILTERED, Written()),
        (OPENAI, {"choices": [None]}, Written()),
        (OPENAI, openai_event({"role": "assistant", "content": ""}), Written()),
        (OPENAI, openai_event({"content": " hel"}), Written(" hel")),
        (OPENAI, openai_event({}, "stop"), Written("", "stop")),
        (OPENAI, openai_event({"refusal": "No"}), Written("", "No", is_refusal=True)),
        (ANTHROPIC, anthropic({"type": "text", "text": "hel"}, {"type": "text", "text": "lo"}), Written("hello", "end_turn")),
        (ANTHROPIC, anthropic({"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "a"}), Written("a", "end_turn")),
        (ANTHROPIC, anthropic({"type": "tool_use", "input": {}}, stop_reason="tool_use"), Written("", "tool_use")),
        (ANTHROPIC, anthropic(stop_reason="refusal"), Written("", "refusal", is_refusal=True)),
        (ANTHROPIC, anthropic({"type": "text", "text": "hel"}, stop_reason="max_tokens"), Written("hel", "max_tokens")),
        (ANTHROPIC, {"type": "message_start", "message": anthropic_message()}, Written()),
        (ANTHROPIC, {"type": "content_block_start", "content_block": {"type": "text", "text": "a"}}, Written("a")),
        (ANTHROPIC, anthropic_text("hel"), Written("hel")),
        (ANTHROPIC, {"type": "content_block_delta", "delta": {"type": "thinking_delta", "thinking": "hm"}}, Written()),
        (ANTHROPIC, {"type": "content_block_delta", "delta": {"type": "input_json_delta", "partial_json": "{"}}, Written()),
        (ANTHROPIC, {"type": "message_delta", "delta": {"stop_reason": "refusal"}}, Written("", "refusal", is_refusal=True)),
        (ANTHROPIC, {"type": "message_delta", "delta": {}}, Written()),
        (ANTHROPIC, {"type": "of another time"}, Written()),
        (GEMINI, gemini_answer([{"text": "hm", "thought": True}, {"text": "hel"}, {"text": "lo"}], "STOP"), Written("hello", "STOP")),
        (GEMINI, gemini_answer([{"text": "hel"}]), Written("hel")),
        (GEMINI, gemini_answer([{"text": "hel"}], "MAX_TOKENS"), Written("hel", "MAX_TOKENS")),
        (GEMINI, gemini_answer([{"text": "hel"}], "SAFETY"), Written("hel", "SAFETY", is_refusal=True)),
        (GEMINI, {"candidates": [{"finishReason": "RECITATION"}]}, Written("", "RECITATION", is_refusal=True)),
        (GEMINI, {"promptFeedback": {"blockReason": "SAFETY"}}, Written("", "SAFETY", is_refusal=True)),
        (GEMINI, CALLED, Written("", "STOP")),
        (GEMINI, {"candidates": []}, Written()),
        (GEMINI, {"usageMetadata": {}}, Written()),
    ],
)
def test_an_answer_is_read_for_its_text_and_why_it_ended(api: ChatApi, answer: object, written: Written) -> None:
    assert api.written(answer) == written


@pytest.mark.parametrize("api", [OPENAI, ANTHROPIC, GEMINI])
@pytest.mark.parametrize("answer", [None, [], "text", 7, {}, {"choices": None}, {"type": 7}, {"type": "message"}])
def test_an_answer_of_another_form_is_refused(api: ChatApi, answer: object) -> None:
    if api is ANTHROPIC and answer == {"type": "message"}:
        with pytest.raises(ValueError, match="no list of content"):
            api.written(answer)
        return
    with pytest.raises(ValueError, match="it"):
        api.written(answer)
