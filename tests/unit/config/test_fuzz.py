import random
import string
from pathlib import Path

import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from docmill.config import Configuration, configuration_schema, describe, load_configuration, unavailable_parts
from docmill.domain.errors import ConfigurationError
from support.configuration_files import write

_DEFINITIONS = configuration_schema()["$defs"]
assert isinstance(_DEFINITIONS, dict)
_KEYS = sorted(
    {key for model in _DEFINITIONS.values() for key in model.get("properties", {})} | {"batch_size", "rag", "models", "providers", "x"}
)
_WORDS = ["bm25", "chunked-embeddings", "semantic-embeddings", "local/all-minilm-l6-v2", "auto", "m", "acme/m", "openai/m", "30m", "20MB"]
_WORDS += ["weighted", "rrf", "http://h/v1", "euclidean", "{a,b}", "!x", "~", "**/*.md", "KEY"]

_SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.sampled_from(_WORDS),
    st.text(max_size=8),
    st.integers(min_value=1, max_value=100),
)
_VALUES = st.recursive(
    _SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(_KEYS) | st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)
_OTHER_KEYS = [key for key in _KEYS if key not in ("type", "strategies")]
_STRATEGIES = st.fixed_dictionaries({"type": st.sampled_from(_WORDS[:3]) | _VALUES}, optional=dict.fromkeys(_OTHER_KEYS, _VALUES))
_KNOWLEDGE_BASES = st.fixed_dictionaries(
    {"strategies": st.lists(_STRATEGIES, min_size=1, max_size=3)}, optional=dict.fromkeys(_OTHER_KEYS, _VALUES)
)
_FILES = st.fixed_dictionaries(
    {"rag": st.dictionaries(st.sampled_from(["a", "b", "c d"]), _KNOWLEDGE_BASES | _VALUES, max_size=2)},
    optional={"models": st.dictionaries(st.sampled_from(["m", "n"]), _VALUES, max_size=2), "providers": _VALUES},
)
_SETTINGS = settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None)


def loads_or_says_why(folder: Path, raw: bytes) -> None:
    path = write(folder, raw)
    lines: list[str] = []
    try:
        assert_usable(load_configuration(path))
    except ConfigurationError as error:
        lines = str(error).split("\n")
    assert all(line.startswith(f"{path}:") and line.isprintable() for line in lines)


def assert_usable(configuration: Configuration) -> None:
    yaml.safe_dump(describe(configuration))
    unavailable_parts(configuration)
    assert all(kb.strategies and len(kb.pipeline_hash) == 16 for kb in configuration.knowledge_bases)


@given(st.binary(max_size=200))
@_SETTINGS
def test_no_bytes_raise_anything_but_a_configuration_error(tmp_path: Path, raw: bytes) -> None:
    loads_or_says_why(tmp_path, raw)


@given(st.text(alphabet=string.printable + "é\u2028\ufeff", max_size=120), st.booleans())
@_SETTINGS
def test_no_text_raises_anything_but_a_configuration_error(tmp_path: Path, text: str, inside: bool) -> None:
    loads_or_says_why(tmp_path, (f"rag:\n  a: {text}" if inside else text).encode("utf-8"))


@given(_FILES)
@_SETTINGS
def test_no_values_raise_anything_but_a_configuration_error(tmp_path: Path, values: object) -> None:
    loads_or_says_why(tmp_path, yaml.safe_dump(values, allow_unicode=True).encode("utf-8", "surrogatepass"))


@given(st.integers(min_value=0), st.integers(min_value=1, max_value=6))
@_SETTINGS
def test_a_damaged_file_never_raises_anything_but_a_configuration_error(tmp_path: Path, seed: int, damages: int) -> None:
    chance = random.Random(seed)
    text = list(_WHOLE)
    for _ in range(damages):
        at = chance.randrange(len(text))
        text[at : at + chance.randrange(4)] = chance.choice(
            ["", "\t", ":", "- ", "{", "]", "&a ", "*a", "<<: ", "!!int ", "'", "\n", "1e9", "null"]
        )
    loads_or_says_why(tmp_path, "".join(text).encode())


_WHOLE = """models:
  m: {provider: acme, model: m-1, base_url: "http://h/v1", token_key: KEY, price: {input: 1, output: 2}}
providers:
  acme: {base_url: "https://llm.acme.example/v1", token_key: ACME_KEY}
rag:
  a: &a
    docs: [src, "!src/gen", "**/*.{c,h}"]
    tool: {name: find, instruction: Use it.}
    strategies:
      - &s {type: chunked-embeddings, embedding_model: m, vector_dimensions: 12, batch_size: 5, threshold: 0.25, limit: 20}
      - {type: bm25, k1: 2, b: 0.1, chunking: {size: 200, overlap: 20}}
    results: {fusion: {strategy: weighted, weights: {chunked-embeddings: 1, bm25: 0.5}}, reranking: {model: openai/x}, limit: 7}
    answer: {model: openai/gpt, min_score: 0.1}
  b:
    <<: *a
    tool: {name: other}
    indexing_timeout: 1h30m
"""
