"""Which gate a model's requests pass, and what is known of its provider."""

from pathlib import Path

import pytest

from docmill.adapters.memory.gate import MemoryGate
from docmill.bootstrap.gates import Gates, limits_of
from docmill.bootstrap.models import Models
from docmill.config import Configuration, Settings, load_configuration
from docmill.domain.errors import CallCancelled
from docmill.domain.knowledge_bases import KnowledgeBase
from docmill.ports.gate import Gate, Limits
from docmill.ports.models import Caller

KEYS = {"FIRST_KEY": "sk-first-key-of-two", "SECOND_KEY": "sk-second-key-of-two"}
MODELS = """
models:
  free: {provider: openai, model: x, base_url: "http://127.0.0.1:9/v1", token_key: FIRST_KEY}
  slow: {provider: openai, model: y, base_url: "http://127.0.0.1:9/v1/", token_key: FIRST_KEY, requests_per_minute: 60}
  slower: {provider: acme, model: z, token_key: FIRST_KEY, requests_per_minute: 30, tokens_per_minute: 1000}
  other: {provider: openai, model: x, base_url: "http://127.0.0.1:9/v1", token_key: SECOND_KEY}
providers:
  acme: {base_url: "http://127.0.0.1:9/v1"}
"""


def strategy(model: str, name: str) -> str:
    return f"{{type: chunked-embeddings, name: {name}, embedding_model: {model}, vector_dimensions: 8, max_embedding_concurrency: 2}}"


def configuration_of(folder: Path, **models: str) -> Configuration:
    bases = [
        f"  {name}: {{docs: [.], strategies: [{', '.join(strategy(model, model) for model in wanted.split())}]}}"
        for name, wanted in models.items()
    ]
    (folder / "docmill.yaml").write_text(MODELS + "rag:\n" + "\n".join(bases) + "\n", encoding="utf-8")
    return load_configuration(folder / "docmill.yaml")


def models_of(configuration: Configuration) -> Models:
    gates = Gates(lambda account: MemoryGate(), limits_of(configuration, KEYS), query_seconds=10.0)
    return Models(configuration, Settings(), KEYS, gates)


def of(configuration: Configuration, name: str) -> KnowledgeBase:
    return next(kb for kb in configuration.knowledge_bases if kb.name == name)


def only(gates: dict[str, Gate]) -> Gate:
    [gate] = gates.values()
    return gate


def test_knowledge_bases_share_a_gate_when_they_use_one_place_with_one_credential(tmp_path: Path) -> None:
    configuration = configuration_of(tmp_path, notes="free", mails="slow", wiki="slower", news="other")
    models = models_of(configuration)
    notes, mails, wiki, news = (only(models.gates_of(of(configuration, name))) for name in ("notes", "mails", "wiki", "news"))
    assert notes is mails is wiki
    assert news is not notes


def test_gates_are_named_by_their_providers_and_never_by_a_key(tmp_path: Path) -> None:
    configuration = configuration_of(tmp_path, notes="free other slower")
    gates = models_of(configuration).gates_of(of(configuration, "notes"))
    assert list(gates) == ["openai", "openai (127.0.0.1:9, SECOND_KEY)"]
    assert not any(key in name for key in KEYS.values() for name in gates)


def test_of_several_limits_of_one_account_the_smallest_holds(tmp_path: Path) -> None:
    configuration = configuration_of(tmp_path, notes="free slow slower other")
    [limited, free] = sorted(limits_of(configuration, KEYS).values(), key=lambda limits: limits == Limits())
    assert limited == Limits(None, 30, 1000)
    assert free == Limits()


def test_limits_shape_no_index(tmp_path: Path) -> None:
    configuration = configuration_of(tmp_path, notes="free", mails="slow")
    first, second = (of(configuration, name).strategies[0].embedding_shape for name in ("notes", "mails"))
    assert first is not None
    assert second is not None
    assert first.keys() == second.keys()
    assert not {"requests_per_minute", "tokens_per_minute", "max_concurrency"} & first.keys()


def test_a_local_model_has_no_gate(tmp_path: Path) -> None:
    (tmp_path / "docmill.yaml").write_text(
        "rag: {notes: {docs: [.], strategies: [{type: chunked-embeddings, embedding_model: local/wordllama-256}]}}", encoding="utf-8"
    )
    configuration = load_configuration(tmp_path / "docmill.yaml")
    assert models_of(configuration).gates_of(of(configuration, "notes")) == {}


def test_after_a_stop_every_model_refuses_at_once_also_one_that_is_made_later(tmp_path: Path) -> None:
    configuration = configuration_of(tmp_path, notes="free", mails="other")
    models = models_of(configuration)
    specs = [kb.strategies[0].embedding for kb in configuration.knowledge_bases]
    for place, spec in enumerate(specs):
        assert spec is not None
        model = models.model_of(spec) if place == 0 else None
        models.stop()
        model = model or models.model_of(spec)
        with pytest.raises(CallCancelled, match="docmill is stopping"):
            model.on_behalf_of(Caller("notes")).embed_passages(["text"])
    models.close()
