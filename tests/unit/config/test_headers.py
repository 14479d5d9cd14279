"""Headers of model requests: what may stand in the file, and what the environment fills in."""

from pathlib import Path

import pytest

from docmill.config.headers import filled_in, problem_of_header
from docmill.domain.errors import ConfigurationError
from support.configuration_files import knowledge_base, load


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("X-Team", "search"),
        ("x-api-key", "${MY_KEY}"),
        ("Authorization", "Bearer ${MY_KEY}"),
        ("X-Title", "a (b), c"),
        ("OpenAI-Project", "p"),
    ],
)
def test_a_header_may_stand_in_the_file(name: str, value: str) -> None:
    assert problem_of_header(name, value) is None


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("Authorization", "Bearer sk-123", "environment variable"),
        ("x-api-key", "sk-123", "environment variable"),
        ("X-Auth-Token", "123", "environment variable"),
        ("Cookie", "a=b", "environment variable"),
        ("X Team", "search", "not the name of a header"),
        ("", "search", "not the name of a header"),
        ("X-Team", "a\nb", "one line"),
        ("X-Team", "é", "one line"),
        ("Host", "elsewhere", "set by docmill"),
        ("content-length", "5", "set by docmill"),
    ],
)
def test_what_cannot_be_a_header_or_holds_a_secret_is_refused_without_showing_it(name: str, value: str, words: str) -> None:
    problem = problem_of_header(name, value)
    assert problem is not None
    assert words in problem
    assert "sk-123" not in problem


def test_values_are_filled_in_from_the_environment() -> None:
    headers = (("X-Key", "${A}-${B}"), ("X-Team", "search $A"))
    assert filled_in(headers, {"A": "1", "B": " 2\n"}, model="acme/m") == {"X-Key": "1-2", "X-Team": "search $A"}


@pytest.mark.parametrize("environ", [{}, {"A": ""}, {"A": "sk-1\nx"}, {"A": "é"}])
def test_a_variable_that_is_missing_or_unfit_is_named_and_not_shown(environ: dict[str, str]) -> None:
    with pytest.raises(ConfigurationError, match=r"acme/m: .* the environment variable A ?") as failure:
        filled_in((("X-Key", "${A}"),), environ, model="acme/m")
    assert "sk-1" not in str(failure.value)


def test_a_models_headers_stand_over_its_providers(tmp_path: Path) -> None:
    extra = """providers: {acme: {base_url: "http://127.0.0.1:1/v1", headers: {X-Team: search, X-Place: here}}}
models: {e: {provider: acme, model: m, headers: {X-Place: there}}}
"""
    [kb] = load(tmp_path, knowledge_base("{type: chunked-embeddings, embedding_model: e, vector_dimensions: 8}", extra)).knowledge_bases
    assert kb.strategies[0].embedding is not None
    assert kb.strategies[0].embedding.headers == (("X-Team", "search"), ("X-Place", "there"))


def test_a_secret_in_the_file_is_an_error_with_its_place(tmp_path: Path) -> None:
    extra = 'providers: {acme: {base_url: "http://127.0.0.1:1/v1", headers: {x-api-key: sk-123}}}\n'
    with pytest.raises(ConfigurationError, match=r"providers\.acme\.headers\.x-api-key: must take its secret") as failure:
        load(tmp_path, knowledge_base("{type: chunked-embeddings, embedding_model: acme/m, vector_dimensions: 8}", extra))
    assert "sk-123" not in str(failure.value)
