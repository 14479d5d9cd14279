"""Chat models behind HTTP: what they send, and what they make of every kind of answer."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from docmill.adapters.providers.failures import RequestRefused
from docmill.adapters.providers.http_chat import HttpChatModel
from docmill.domain.errors import CallCancelled, ProviderError, ProviderPermanent, ProviderRateLimited, ProviderTransient, TextRefused
from docmill.ports.models import Caller
from support.language_model_connections import CHAT_PROVIDERS, KEY, chat_model_at
from support.language_model_server import LanguageModelServer, running_language_model_server

SCHEMA = {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"], "additionalProperties": False}
ANSWER = "one two three four five six seven eight nine ten eleven twelve"


@pytest.fixture(scope="module")
def server() -> Iterator[LanguageModelServer]:
    with running_language_model_server() as server:
        yield server


@pytest.fixture(scope="module", params=CHAT_PROVIDERS)
def provider(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def model(server: LanguageModelServer, provider: str) -> Iterator[HttpChatModel]:
    server.behave()
    with chat_model_at(server, provider) as model:
        yield model
    server.behave()


def test_the_key_is_sent_as_each_api_wants_it(server: LanguageModelServer, provider: str, model: HttpChatModel) -> None:
    assert model.complete("hello", max_tokens=50) == ANSWER
    [request] = server.take_requests()
    keys = {name: value for name, value in request["headers"].items() if KEY in value}
    assert keys == {
        "openai": {"authorization": f"Bearer {KEY}"},
        "anthropic": {"x-api-key": KEY},
        "google": {"x-goog-api-key": KEY},
    }[provider]  # fmt: skip
    assert KEY not in request["path"]


def test_headers_of_the_configuration_go_with_every_request(server: LanguageModelServer, provider: str) -> None:
    server.take_requests()
    with chat_model_at(server, provider, headers=(("x-tenant", "acme"),), token_key=None) as model:
        model.complete("hello", max_tokens=50)
        list(model.stream("hello", max_tokens=50))
    first, second = server.take_requests()
    assert first["headers"]["x-tenant"] == second["headers"]["x-tenant"] == "acme"
    assert not {"authorization", "x-api-key", "x-goog-api-key"} & first["headers"].keys()


def test_an_answer_is_never_longer_than_the_configuration_allows(server: LanguageModelServer, provider: str) -> None:
    with chat_model_at(server, provider, max_tokens=3) as model:
        assert model.complete("hello", max_tokens=50) == "one two three"
        assert "".join(model.stream("hello", max_tokens=2)) == "one two"


def test_a_streamed_answer_comes_in_pieces_and_is_the_same(model: HttpChatModel) -> None:
    pieces = list(model.stream("hello", max_tokens=50, system="be brief"))
    assert len(pieces) == 12
    assert "".join(pieces) == ANSWER


def test_an_answer_is_held_to_a_schema(server: LanguageModelServer, model: HttpChatModel) -> None:
    assert model.complete("hello", max_tokens=50, schema=SCHEMA) == '{"word": "yes"}'
    assert str(SCHEMA["required"]) in str(server.take_requests()[0]["body"])


def test_a_model_that_keeps_to_no_schema_is_asked_without_from_then_on(server: LanguageModelServer, provider: str) -> None:
    server.take_requests()
    server.misbehave({"without_schemas": True})
    with chat_model_at(server, provider) as model:
        assert model.complete("hello", max_tokens=50, schema=SCHEMA) == ANSWER
        assert len(server.take_requests()) == 2
        assert model.complete("hello", max_tokens=50, schema=SCHEMA) == ANSWER
    [request] = server.take_requests()
    assert "required" not in str(request["body"])
    server.misbehave({"without_schemas": False})


def test_a_prompt_that_is_refused_where_others_are_taken_is_to_blame(server: LanguageModelServer, model: HttpChatModel) -> None:
    server.misbehave({"refuses": "poison"})
    with pytest.raises(TextRefused, match="answered 400: this prompt is too long") as refused:
        model.complete("a poison prompt", max_tokens=50, schema=SCHEMA)
    assert refused.value.place == 0
    assert model.complete("another prompt", max_tokens=50, schema=SCHEMA) == '{"word": "yes"}'


def test_a_provider_that_refuses_every_prompt_is_to_blame_itself(server: LanguageModelServer, model: HttpChatModel) -> None:
    server.misbehave({"refuses": ""})
    with pytest.raises(RequestRefused, match="answered 400: this prompt is too long"):
        model.complete("a prompt", max_tokens=50)
    assert len(server.take_requests()) == 2


def asked(model: HttpChatModel, *, streams: bool) -> str:
    return "".join(model.stream("hello", max_tokens=50)) if streams else model.complete("hello", max_tokens=50)


@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (429, {"error": {"message": "the provider's own words"}}, ProviderRateLimited),
        (429, {"error": {"message": "the provider's own words", "code": "insufficient_quota"}}, ProviderPermanent),
        (429, {"error": {"code": 429, "message": "the provider's own words", "status": "RESOURCE_EXHAUSTED"}}, ProviderRateLimited),
        (529, {"type": "error", "error": {"type": "overloaded_error", "message": "the provider's own words"}}, ProviderTransient),
        (503, {"error": {"code": 503, "message": "the provider's own words", "status": "UNAVAILABLE"}}, ProviderTransient),
        (500, {"error": {"message": "the provider's own words"}}, ProviderTransient),
        (502, "<html><head><title>the provider's own words</title></head></html>", ProviderTransient),
        (401, {"error": {"message": "the provider's own words"}}, ProviderPermanent),
        (404, {"error": {"message": "the provider's own words"}}, ProviderPermanent),
        (301, "the provider's own words", ProviderPermanent),
        (200, {"error": {"message": "the provider's own words", "code": 429}}, ProviderRateLimited),
        (200, {"type": "error", "error": {"type": "overloaded_error", "message": "the provider's own words"}}, ProviderTransient),
        (200, {"error": {"message": "the provider's own words", "code": 401}}, ProviderPermanent),
    ],
)
def test_a_failure_has_one_kind_and_is_not_tried_again(
    server: LanguageModelServer, model: HttpChatModel, streams: bool, status: int, body: object, kind: type[ProviderError]
) -> None:
    server.misbehave({"status": status, "body": body, "headers": {"retry-after": "7"}})
    with pytest.raises(ProviderError, match=f"some-model at http.* answered {status}: the provider's own words") as failure:
        asked(model, streams=streams)
    assert type(failure.value) is kind
    assert len(server.take_requests()) == 1


@pytest.mark.parametrize("streams", [False, True])
def test_the_provider_s_wish_to_be_left_alone_is_passed_on(server: LanguageModelServer, model: HttpChatModel, streams: bool) -> None:
    server.misbehave({"status": 429, "body": {}, "headers": {"retry-after": "7"}})
    with pytest.raises(ProviderRateLimited) as failure:
        asked(model, streams=streams)
    assert failure.value.retry_after_seconds == 7


@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize(
    "body", ["<html>Log in to the network</html>", "", "null", [], 7, {}, {"choices": "none"}, {"type": 1}, "[" * 10_000]
)
def test_an_answer_of_another_form_cannot_be_used(server: LanguageModelServer, model: HttpChatModel, streams: bool, body: object) -> None:
    server.misbehave({"status": 200, "body": body})
    with pytest.raises(ProviderError, match="cannot be used") as failure:
        asked(model, streams=streams)
    assert type(failure.value) in (ProviderPermanent, ProviderTransient)


#: Nothing that could be shown came, and another prompt may do better.
WITHOUT_TEXT: dict[str, list[tuple[Any, str]]] = {
    "openai": [
        ({"choices": []}, "wrote no text"),
        ({"choices": [{"message": {"content": None, "tool_calls": [{}]}, "finish_reason": "tool_calls"}]}, "stopped with tool_calls"),
        ({"choices": [{"message": {"content": ""}, "finish_reason": "length"}]}, "stopped with length"),
        ({"choices": [{"message": {"content": " \n"}, "finish_reason": "stop"}]}, "wrote no text"),
        (
            {"choices": [{"message": {"content": "par"}, "finish_reason": "content_filter"}]},
            "refuses .* prompt: content_filter",
        ),
        ({"choices": [{"message": {"refusal": "I will not."}, "finish_reason": "stop"}]}, "refuses .* prompt: I will not."),
    ],
    "anthropic": [
        ({"type": "message", "content": [], "stop_reason": "end_turn"}, "wrote no text; it stopped with end_turn"),
        ({"type": "message", "content": [{"type": "tool_use", "input": {}}], "stop_reason": "tool_use"}, "stopped with tool_use"),
        ({"type": "message", "content": [{"type": "thinking", "thinking": "hm"}], "stop_reason": "max_tokens"}, "stopped with max_tokens"),
        (
            {"type": "message", "content": [{"type": "text", "text": "par"}], "stop_reason": "refusal"},
            "refuses .* prompt: refusal",
        ),
    ],
    "google": [
        ({"candidates": []}, "wrote no text"),
        ({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}, "refuses .* prompt: PROHIBITED_CONTENT"),
        ({"candidates": [{"finishReason": "MAX_TOKENS"}]}, "stopped with MAX_TOKENS"),
        ({"candidates": [{"finishReason": "SAFETY"}]}, "refuses .* prompt: SAFETY"),
        ({"candidates": [{"content": {"parts": [{"functionCall": {}}]}, "finishReason": "STOP"}]}, "stopped with STOP"),
    ],
}


@pytest.mark.parametrize(("api", "answer", "words"), [(api, *case) for api, cases in WITHOUT_TEXT.items() for case in cases])
def test_an_answer_without_text_is_a_refusal_of_this_prompt_alone(
    server: LanguageModelServer, api: str, answer: object, words: str
) -> None:
    server.misbehave({"answers": answer})
    with chat_model_at(server, api) as model, pytest.raises(TextRefused, match=words):
        model.complete("hello", max_tokens=50)


@pytest.mark.parametrize("streams", [False, True])
def test_the_key_is_in_no_message_even_when_the_provider_repeats_it(
    server: LanguageModelServer, model: HttpChatModel, streams: bool
) -> None:
    server.misbehave({"status": 401, "body": {"error": {"message": f"Incorrect API key: {KEY}"}}})
    with pytest.raises(ProviderPermanent, match=r"Incorrect API key: \*\*\*") as failure:
        asked(model, streams=streams)
    assert failure.value.__cause__ is None
    assert failure.value.__suppress_context__ or failure.value.__context__ is None


@pytest.mark.parametrize("streams", [False, True])
def test_a_connection_that_ends_without_an_answer_is_transient(server: LanguageModelServer, model: HttpChatModel, streams: bool) -> None:
    server.misbehave({"disconnect": True})
    with pytest.raises(ProviderTransient, match="cannot be reached"):
        asked(model, streams=streams)


@pytest.mark.parametrize("streams", [False, True])
def test_a_server_that_is_not_there_is_transient(server: LanguageModelServer, provider: str, streams: bool) -> None:
    with (
        chat_model_at(server, provider, base_url="http://127.0.0.1:9") as model,
        pytest.raises(ProviderTransient, match="cannot be reached"),
    ):
        asked(model, streams=streams)


@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize("fault", [{"delay_seconds": 60}, {"drips": True}])
def test_a_late_answer_ends_at_the_time_limit_and_the_request_with_it(
    server: LanguageModelServer, provider: str, streams: bool, fault: dict[str, object]
) -> None:
    server.take_requests()
    server.misbehave(fault)
    with chat_model_at(server, provider, timeout_seconds=0.3) as model, pytest.raises(ProviderTransient, match="did not answer in time"):
        asked(model, streams=streams)
    server.wait_for_requests(1, "hung up")


def test_what_failed_once_works_the_next_time(server: LanguageModelServer, model: HttpChatModel) -> None:
    server.misbehave({"status": 503, "body": {}}, {"disconnect": True})
    for streams in (False, True):
        with pytest.raises(ProviderTransient):
            asked(model, streams=streams)
    assert asked(model, streams=False) == asked(model, streams=True) == ANSWER


def test_a_model_that_was_closed_says_so(server: LanguageModelServer, provider: str) -> None:
    with chat_model_at(server, provider) as model:
        model.complete("hello", max_tokens=50)
    for streams in (False, True):
        with pytest.raises(CallCancelled, match="docmill is stopping"):
            asked(model, streams=streams)


def test_a_model_may_be_closed_twice_and_before_it_was_used(server: LanguageModelServer, provider: str) -> None:
    with chat_model_at(server, provider) as model:
        model.complete("hello", max_tokens=50)
        model.close()
    with chat_model_at(server, provider):
        pass


def test_many_threads_may_ask_one_model_at_once(server: LanguageModelServer, model: HttpChatModel) -> None:
    server.misbehave(*[{"delay_seconds": 2}] * 8)
    with ThreadPoolExecutor(8) as threads:
        answers = [
            threads.submit(asked, model.on_behalf_of(Caller("notes", is_query=True)), streams=bool(number % 2)) for number in range(8)
        ]
        server.wait_for_requests(8, "under way")
    assert [answer.result() for answer in answers] == [ANSWER] * 8
