"""An OpenAI-compatible embedding model: what it sends, and what it makes of every kind of answer."""

from collections.abc import Iterator

import pytest

from docmill.adapters.memory.models import hash_vector
from docmill.adapters.providers.failures import RequestRefused
from docmill.adapters.providers.openai_compatible import OpenAiEmbeddingModel
from docmill.domain.errors import ProviderError, ProviderPermanent, ProviderRateLimited, ProviderTransient, TextRefused
from docmill.domain.knowledge_bases import EmbeddingModelSpec
from support.openai_server import OpenAiServer, running_openai_server

DIMENSIONS = 8
KEY = "sk-a-very-secret-key"


@pytest.fixture(scope="module")
def server() -> Iterator[OpenAiServer]:
    with running_openai_server(dimensions=DIMENSIONS) as server:
        yield server


class Models:
    def __init__(self, server: OpenAiServer) -> None:
        self._server = server
        self._made: list[OpenAiEmbeddingModel] = []

    def make(
        self,
        model: str = "some-model",
        *,
        batch_size: int = 50,
        dimensions: int = DIMENSIONS,
        api_key: str | None = KEY,
        base_url: str | None = None,
        timeout_seconds: float = 20.0,
    ) -> OpenAiEmbeddingModel:
        spec = EmbeddingModelSpec("openai", model, base_url=base_url or self._server.base_url, batch_size=batch_size)
        made = OpenAiEmbeddingModel(spec, dimensions=dimensions, api_key=api_key, timeout_seconds=timeout_seconds)
        self._made.append(made)
        return made

    def close(self) -> None:
        for model in self._made:
            model.close()


@pytest.fixture
def models(server: OpenAiServer) -> Iterator[Models]:
    server.behave()
    models = Models(server)
    yield models
    models.close()


def test_a_request_has_at_most_the_configured_number_of_texts(server: OpenAiServer, models: Models) -> None:
    texts = [f"text {number}" for number in range(7)]
    vectors = models.make(batch_size=3).embed_passages(texts)
    assert [len(request["body"]["input"]) for request in server.take_requests()] == [3, 3, 1]
    assert vectors == [hash_vector(text, DIMENSIONS) for text in texts]


def test_vectors_are_asked_for_as_plain_numbers_with_the_key_as_bearer_token(server: OpenAiServer, models: Models) -> None:
    models.make().embed_query("hello")
    [request] = server.take_requests()
    assert request["authorization"] == f"Bearer {KEY}"
    assert request["body"] == {"model": "some-model", "input": ["hello"], "encoding_format": "float"}


def test_without_a_key_no_credential_is_sent(server: OpenAiServer, models: Models) -> None:
    models.make(api_key=None).embed_query("hello")
    [request] = server.take_requests()
    assert request["authorization"] is None


def test_dimensions_and_base64_are_asked_of_a_model_that_surely_has_them(server: OpenAiServer, models: Models) -> None:
    vector = models.make("text-embedding-3-small", dimensions=12).embed_query("hello")
    [request] = server.take_requests()
    assert (request["body"]["dimensions"], request["body"]["encoding_format"]) == (12, "base64")
    assert len(vector) == 12


def test_vectors_are_placed_by_their_index(server: OpenAiServer, models: Models) -> None:
    server.misbehave({"data": "turned"})
    texts = ["one", "two", "three"]
    assert models.make().embed_passages(texts) == [hash_vector(text, DIMENSIONS) for text in texts]


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("repeated", "two vectors with the index 0"),
        ("missing", "has 1 vectors, and 2 texts were sent"),
        ("renumbered", "index 2"),
        ("zero", "only zeros"),
        ("nan", "not a finite"),
        ("huge", "not a finite"),
        ("short", "7 dimensions where 8 are configured"),
        ("text", "not a list of numbers"),
    ],
)
def test_an_answer_that_cannot_be_used_is_a_permanent_error_that_says_why(
    server: OpenAiServer, models: Models, how: str, words: str
) -> None:
    server.misbehave({"data": how})
    with pytest.raises(ProviderPermanent, match=words):
        models.make().embed_passages(["one", "two"])


@pytest.mark.parametrize("body", ["<html>hello</html>", "", [], {"data": None}, {"data": [1]}])
def test_an_answer_of_another_form_is_a_permanent_error(server: OpenAiServer, models: Models, body: object) -> None:
    server.misbehave({"status": 200, "body": body})
    with pytest.raises(ProviderPermanent, match="cannot be used"):
        models.make().embed_query("hello")


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (429, None, ProviderRateLimited),
        (429, "rate_limit_exceeded", ProviderRateLimited),
        (429, "insufficient_quota", ProviderPermanent),
        (408, None, ProviderTransient),
        (500, None, ProviderTransient),
        (502, None, ProviderTransient),
        (503, None, ProviderTransient),
        (504, None, ProviderTransient),
        (529, None, ProviderTransient),
        (400, None, RequestRefused),
        (400, "rate_limit_exceeded", ProviderRateLimited),
        (401, None, ProviderPermanent),
        (403, None, ProviderPermanent),
        (404, None, ProviderPermanent),
        (413, None, RequestRefused),
        (422, None, RequestRefused),
        (501, None, ProviderPermanent),
    ],
)
def test_a_status_means_one_kind_of_error_and_is_not_tried_again(
    server: OpenAiServer, models: Models, status: int, code: str | None, kind: type[ProviderError]
) -> None:
    server.misbehave({"status": status, "body": {"error": {"message": "the provider's own words", "code": code}}})
    with pytest.raises(ProviderError, match=f"answered {status}: the provider's own words") as failure:
        models.make().embed_query("hello")
    assert type(failure.value) is kind
    assert len(server.take_requests()) == 1


@pytest.mark.parametrize("body", ["<html>Bad gateway</html>", "", {"detail": "no such thing"}, {"error": "a sentence"}])
def test_a_refusal_in_any_form_is_one_line_with_its_status(server: OpenAiServer, models: Models, body: object) -> None:
    server.misbehave({"status": 502, "body": body})
    with pytest.raises(ProviderTransient, match="502") as failure:
        models.make().embed_query("hello")
    assert "\n" not in str(failure.value)


def test_the_key_is_in_no_message_even_when_the_provider_repeats_it(server: OpenAiServer, models: Models) -> None:
    server.misbehave({"status": 401, "body": {"error": {"message": f"Incorrect API key: {KEY}"}}})
    with pytest.raises(ProviderPermanent, match=r"Incorrect API key: \*\*\*") as failure:
        models.make().embed_query("hello")
    assert failure.value.__cause__ is None
    assert failure.value.__suppress_context__


def test_a_connection_that_ends_without_an_answer_is_transient(server: OpenAiServer, models: Models) -> None:
    server.misbehave({"disconnect": True})
    with pytest.raises(ProviderTransient, match="cannot be reached"):
        models.make().embed_query("hello")


def test_a_late_answer_is_transient(server: OpenAiServer, models: Models) -> None:
    server.misbehave({"delay_seconds": 60})
    with pytest.raises(ProviderTransient, match="did not answer in time"):
        models.make(timeout_seconds=0.2).embed_query("hello")


def test_a_server_that_is_not_there_is_transient_and_named_without_its_password(models: Models) -> None:
    model = models.make(base_url="http://name:password@127.0.0.1:9/v1")
    with pytest.raises(ProviderTransient, match=r"some-model at http://127\.0\.0\.1:9/v1 cannot be reached"):
        model.embed_query("hello")


def test_what_failed_once_works_the_next_time(server: OpenAiServer, models: Models) -> None:
    server.misbehave({"status": 503, "body": {}})
    model = models.make()
    with pytest.raises(ProviderTransient):
        model.embed_query("hello")
    assert model.embed_query("hello") == hash_vector("hello", DIMENSIONS)


@pytest.mark.parametrize("place", [0, 3, 6])
def test_a_text_that_is_refused_alone_is_named_by_its_place(server: OpenAiServer, models: Models, place: int) -> None:
    server.misbehave({"refuses": "poison"})
    texts = [f"text {number}" for number in range(7)]
    texts[place] = "a poison text"
    with pytest.raises(TextRefused, match="answered 400: this input is too long") as refused:
        models.make(batch_size=5).embed_passages(texts)
    assert refused.value.place == place


def test_what_was_made_before_a_request_failed_is_not_lost(server: OpenAiServer, models: Models) -> None:
    server.misbehave({"status": 413, "body": "too many"}, {}, {}, {"status": 503, "body": {}})
    texts = [f"text {number}" for number in range(7)]
    with pytest.raises(ProviderTransient) as failed:
        models.make(batch_size=4).embed_passages(texts)
    assert failed.value.made == [hash_vector(text, DIMENSIONS) for text in texts[:4]]


def test_texts_that_are_refused_together_and_taken_apart_get_their_vectors(server: OpenAiServer, models: Models) -> None:
    server.misbehave({"status": 413, "body": "too many"})
    texts = [f"text {number}" for number in range(5)]
    assert models.make().embed_passages(texts) == [hash_vector(text, DIMENSIONS) for text in texts]
    assert [len(request["body"]["input"]) for request in server.take_requests()] == [5, 2, 3]


def test_a_provider_that_refuses_a_plain_text_too_refuses_everything(server: OpenAiServer, models: Models) -> None:
    server.misbehave({"refuses": ""})
    with pytest.raises(ProviderPermanent, match="answered 400"):
        models.make().embed_passages([f"text {number}" for number in range(50)])
    assert len(server.take_requests()) < 10
