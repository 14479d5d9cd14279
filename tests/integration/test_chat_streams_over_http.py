"""Answers that stream: what ends them, and who notices."""

import threading
from collections import deque
from collections.abc import Iterator
from typing import Any

import pytest

from docmill.domain.errors import CallCancelled, ProviderPermanent, ProviderRateLimited, ProviderTransient, TextRefused
from support.language_model_apis import anthropic_text, gemini_answer, openai_event
from support.language_model_connections import CHAT_PROVIDERS, chat_model_at
from support.language_model_server import LanguageModelServer, running_language_model_server
from support.waiting import wait_until

#: An event that writes "hello ", of each API.
PIECE: dict[str, Any] = {
    "openai": openai_event({"content": "hello "}),
    "anthropic": anthropic_text("hello "),
    "google": gemini_answer([{"text": "hello "}]),
}


def anthropic_end(stop_reason: str) -> dict[str, Any]:
    return {"type": "message_delta", "delta": {"stop_reason": stop_reason}}


def pieces_before_failing(stream: Iterator[str], kind: type[Exception], words: str) -> list[str]:
    pieces: list[str] = []
    with pytest.raises(kind, match=words):
        deque(map(pieces.append, stream))
    return pieces


@pytest.fixture(scope="module")
def server() -> Iterator[LanguageModelServer]:
    with running_language_model_server() as server:
        yield server


@pytest.fixture(params=CHAT_PROVIDERS)
def provider(request: pytest.FixtureRequest, server: LanguageModelServer) -> str:
    server.take_requests()
    return str(request.param)


def test_a_piece_is_there_before_the_next_is_written(server: LanguageModelServer, provider: str) -> None:
    server.misbehave({"events": [PIECE[provider]], "then": "hang"})
    with chat_model_at(server, provider) as model:
        stream = model.stream("hello", max_tokens=50)
        assert next(stream) == "hello "
        server.wait_for_requests(1, "under way")


@pytest.mark.parametrize("then", ["hang", "go on"])
def test_closing_a_stream_stops_the_request_at_the_server(server: LanguageModelServer, provider: str, then: str) -> None:
    server.misbehave({"events": [PIECE[provider]], "then": then})
    with chat_model_at(server, provider) as model:
        stream = model.stream("hello", max_tokens=50)
        assert next(stream) == "hello "
        stream.close()
        assert list(stream) == []
        server.wait_for_requests(1, "hung up")


def test_closing_a_stream_before_its_first_piece_stops_the_request(server: LanguageModelServer, provider: str) -> None:
    server.misbehave({"delay_seconds": 60})
    with chat_model_at(server, provider) as model:
        stream = model.stream("hello", max_tokens=50)
        server.wait_for_requests(1, "under way")
        stream.close()
        server.wait_for_requests(1, "hung up")
        assert list(stream) == []


def test_another_thread_that_waits_for_a_piece_has_the_end_when_the_stream_is_closed(server: LanguageModelServer, provider: str) -> None:
    server.misbehave({"events": [PIECE[provider]], "then": "hang"})
    with chat_model_at(server, provider) as model:
        stream = model.stream("hello", max_tokens=50)
        pieces: list[str] = []
        reader = threading.Thread(target=lambda: pieces.extend(stream))
        reader.start()
        server.wait_for_requests(1, "under way")
        stream.close()
        reader.join(timeout=10)
        assert not reader.is_alive()
        assert pieces in ([], ["hello "])
        server.wait_for_requests(1, "hung up")


def test_a_stream_that_nobody_keeps_stops_its_request(server: LanguageModelServer, provider: str) -> None:
    server.misbehave({"events": [PIECE[provider]], "then": "hang"})
    with chat_model_at(server, provider) as model:
        stream = model.stream("hello", max_tokens=50)
        next(stream)
        del stream
        server.wait_for_requests(1, "hung up")


def test_closing_the_model_ends_its_streams(server: LanguageModelServer, provider: str) -> None:
    server.misbehave({"events": [PIECE[provider]], "then": "hang"})
    with chat_model_at(server, provider) as model:
        stream = model.stream("hello", max_tokens=50)
        next(stream)
    with pytest.raises(CallCancelled):
        next(stream)
    server.wait_for_requests(1, "hung up")


def test_streams_of_one_model_run_beside_each_other(server: LanguageModelServer, provider: str) -> None:
    server.misbehave({"events": [PIECE[provider]], "then": "hang"})
    with chat_model_at(server, provider) as model:
        slow = model.stream("hello", max_tokens=50)
        assert next(slow) == "hello "
        assert "".join(model.stream("hello", max_tokens=2)) == "one two"
        slow.close()


def test_a_stream_that_hangs_ends_at_the_time_limit(server: LanguageModelServer, provider: str) -> None:
    server.misbehave({"events": [PIECE[provider]], "then": "hang"})
    with chat_model_at(server, provider, timeout_seconds=0.5) as model:
        stream = model.stream("hello", max_tokens=50)
        assert next(stream) == "hello "
        with pytest.raises(ProviderTransient, match="did not answer in time"):
            next(stream)
        assert list(stream) == []


def test_a_stream_that_never_ends_ends_at_the_time_limit(server: LanguageModelServer, provider: str) -> None:
    server.misbehave({"events": [PIECE[provider]], "then": "go on"})
    with chat_model_at(server, provider, timeout_seconds=0.5) as model, pytest.raises(ProviderTransient, match="did not answer in time"):
        list(model.stream("hello", max_tokens=50))
    server.wait_for_requests(1, "hung up")


@pytest.mark.parametrize("then", ["cut", "end"])
def test_a_stream_that_breaks_off_brings_what_came_and_then_a_failure(server: LanguageModelServer, provider: str, then: str) -> None:
    server.misbehave({"events": [PIECE[provider], PIECE[provider]], "then": then})
    words = "broke off in the middle" if then == "end" else "cannot be reached"
    with chat_model_at(server, provider) as model:
        assert pieces_before_failing(model.stream("hello", max_tokens=50), ProviderTransient, words) == ["hello ", "hello "]


@pytest.mark.parametrize(
    ("event", "kind", "words"),
    [
        ({"error": {"message": "slow down", "code": 429}}, ProviderRateLimited, "slow down"),
        ({"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}, ProviderTransient, "busy"),
        ({"error": {"message": "wrong key", "code": 401}}, ProviderPermanent, "wrong key"),
        ("<html></html>", ProviderPermanent, "not JSON"),
        ('{"choices": [{"delta": {"con', ProviderTransient, "cut off"),
        ("null", ProviderPermanent, "cannot be used"),
    ],
)
def test_an_event_that_is_an_error_ends_the_stream(
    server: LanguageModelServer, provider: str, event: object, kind: type[Exception], words: str
) -> None:
    server.misbehave({"events": [PIECE[provider], event, PIECE[provider]], "then": "end"})
    with chat_model_at(server, provider) as model:
        assert pieces_before_failing(model.stream("hello", max_tokens=50), kind, words) == ["hello "]


@pytest.mark.parametrize(
    ("api", "event", "words"),
    [
        ("openai", openai_event({}, "content_filter"), "refuses to answer this prompt: content_filter"),
        ("anthropic", anthropic_end("refusal"), "refuses to answer this prompt: refusal"),
        ("google", gemini_answer([], "SAFETY"), "refuses to answer this prompt: SAFETY"),
    ],
)
@pytest.mark.parametrize("pieces_before", [0, 1])
def test_a_refusal_in_a_stream_is_said_after_what_came(
    server: LanguageModelServer, api: str, event: object, words: str, pieces_before: int
) -> None:
    server.misbehave({"events": [PIECE[api]] * pieces_before + [event], "then": "end"})
    with chat_model_at(server, api) as model:
        assert pieces_before_failing(model.stream("hello", max_tokens=50), TextRefused, words) == ["hello "] * pieces_before


@pytest.mark.parametrize(
    ("api", "event"),
    [
        ("openai", openai_event({"tool_calls": [{}]}, "tool_calls")),
        ("anthropic", anthropic_end("tool_use")),
        ("google", gemini_answer([{"functionCall": {}}], "STOP")),
    ],
)
def test_a_stream_without_text_is_a_refusal_of_this_prompt(server: LanguageModelServer, api: str, event: object) -> None:
    server.misbehave({"events": [event], "then": "end"})
    with chat_model_at(server, api) as model, pytest.raises(TextRefused, match="wrote no text"):
        list(model.stream("hello", max_tokens=50))


@pytest.mark.parametrize(
    ("api", "event"),
    [("openai", openai_event({}, "length")), ("anthropic", anthropic_end("max_tokens")), ("google", gemini_answer([], "MAX_TOKENS"))],
)
def test_a_stream_that_was_cut_at_its_tokens_is_an_answer(server: LanguageModelServer, api: str, event: object) -> None:
    server.misbehave({"events": [PIECE[api], event], "then": "end"})
    with chat_model_at(server, api) as model:
        assert list(model.stream("hello", max_tokens=50)) == ["hello "]


def test_an_event_without_end_is_refused(server: LanguageModelServer, provider: str) -> None:
    server.misbehave({"events": ["x" * 1_100_000], "then": "hang"})
    with chat_model_at(server, provider) as model, pytest.raises(ProviderPermanent, match="an event has more than"):
        list(model.stream("hello", max_tokens=50))


def test_a_server_that_answers_at_once_where_it_should_stream_is_understood(server: LanguageModelServer, provider: str) -> None:
    with chat_model_at(server, provider) as model:
        whole = {
            "openai": {"choices": [{"message": {"content": "hello"}, "finish_reason": "stop"}]},
            "anthropic": {"type": "message", "content": [{"type": "text", "text": "hello"}], "stop_reason": "end_turn"},
            "google": gemini_answer([{"text": "hello"}], "STOP"),
        }[provider]
        server.misbehave({"answers": whole})
        assert list(model.stream("hello", max_tokens=50)) == ["hello"]


def test_no_thread_is_left_when_the_model_is_closed(server: LanguageModelServer, provider: str) -> None:
    before = threading.active_count()
    with chat_model_at(server, provider) as model:
        list(model.stream("hello", max_tokens=50))
        assert threading.active_count() > before
    wait_until(lambda: threading.active_count() <= before, "the thread of the requests to end")
