"""What every kind of answer means."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime

import pytest

from docmill.adapters.providers.failures import Failure, FailureKind, RequestRefused, failure_of, provider_error
from docmill.adapters.providers.json_values import json_value
from docmill.domain.errors import ProviderPermanent, ProviderRateLimited, ProviderTransient

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
LIMITED, TRANSIENT, PERMANENT, REFUSED = (
    FailureKind.RATE_LIMITED,
    FailureKind.TRANSIENT,
    FailureKind.PERMANENT,
    FailureKind.REQUEST_REFUSED,
)
PAGE = "<!doctype html><html><head><title>502 Bad Gateway</title></head><body><h1>nginx</h1></body></html>"


def openai(message: str = "words", **labels: object) -> str:
    return json.dumps({"error": {"message": message, "type": None, "param": None, "code": None, **labels}})


def failed(status: int, headers: Mapping[str, str], body: bytes) -> Failure | None:
    try:
        value = json_value(body)
    except ValueError:
        value = None
    return failure_of(status, headers, body, value, now=NOW)


def google(code: int, status: str, message: str = "words", *details: object) -> str:
    return json.dumps({"error": {"code": code, "message": message, "status": status, "details": list(details)}})


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        # By the status alone.
        *((status, "", TRANSIENT) for status in (408, 500, 502, 503, 504, 529)),
        *((status, "", REFUSED) for status in (400, 413, 422)),
        *((status, "", PERMANENT) for status in (301, 307, 401, 402, 403, 404, 405, 409, 410, 415, 418, 451, 501, 505, 599)),
        (429, "", LIMITED),
        (429, PAGE, LIMITED),
        (502, PAGE, TRANSIENT),
        (403, PAGE, PERMANENT),
        (500, "[[[", TRANSIENT),
        # OpenAI.
        (429, openai("Rate limit reached for requests", code="rate_limit_exceeded", type="requests"), LIMITED),
        (429, openai("You exceeded your current quota", code="insufficient_quota", type="insufficient_quota"), PERMANENT),
        (429, openai(type="insufficient_quota"), PERMANENT),
        (429, openai(code="billing_hard_limit_reached"), PERMANENT),
        (400, openai("Billing hard limit has been reached", code="billing_hard_limit_reached"), PERMANENT),
        (400, openai("This model's maximum context length is 8192 tokens", type="invalid_request_error"), REFUSED),
        (400, openai(code="rate_limit_exceeded"), LIMITED),
        (400, openai("Too many requests, slow down"), LIMITED),
        (400, openai("invalid input: 'a chapter on servers. Rate limit errors are 429'" + " " * 50), REFUSED),
        (401, openai("Incorrect API key provided", code="invalid_api_key"), PERMANENT),
        (400, openai(code="model_not_found"), PERMANENT),
        (503, openai("The engine is currently overloaded", type="overloaded_error"), TRANSIENT),
        (503, openai("slow down", code="rate_limit_exceeded"), TRANSIENT),
        # Google.
        (429, google(429, "RESOURCE_EXHAUSTED"), LIMITED),
        (400, google(400, "INVALID_ARGUMENT", "API key not valid.", {"reason": "API_KEY_INVALID"}), PERMANENT),
        (400, google(400, "INVALID_ARGUMENT", "Request contains an invalid argument."), REFUSED),
        (503, google(503, "UNAVAILABLE", "The model is overloaded."), TRANSIENT),
        (429, f"[{google(429, 'RESOURCE_EXHAUSTED')}]", LIMITED),
        # Cohere, Voyage, Mistral.
        (429, '{"message": "You are using a Trial key, which is limited to 100 API calls / minute"}', LIMITED),
        (400, '{"message": "invalid request: the text is too long"}', REFUSED),
        (400, '{"detail": "The example at index 0 in your batch has too many tokens"}', REFUSED),
        (422, '{"object": "error", "message": {"detail": [{"msg": "Extra inputs are not permitted"}]}}', REFUSED),
        (401, '{"detail": "Provided API key is invalid."}', PERMANENT),
        # llama.cpp, Ollama.
        (500, openai("input is too large to process. increase the physical batch size", type="server_error"), REFUSED),
        (500, '{"error": "the input length exceeds the context length"}', REFUSED),
        (400, '{"error": "the input length exceeds the context length"}', REFUSED),
        (404, '{"error": "model \\"x\\" not found, try pulling it first"}', PERMANENT),
        (500, '{"error": "llama runner process has terminated"}', TRANSIENT),
        # Errors inside a success.
        (200, '{"error": {"code": 429, "message": "Rate limited upstream"}}', LIMITED),
        (200, '{"error": {"code": "429", "message": "x"}}', LIMITED),
        (200, '{"error": {"message": "x", "type": "rate_limit_error"}}', LIMITED),
        (200, '{"error": "Too many requests"}', LIMITED),
        (200, '{"error": {"code": 503, "message": "x"}}', TRANSIENT),
        (200, '{"error": {"message": "x", "type": "overloaded_error"}}', TRANSIENT),
        (200, '{"error": {"code": 400, "message": "x"}}', REFUSED),
        (200, '{"error": {"code": 401, "message": "x"}}', PERMANENT),
        (200, '{"error": {"code": "insufficient_quota", "message": "x"}}', PERMANENT),
        (200, '{"error": {"message": "x"}}', PERMANENT),
        (200, '{"error": "x", "status": 503}', TRANSIENT),
        (200, '{"object": "error", "message": "Rate limit exceeded", "code": 429}', LIMITED),
        (200, '{"object": "error", "message": "x", "code": 404}', PERMANENT),
        (200, '{"type": "error", "error": {"type": "rate_limit_error", "message": "x"}}', LIMITED),
        (200, '{"code": 429, "message": "x"}', LIMITED),
        (200, '{"detail": "Rate limit exceeded"}', LIMITED),
        (200, '{"errors": [{"code": 429, "message": "x"}]}', LIMITED),
        (200, '{"errors": ["x"]}', PERMANENT),
        (400, '{"errors": [{"code": 429, "message": "x"}]}', LIMITED),
        (400, openai("slow", code=429), LIMITED),
        (400, '{"code": 429, "message": "x"}', LIMITED),
        (400, openai("the text is too long", code=503), REFUSED),
        # A success that breaks off.
        (200, '{"data": [{"index": 0, "embedding": [0.1, 0.', TRANSIENT),
        (200, " [1, 2", TRANSIENT),
    ],
)
def test_an_answer_means_one_kind_of_failure(status: int, body: str, kind: FailureKind) -> None:
    failure = failed(status, {}, body.encode())
    assert failure is not None
    assert failure.kind is kind


@pytest.mark.parametrize(
    "body",
    [
        *('{"data": []}', "[]", '{"data": [], "error": null, "errors": []}', "{}", "", "plain", PAGE, "\xff"),
        *(
            '{"type": "message", "content": []}',
            '{"message": {"role": "assistant", "content": "Rate limit"}}',
            '{"status": 200, "data": []}',
        ),
    ],
)
def test_a_success_without_an_error_in_it_is_no_failure(body: str) -> None:
    assert failed(200, {}, body.encode("latin-1")) is None


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (openai("the words"), "the words"),
        ('{"error": "the words"}', "the words"),
        ('{"message": "the words"}', "the words"),
        ('{"detail": "the words"}', "the words"),
        ('{"detail": [{"msg": "the words"}]}', '[{"msg": "the words"}]'),
        (PAGE, "502 Bad Gateway"),
        ("<p>the <b>words</b> &amp; more</p><script>no</script>", "the words & more"),
        ("the\n words", "the words"),
        ('{"error": {"code": 17}}', '{"error": {"code": 17}}'),
        ("", "without a word"),
        ("\x00\xff", "\x00\ufffd"),
    ],
)
def test_the_message_is_in_the_providers_own_words(body: str, words: str) -> None:
    failure = failed(503, {}, body.encode("latin-1"))
    assert failure is not None
    assert failure.words == f"answered 503: {words}"


def test_the_error_is_one_short_line_without_secrets() -> None:
    failure = failed(401, {}, openai("Incorrect\nkey: sk-secret " + "x" * 900).encode())
    assert failure is not None
    error = provider_error(failure, provider="acme/m at http://acme", secrets=("sk-secret",))
    assert str(error).startswith("acme/m at http://acme answered 401: Incorrect key: *** xxx")
    assert len(str(error)) < 600


@pytest.mark.parametrize(
    ("status", "kind", "seconds"),
    [(429, ProviderRateLimited, 40.0), (503, ProviderTransient, 40.0), (400, RequestRefused, None), (401, ProviderPermanent, None)],
)
def test_the_error_says_when_to_come_back_where_that_helps(status: int, kind: type[Exception], seconds: float | None) -> None:
    failure = failed(status, {"Retry-After": "40"}, b"")
    assert failure is not None
    error = provider_error(failure, provider="p", secrets=())
    assert type(error) is kind
    assert getattr(error, "retry_after_seconds", None) == seconds
