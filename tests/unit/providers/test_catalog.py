"""Which adapter an embedding model's specification leads to."""

import subprocess
import sys
from pathlib import Path

import pytest

from docmill.adapters.providers.catalog import embedding_model_for, local_model_for
from docmill.config.providers import LOCAL_MODELS, Adapter, adapter_for
from docmill.domain.errors import ConfigurationError, NotAvailable
from docmill.domain.knowledge_bases import EmbeddingModelSpec
from support.configuration_files import knowledge_base, load


@pytest.mark.parametrize("model", LOCAL_MODELS)
def test_every_local_model_of_the_configuration_can_be_had_and_is_as_long_as_it_says(model: str) -> None:
    made = embedding_model_for(EmbeddingModelSpec("local", model), threads=1, credentials={})
    assert made.name == f"local/{model}"
    assert made.dimensions == len(made.embed_query("hello")) == LOCAL_MODELS[model].dimensions


def test_an_unknown_local_model_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(ConfigurationError, match="there are local/all-minilm-l6-v2, local/wordllama-256"):
        embedding_model_for(EmbeddingModelSpec("local", "bert"), threads=1, credentials={})


def test_a_local_model_of_another_length_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="vector_dimensions is 1536, and this model makes 384"):
        embedding_model_for(EmbeddingModelSpec("local", "all-minilm-l6-v2", dimensions=1536), threads=1, credentials={})


def test_a_provider_without_an_adapter_is_not_available_yet() -> None:
    with pytest.raises(NotAvailable, match=r"anthropic/x: .* not available yet"):
        embedding_model_for(EmbeddingModelSpec("anthropic", "x"), threads=1, credentials={})


@pytest.mark.parametrize("credentials", [{}, {"MY_KEY": ""}, {"MY_KEY": " \n"}])
def test_a_missing_credential_is_named_by_its_environment_variable(credentials: dict[str, str]) -> None:
    spec = EmbeddingModelSpec("openai", "text-embedding-3-small", token_key="MY_KEY")
    with pytest.raises(ConfigurationError, match="set the environment variable MY_KEY"):
        embedding_model_for(spec, threads=1, credentials=credentials)


def test_a_credential_that_no_header_can_hold_is_refused_without_showing_it() -> None:
    spec = EmbeddingModelSpec("openai", "text-embedding-3-small", token_key="MY_KEY")
    with pytest.raises(ConfigurationError, match="MY_KEY") as failure:
        embedding_model_for(spec, threads=1, credentials={"MY_KEY": "sk-a\nb"})
    assert "sk-a" not in str(failure.value)


def test_a_remote_model_has_the_configured_length_or_its_well_known_one() -> None:
    small = EmbeddingModelSpec("openai", "text-embedding-3-small")
    short = EmbeddingModelSpec("openai", "text-embedding-3-small", dimensions=256)
    assert embedding_model_for(small, threads=1, credentials={}).dimensions == 1536
    assert embedding_model_for(short, threads=1, credentials={}).dimensions == 256


@pytest.mark.parametrize(
    ("name", "dimensions"),
    [
        ("google/gemini-embedding-001", 3072),
        ("cohere/embed-v4.0", 1536),
        ("voyage/voyage-3.5", 1024),
        ("mistral/mistral-embed", 1024),
        ("dmr/ai/embeddinggemma", 768),
    ],
)
def test_every_provider_with_embeddings_has_a_model(name: str, dimensions: int) -> None:
    provider, _, model = name.partition("/")
    made = embedding_model_for(EmbeddingModelSpec(provider, model), threads=1, credentials={})
    assert (made.name, made.dimensions) == (name, dimensions)


def test_a_header_whose_variable_is_missing_is_named() -> None:
    spec = EmbeddingModelSpec("acme", "m", 8, base_url="http://127.0.0.1:9", headers=(("x-key", "${MY_KEY}"),))
    with pytest.raises(ConfigurationError, match="environment variable MY_KEY"):
        embedding_model_for(spec, threads=1, credentials={})


def test_an_endpoint_that_takes_the_name_of_a_built_in_provider_speaks_openai(tmp_path: Path) -> None:
    named = 'providers: {google: {base_url: "http://127.0.0.1:9/v1"}}\n'
    strategy = "{type: chunked-embeddings, embedding_model: google/gemini-embedding-001}"
    [built_in] = load(tmp_path, knowledge_base(strategy)).knowledge_bases
    [own] = load(tmp_path, knowledge_base(strategy, named)).knowledge_bases
    adapters = [kb.strategies[0].embedding and adapter_for(kb.strategies[0].embedding) for kb in (built_in, own)]
    assert adapters == [Adapter.GOOGLE, Adapter.OPENAI]


def test_a_remote_model_of_unknown_length_needs_it_configured() -> None:
    with pytest.raises(ConfigurationError, match="vector_dimensions"):
        embedding_model_for(EmbeddingModelSpec("my-server", "some-model", base_url="http://127.0.0.1:9"), threads=1, credentials={})


def test_no_adapter_is_imported_before_it_is_wanted() -> None:
    libraries = ("openai", "httpx", "onnxruntime", "tokenizers")
    code = f"import sys, docmill.adapters.providers.catalog; print([n for n in {libraries} if n in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"


def test_a_process_that_has_no_gate_makes_only_local_models() -> None:
    with pytest.raises(ConfigurationError, match="there is no such local model"):
        local_model_for(EmbeddingModelSpec("openai", "wordllama-256", dimensions=256), threads=1)
