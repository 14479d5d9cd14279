import json
from pathlib import Path

import pytest
import yaml

from docmill.config import Configuration, configuration_for_folder, configuration_schema, describe
from support.configuration_files import knowledge_base, load

FULL = """
models:
  embedder: {provider: acme, model: e-1, token_key: OTHER_KEY, requests_per_minute: 60, price: 0.1}
  writer: {provider: openai, model: gpt}
  brief_writer: {provider: openai, model: gpt, max_tokens: 90, temperature: 0.1}
  unused: {provider: openai, model: x}
providers:
  acme: {base_url: "https://llm.acme.example/v1?api-key=hidden", token_key: ACME_KEY}
rag:
  code:
    docs: [src, "!src/gen", "**/*.{c,h}"]
    description: The code
    tool: {name: find_code, instruction: Use it.}
    respect_vcs: false
    allow_secrets: true
    max_file_size: 1MB
    prepend_headings: false
    indexing_timeout: 1h30m
    scan_interval: 500s
    max_tokens_per_run: 9
    strategies:
      - {type: chunked-embeddings, embedding_model: embedder, vector_dimensions: 12, docs: [more], similarity_metric: euclidean}
      - {type: chunked-embeddings, name: inline, embedding_model: acme/e-2, vector_dimensions: 6, max_embedding_concurrency: 2}
      - type: semantic-embeddings
        embedding_model: auto
        vector_dimensions: 1536
        chat_model: openai/gpt
        ast_context: true
        semantic_prompt: "a\\nb"
      - {type: semantic-embeddings, name: brief, embedding_model: auto, vector_dimensions: 1536, chat_model: brief_writer}
      - {type: bm25, k1: 2, b: 0.1, threshold: 1, limit: 7, respect_vcs: true, max_indexing_concurrency: 4, chunking: {code_aware: true}}
    results:
      fusion: {strategy: weighted, weights: {chunked-embeddings: 1, inline: 2, semantic-embeddings: 0.5, brief: 1, bm25: 0}}
      reranking: {model: anthropic/claude, top_k: 3, threshold: 0.1, criteria: New first.}
      deduplicate: false
      include_score: true
    answer: {model: openai/gpt, min_score: 0.1}
  notes: {docs: [.], strategies: [{type: bm25}], indexing_timeout: 0s}
"""


def show(configuration: Configuration) -> str:
    return yaml.safe_dump(describe(configuration), sort_keys=False, allow_unicode=True)


def without_acme_query(text: str) -> str:
    return text.replace("?api-key=hidden", "")


def test_what_is_described_loads_as_the_same_knowledge_bases(tmp_path: Path) -> None:
    configuration = load(tmp_path, without_acme_query(FULL))
    again = load(tmp_path, show(configuration))
    assert again.knowledge_bases == configuration.knowledge_bases
    assert show(again) == show(configuration)
    assert again.notes == ()


def test_a_bare_folder_is_described_as_a_file_that_means_the_same(tmp_path: Path) -> None:
    configuration = configuration_for_folder(tmp_path, name="notes")
    assert load(tmp_path, show(configuration)).knowledge_bases[0].strategies == configuration.knowledge_bases[0].strategies


def test_credentials_are_never_described(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACME_KEY", "the-secret-itself")
    shown = show(load(tmp_path, FULL))
    assert "hidden" not in shown
    assert "the-secret-itself" not in shown
    assert "ACME_KEY" in shown


def test_models_that_nothing_uses_are_not_described(tmp_path: Path) -> None:
    assert "unused" not in show(load(tmp_path, FULL))


def test_a_description_holds_plain_values_only(tmp_path: Path) -> None:
    described = describe(load(tmp_path, FULL))
    assert json.loads(json.dumps(described, allow_nan=False)) == described


def test_the_defaults_of_the_schema_are_those_that_take_effect(tmp_path: Path) -> None:
    embedded = "      - {type: chunked-embeddings, embedding_model: openai/text-embedding-3-small}\n"
    described = describe(load(tmp_path, knowledge_base(extra=embedded)))["rag"]
    assert isinstance(described, dict)
    effective = described["notes"]
    definitions = configuration_schema()["$defs"]
    assert isinstance(definitions, dict)
    merged = {**effective["strategies"][1], **effective["strategies"][0]}
    for definition, values in (
        ("RawKnowledgeBase", {**effective, "max_file_size": "20MB"}),
        ("RawStrategy", merged),
        ("RawChunking", merged["chunking"]),
        ("RawResults", effective["results"]),
        ("RawFusion", effective["results"]["fusion"]),
    ):
        properties = definitions[definition]["properties"]
        defaults = {key: schema["default"] for key, schema in properties.items() if schema.get("default") is not None}
        assert {key: values[key] for key in defaults.keys() & values.keys()} == {
            key: defaults[key] for key in defaults.keys() & values.keys()
        }
        assert defaults.keys() - values.keys() <= {"ast_context"}


def test_the_schema_is_a_json_schema_that_allows_other_sections_and_no_unknown_keys() -> None:
    schema = configuration_schema()
    assert json.loads(json.dumps(schema)) == schema
    definitions = schema["$defs"]
    assert isinstance(definitions, dict)
    assert schema["required"] == ["rag"]
    assert schema["additionalProperties"] is True
    assert definitions["RawStrategy"]["additionalProperties"] is False
    assert definitions["RawStrategy"]["required"] == ["type"]
    assert all("description" in key for model in definitions.values() for key in model.get("properties", {}).values())
