"""What people are told to do about a model that does not do what it is for."""

import pytest

from docmill.adapters.providers.advice import advice_for
from docmill.adapters.providers.calls import CallFailed
from docmill.adapters.providers.endpoints import without_answer
from docmill.adapters.providers.failures import Failure, FailureKind, provider_error
from docmill.domain.errors import ConfigurationError, DocmillError, ProviderLeftAlone, ProviderPermanent
from docmill.domain.knowledge_bases import ChatModelSpec, EmbeddingModelSpec

SPEC = EmbeddingModelSpec("openai", "m", token_key="MY_KEY")
KEYLESS = EmbeddingModelSpec("dmr", "m")


def answered(status: int, words: str, kind: FailureKind = FailureKind.PERMANENT) -> DocmillError:
    return provider_error(Failure(kind, f"answered {status}: {words}"), provider="openai/m at http://h/v1", secrets=())


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (answered(401, "Incorrect API key provided: ***"), "MY_KEY, which holds the key"),
        (answered(403, "You are not allowed to"), "MY_KEY, which holds the key"),
        (answered(403, "billing is not active"), "the plan and the billing"),
        (answered(429, "You exceeded your current quota"), "the plan and the billing"),
        (answered(404, "The model `m` does not exist"), "the model's name (m) and base_url"),
        (answered(400, "Invalid model"), "check the model (m), vector_dimensions and base_url"),
        (answered(503, "busy", FailureKind.TRANSIENT), "fails for now; try again later"),
        (answered(429, "slow down", FailureKind.RATE_LIMITED), "try again later"),
        (ProviderLeftAlone("openai asked to be called later", 41.5), "try again in 42 s"),
        (without_answer(CallFailed("cannot be reached: refused"), provider="openai/m", secrets=()), "that the server runs"),
        (without_answer(CallFailed("did not answer in time (60 s)"), provider="openai/m", secrets=()), "that the server runs"),
        (ProviderPermanent("openai/m gave an answer that cannot be used: it makes vectors of 8 dimensions"), "set vector_dimensions: 8"),
        (ProviderPermanent("openai/m gave an answer that cannot be used: the answer is not JSON"), "no embeddings API"),
    ],
    ids=lambda value: str(value)[:50],
)
def test_each_failure_comes_with_what_to_do(error: DocmillError, words: str) -> None:
    assert words in advice_for(error, SPEC)


def test_a_chat_model_is_not_taken_for_one_that_makes_vectors() -> None:
    spec = ChatModelSpec("openai", "m", token_key="MY_KEY")
    assert advice_for(answered(400, "Invalid model"), spec) == "check the model (m) and base_url"


def test_a_provider_without_a_key_that_wants_one_is_given_a_name_for_it() -> None:
    assert "token_key" in advice_for(answered(401, "no"), KEYLESS)


def test_a_message_that_says_what_to_do_is_left_as_it_is() -> None:
    assert advice_for(ConfigurationError("openai/m: its credential is missing; set OPENAI_API_KEY"), SPEC) == ""
