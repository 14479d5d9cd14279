from dataclasses import replace
from pathlib import Path

import pytest

from docmill.config import Adapter, configuration_for_folder, find_configuration, load_configuration
from docmill.config.loading import name_for_folder
from docmill.config.providers import model_of_chat
from docmill.domain.errors import ConfigurationError, ConfigurationNotFound, ExitCode
from docmill.domain.knowledge_bases import (
    Answering,
    ChatModelSpec,
    Chunking,
    EmbeddingModelSpec,
    Fusion,
    FusionKind,
    KnowledgeBase,
    Reranking,
    Results,
    ScoreFloor,
    Similarity,
    StrategyKind,
    StrategySpec,
)
from support.configuration_files import knowledge_base, load, write

OPENAI_SMALL = EmbeddingModelSpec("openai", "text-embedding-3-small", 1536, token_key="OPENAI_API_KEY")


def only(folder: Path, text: str) -> KnowledgeBase:
    (kb,) = load(folder, text).knowledge_bases
    return kb


def test_a_minimal_file_has_the_documented_defaults(tmp_path: Path) -> None:
    kb = only(
        tmp_path, knowledge_base("{type: chunked-embeddings, embedding_model: openai/text-embedding-3-small}", "      - type: bm25\n")
    )
    assert kb == KnowledgeBase(
        name="notes",
        base_folder=tmp_path,
        roots=(str(tmp_path / "notes"),),
        strategies=(
            StrategySpec("chunked-embeddings", StrategyKind.CHUNKED_EMBEDDINGS, 0.5, 5, Chunking(1500, 75), embedding=OPENAI_SMALL),
            StrategySpec("bm25", StrategyKind.BM25, 0.0, 5, Chunking(1500, 75), k1=1.5, b=0.75),
        ),
        results=Results(Fusion(FusionKind.RRF, 60), deduplicate=True, limit=15),
        indexing_timeout_seconds=1800.0,
        scan_interval_seconds=900.0,
        max_file_size_bytes=20 * 1024 * 1024,
    )


def test_an_agents_file_with_a_hybrid_knowledge_base_means_what_its_author_meant(tmp_path: Path) -> None:
    text = """
version: "3"
agents:
  root:
    model: writer
    instruction: Answer from the manuals.
    toolsets:
      - type: rag
        ref: manuals
models:
  writer: {provider: openai, model: gpt-5-mini, thinking_budget: minimal, max_tokens: 64000}
  embedder: {provider: openai, model: text-embedding-3-large}
  judge: {provider: google, model: gemini-2.5-flash, provider_opts: {x: [1]}, bypass: true}
rag:
  manuals:
    tool:
      description: Manuals of all machines
      instruction: Search here first.
    docs: [./manuals, "./glossary.txt"]
    respect_vcs: false
    indexing_timeout: 2h
    strategies:
      - type: chunked-embeddings
        embedding_model: embedder
        docs: [./drawings]
        database: ./manuals-vectors.db
        similarity_metric: cosine_similarity
        threshold: 0.4
        limit: 20
        batch_size: 100
        max_embedding_concurrency: 5
        vector_dimensions: 3072
        chunking: {size: 1000, overlap: 100, respect_word_boundaries: true}
      - type: bm25
        database: ./manuals-words.db
        k1: 1.2
        b: 0.5
        threshold: 0.3
        limit: 15
        respect_vcs: true
        chunking: {size: 2000, code_aware: true, respect_word_boundaries: false}
    results:
      fusion: {strategy: rrf, k: 30}
      reranking: {model: judge, threshold: 0.3, criteria: Prefer the newest manual.}
      deduplicate: false
      include_score: true
      return_full_content: true
      limit: 8
"""
    configuration = load(tmp_path, text)
    (kb,) = configuration.knowledge_bases
    vectors, words = kb.strategies
    assert (kb.description, kb.tool_description, kb.tool_instruction) == (
        "Manuals of all machines",
        "Manuals of all machines",
        "Search here first.",
    )
    assert kb.roots == (str(tmp_path / "manuals"), str(tmp_path / "glossary.txt"))
    assert kb.respect_vcs is False
    assert kb.indexing_timeout_seconds == 7200
    assert vectors == StrategySpec(
        "chunked-embeddings",
        StrategyKind.CHUNKED_EMBEDDINGS,
        threshold=0.4,
        limit=20,
        chunking=Chunking(1000, 100),
        roots=(*kb.roots, str(tmp_path / "drawings")),
        embedding=EmbeddingModelSpec(
            "openai", "text-embedding-3-large", 3072, token_key="OPENAI_API_KEY", batch_size=100, max_concurrency=5
        ),
        similarity=Similarity.COSINE,
    )
    assert words == StrategySpec(
        "bm25",
        StrategyKind.BM25,
        threshold=0.3,
        limit=15,
        chunking=Chunking(2000, 75, code_aware=True, respect_word_boundaries=False),
        respect_vcs=True,
        k1=1.2,
        b=0.5,
    )
    assert kb.results == Results(
        Fusion(FusionKind.RRF, 30),
        deduplicate=False,
        limit=8,
        include_score=True,
        return_full_content=True,
        reranking=(Reranking("judge", top_k=8, threshold=0.3, criteria="Prefer the newest manual."),),
    )
    path = tmp_path / "docmill.yaml"
    assert [warning.removeprefix(f"{path}:") for warning in configuration.warnings] == [
        "13:79: models.judge.bypass: this key is not known and is ignored",
        "30:9: rag.manuals.strategies[0].batch_size: is read as `embedding_batch_size`",
    ]
    assert [note.split(": ")[1] for note in configuration.notes] == [
        "rag.manuals.strategies[0].database",
        "rag.manuals.strategies[1].database",
    ]


def test_a_semantic_strategy_is_read_whole(tmp_path: Path) -> None:
    strategy = """
        type: semantic-embeddings
        embedding_model: openai/text-embedding-3-small
        vector_dimensions: 1536
        chat_model: openai/gpt-4o-mini
        semantic_prompt: "Say what ${content} in ${basename} does. ${ast_context}"
        ast_context: true
        chunking: {code_aware: true}
"""
    configuration = load(tmp_path, f"rag:\n  code:\n    docs: ['src/**/*.go']\n    strategies:\n      -{strategy}")
    assert configuration.knowledge_bases[0].strategies == (
        StrategySpec(
            "semantic-embeddings",
            StrategyKind.SEMANTIC_EMBEDDINGS,
            threshold=0.5,
            chunking=Chunking(4000, 75, code_aware=True),
            embedding=OPENAI_SMALL,
            chat_model=ChatModelSpec("openai", "gpt-4o-mini", token_key="OPENAI_API_KEY"),
            semantic_prompt="Say what ${content} in ${basename} does. ${ast_context}",
            ast_context=True,
        ),
    )
    assert configuration.warnings == ()


def test_what_the_entry_of_a_chat_model_says_is_kept_with_its_strategy(tmp_path: Path) -> None:
    configuration = load(
        tmp_path,
        """
providers: {acme: {base_url: "http://127.0.0.1:1/v1", token_key: ACME_KEY, headers: {x-team: docs}}}
models: {writer: {provider: acme, model: w-1, max_tokens: 900, temperature: 0.2, requests_per_minute: 60, tokens_per_minute: 9000}}
"""
        + knowledge_base(
            "{type: semantic-embeddings, embedding_model: local/wordllama-256, chat_model: writer, max_embedding_concurrency: 2}"
        ),
    )
    (strategy,) = configuration.knowledge_bases[0].strategies
    assert strategy.chat_model == ChatModelSpec(
        "acme",
        "w-1",
        base_url="http://127.0.0.1:1/v1",
        token_key="ACME_KEY",
        max_concurrency=2,
        max_tokens=900,
        temperature=0.2,
        headers=(("x-team", "docs"),),
        speaks_openai=True,
        requests_per_minute=60,
        tokens_per_minute=9000,
    )
    again = model_of_chat(strategy.chat_model)
    assert again == replace(configuration.models["writer"], reference="acme/w-1", max_concurrency=2)


@pytest.mark.parametrize("prompt", ["''", "' '", "null"])
def test_an_empty_prompt_is_none(tmp_path: Path, prompt: str) -> None:
    strategy = f"{{type: semantic-embeddings, embedding_model: local/wordllama-256, chat_model: openai/x, semantic_prompt: {prompt}}}"
    configuration = load(tmp_path, knowledge_base(strategy))
    assert configuration.knowledge_bases[0].strategies[0].semantic_prompt is None
    assert configuration.warnings == ()


def test_our_own_keys_are_read(tmp_path: Path) -> None:
    extra = """
    description: All notes
    tool: {name: find_notes}
    answer: {model: writer, min_score: 0.2, passages: 4, budget_chars: 5000}
    prepend_headings: false
    allow_secrets: true
    max_file_size: 3MB
    max_tokens_per_run: 1000000
    scan_interval: 90s
    indexing_timeout: 0s
models:
  writer:
    provider: acme
    model: large
    requests_per_minute: 100
    tokens_per_minute: 200000
    price: {input: 0.5, output: 2}
    temperature: 0.2
    max_tokens: 800
providers:
  acme: {api_type: openai_chatcompletions, base_url: "https://llm.acme.example/v1", token_key: ACME_KEY}
"""
    configuration = load(tmp_path, knowledge_base(extra=extra))
    (kb,) = configuration.knowledge_bases
    assert (kb.description, kb.tool_name, kb.tool_description) == ("All notes", "find_notes", None)
    assert kb.answering == Answering("writer", 0.2, 4, 5000)
    assert kb.strategies[0].chunking.prepend_headings is False
    assert (kb.allow_secrets, kb.max_file_size_bytes, kb.max_tokens_per_run) == (True, 3 * 2**20, 1_000_000)
    assert (kb.scan_interval_seconds, kb.indexing_timeout_seconds) == (90.0, None)
    writer = configuration.models["writer"]
    assert (writer.name, writer.base_url, writer.token_key, writer.adapter) == (
        "acme/large",
        "https://llm.acme.example/v1",
        "ACME_KEY",
        Adapter.OPENAI,
    )
    assert (writer.requests_per_minute, writer.tokens_per_minute, writer.max_tokens, writer.temperature) == (100, 200_000, 800, 0.2)
    assert writer.price is not None
    assert (writer.price.input, writer.price.output) == (0.5, 2.0)
    assert configuration.warnings == ()


def test_a_scan_interval_from_outside_holds_where_the_file_has_none(tmp_path: Path) -> None:
    path = write(tmp_path, knowledge_base(extra="  other:\n    scan_interval: 5m\n    docs: [.]\n    strategies: [{type: bm25}]\n"))
    configuration = load_configuration(path, scan_interval_seconds=42.0)
    assert [kb.scan_interval_seconds for kb in configuration.knowledge_bases] == [42.0, 300.0]


def test_two_strategies_of_one_type_have_names_and_weights(tmp_path: Path) -> None:
    extra = """      - {type: bm25, name: short, chunking: {size: 200}}
    results: {fusion: {strategy: weighted, weights: {bm25: 0.7, short: 0.3}}}
"""
    kb = only(tmp_path, knowledge_base(extra=extra))
    assert [strategy.name for strategy in kb.strategies] == ["bm25", "short"]
    assert kb.results.fusion == Fusion(FusionKind.WEIGHTED, 60, {"bm25": 0.7, "short": 0.3})


def test_a_lone_strategy_needs_no_weight(tmp_path: Path) -> None:
    kb = only(tmp_path, knowledge_base(extra="    results: {fusion: {strategy: weighted}}\n"))
    assert kb.results.fusion.weights == {"bm25": 1.0}


def test_reranking_as_a_list_and_other_spellings_are_understood(tmp_path: Path) -> None:
    text = """
rag:
  notes:
    type: rag
    ref: notes
    docs: [.]
    strategies:
      - {type: chunked-embeddings, model: local/all-minilm-l6-v2, similarity_metric: cosine}
    results:
      fusion: {strategy: reciprocal_rank_fusion}
      reranking:
        - {score_floor: 0.25}
        - {model: openai/gpt-4o-mini, top_k: 0}
"""
    configuration = load(tmp_path, text)
    (kb,) = configuration.knowledge_bases
    assert kb.strategies[0].embedding == EmbeddingModelSpec("local", "all-minilm-l6-v2", 384)
    assert kb.results.reranking == (ScoreFloor(0.25), Reranking("openai/gpt-4o-mini", top_k=15))
    assert [warning.split(": ", 1)[1] for warning in configuration.warnings] == [
        "rag.notes.type: belongs to an agent's toolset and is ignored here",
        "rag.notes.ref: belongs to an agent's toolset and is ignored here",
        "rag.notes.strategies[0].model: is read as `embedding_model`",
    ]


def test_keys_that_have_no_meaning_for_a_type_are_ignored_with_a_warning(tmp_path: Path) -> None:
    configuration = load(tmp_path, knowledge_base("{type: bm25, embedding_model: gone, vector_dimensions: 5}"))
    assert [warning.split(": ", 1)[1] for warning in configuration.warnings] == [
        "rag.notes.strategies[0].embedding_model: has no meaning for `bm25` and is ignored",
        "rag.notes.strategies[0].vector_dimensions: has no meaning for `bm25` and is ignored",
    ]


@pytest.mark.parametrize(
    ("reference", "dimensions", "provider", "filled_in"),
    [
        ("local/all-minilm-l6-v2", None, "local", 384),
        ("local/wordllama-256", None, "local", 256),
        ("local/all-minilm-l6-v2", 384, "local", 384),
        ("auto", None, "local", 384),
        ("auto", 1536, "openai", 1536),
        ("auto", 768, "dmr", 768),
        ("mistral/mistral-embed", None, "mistral", 1024),
        ("ollama/nomic-embed-text", 768, "ollama", 768),
        ("dmr/hf.co/some/model", 1024, "dmr", 1024),
        ("acme/any", 10, "acme", 10),
    ],
)
def test_embedding_models_are_resolved_with_their_dimensions(
    tmp_path: Path, reference: str, dimensions: int | None, provider: str, filled_in: int
) -> None:
    given = "" if dimensions is None else f", vector_dimensions: {dimensions}"
    providers = 'providers: {acme: {base_url: "http://127.0.0.1:9000/v1"}}\n'
    kb = only(tmp_path, knowledge_base(f"{{type: chunked-embeddings, embedding_model: {reference}{given}}}", providers))
    embedding = kb.strategies[0].embedding
    assert embedding is not None
    assert (embedding.provider, embedding.dimensions) == (provider, filled_in)


@pytest.mark.parametrize(
    ("dimensions", "variables", "model"),
    [
        (None, [], "local/all-minilm-l6-v2"),
        (None, ["OPENAI_API_KEY"], "openai/text-embedding-3-small"),
        (None, ["GOOGLE_API_KEY"], "google/gemini-embedding-001"),
        (None, ["MISTRAL_API_KEY"], "mistral/mistral-embed"),
        (None, ["VOYAGE_API_KEY"], "voyage/voyage-3.5"),
        (None, ["COHERE_API_KEY"], "cohere/embed-v4.0"),
        (None, ["COHERE_API_KEY", "GOOGLE_API_KEY"], "google/gemini-embedding-001"),
        (384, ["OPENAI_API_KEY"], "local/all-minilm-l6-v2"),
        (1536, ["COHERE_API_KEY"], "cohere/embed-v4.0"),
        (1536, ["COHERE_API_KEY", "OPENAI_API_KEY"], "openai/text-embedding-3-small"),
        (1536, [], "openai/text-embedding-3-small"),
        (1024, ["VOYAGE_API_KEY"], "voyage/voyage-3.5"),
        (768, ["OPENAI_API_KEY"], "dmr/ai/embeddinggemma"),
    ],
)
def test_auto_is_the_first_provider_whose_credential_is_set(
    tmp_path: Path, dimensions: int | None, variables: list[str], model: str
) -> None:
    given = "" if dimensions is None else f", vector_dimensions: {dimensions}"
    path = write(tmp_path, knowledge_base(f"{{type: chunked-embeddings, embedding_model: auto{given}}}"))
    environ = dict.fromkeys(variables, "a-key") | {"XAI_API_KEY": "", "NEBIUS_API_KEY": "a-key"}
    [kb] = load_configuration(path, environ=environ).knowledge_bases
    assert kb.strategies[0].embedding is not None
    assert kb.strategies[0].embedding.name == model


def test_local_models_have_a_threshold_of_their_own(tmp_path: Path) -> None:
    local = only(tmp_path, knowledge_base("{type: chunked-embeddings, embedding_model: local/all-minilm-l6-v2}"))
    fast = only(tmp_path, knowledge_base("{type: chunked-embeddings, embedding_model: local/wordllama-256}"))
    remote = only(tmp_path, knowledge_base("{type: chunked-embeddings, embedding_model: openai/text-embedding-3-small}"))
    chosen = only(tmp_path, knowledge_base("{type: chunked-embeddings, embedding_model: local/all-minilm-l6-v2, threshold: 0}"))
    assert [kb.strategies[0].threshold for kb in (local, fast, remote, chosen)] == [0.2, 0.15, 0.5, 0.0]


def test_a_named_model_is_reached_as_its_entry_says(tmp_path: Path) -> None:
    entry = 'models: {e: {provider: openai, model: m, base_url: "http://127.0.0.1:9000/v1", token_key: MY_KEY, price: 0.02}}\n'
    kb = only(tmp_path, knowledge_base("{type: chunked-embeddings, embedding_model: e, vector_dimensions: 8}", entry))
    assert kb.strategies[0].embedding == EmbeddingModelSpec("openai", "m", 8, base_url="http://127.0.0.1:9000/v1", token_key="MY_KEY")


def test_mistakes_in_models_that_no_knowledge_base_uses_do_not_matter(tmp_path: Path) -> None:
    load(tmp_path, knowledge_base(extra="models: {m: {provider: 5}, n: text}\nproviders: {p: {base_url: 3}}\n"))


def test_empty_values_count_as_absent(tmp_path: Path) -> None:
    text = (
        "rag:\n  notes:\n    docs: [.]\n    tool:\n    results:\n    strategies:\n      - type: bm25\n        limit:\n        chunking:\n"
    )
    assert only(tmp_path, text).strategies[0].limit == 5


def test_small_chunks_overlap_by_half_at_most_unless_told(tmp_path: Path) -> None:
    small = only(tmp_path, knowledge_base("{type: bm25, chunking: {size: 100}}"))
    told = only(tmp_path, knowledge_base("{type: bm25, chunking: {size: 100, overlap: 75}}"))
    none = only(tmp_path, knowledge_base("{type: bm25, chunking: {overlap: 0}}"))
    assert [kb.strategies[0].chunking.overlap for kb in (small, told, none)] == [50, 75, 0]


def test_a_knowledge_base_without_docs_is_for_pushed_documents_and_says_so(tmp_path: Path) -> None:
    configuration = load(tmp_path, "rag: {pushed: {strategies: [{type: bm25}]}}\n")
    assert configuration.knowledge_bases[0].roots == ()
    assert "pushed" in configuration.warnings[0].split(": ", 2)[2]


def test_an_entry_that_is_a_plain_path_may_be_missing(tmp_path: Path) -> None:
    assert only(tmp_path, knowledge_base()).roots == (str(tmp_path / "notes"),)


def test_a_linked_file_has_its_documents_beside_the_link(tmp_path: Path) -> None:
    inner = tmp_path / "..data"
    inner.mkdir()
    write(inner, knowledge_base())
    link = tmp_path / "docmill.yaml"
    link.symlink_to(inner / "docmill.yaml")
    assert load_configuration(link).base_folder == tmp_path


def test_query_time_settings_do_not_change_the_pipeline_hash(tmp_path: Path) -> None:
    one = only(tmp_path, knowledge_base("{type: bm25, limit: 5}"))
    two = only(tmp_path, knowledge_base("{type: bm25, limit: 50, threshold: 3, k1: 2}", "    results: {limit: 3}\n"))
    other = only(tmp_path, knowledge_base("{type: bm25, chunking: {size: 500}}"))
    assert one.pipeline_hash == two.pipeline_hash != other.pipeline_hash


def test_what_is_not_allowed_any_more_is_indexed_into_another_set(tmp_path: Path) -> None:
    withheld = only(tmp_path, knowledge_base("{type: bm25}"))
    allowed = only(tmp_path, knowledge_base("{type: bm25}", "    allow_secrets: true\n"))
    assert withheld.pipeline_hash != allowed.pipeline_hash


def test_a_file_that_is_not_there_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationNotFound, match="no such file") as caught:
        load_configuration(tmp_path / "gone.yaml")
    assert caught.value.exit_code is ExitCode.USAGE


def test_what_cannot_be_read_as_a_file_is_refused(tmp_path: Path) -> None:
    large = tmp_path / "large.yaml"
    large.write_bytes(b"#" * 2_000_000)
    for path, words in ((tmp_path, "folder"), (large, "larger"), (large / "below", "cannot be read"), (Path("a\x00b"), "cannot be read")):
        with pytest.raises(ConfigurationError, match=words):
            load_configuration(path)


def test_the_nearest_file_upwards_is_found(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    outer = write(tmp_path, knowledge_base())
    assert find_configuration(inner) == outer
    nearer = write(tmp_path / "a", knowledge_base())
    assert find_configuration(inner) == nearer
    assert find_configuration(nearer) == nearer


def test_a_bare_folder_is_a_hybrid_knowledge_base_named_after_it(tmp_path: Path) -> None:
    folder = tmp_path / "My Notes (2026)"
    folder.mkdir()
    configuration = configuration_for_folder(folder)
    (kb,) = configuration.knowledge_bases
    assert (configuration.path, configuration.base_folder) == (None, folder)
    assert (kb.name, kb.base_folder, kb.roots) == ("My-Notes-2026", folder, (str(folder),))
    assert [(s.kind, s.limit) for s in kb.strategies] == [(StrategyKind.CHUNKED_EMBEDDINGS, 100), (StrategyKind.BM25, 100)]
    assert kb.strategies[0].embedding == EmbeddingModelSpec("local", "all-minilm-l6-v2", 384)
    assert kb.strategies[0].threshold == 0.2
    assert kb.results.fusion.kind is FusionKind.RRF


def test_a_bare_folder_can_be_given_a_name(tmp_path: Path) -> None:
    assert configuration_for_folder(tmp_path, name="notes").knowledge_bases[0].name == "notes"
    with pytest.raises(ConfigurationError, match="cannot name a knowledge base"):
        configuration_for_folder(tmp_path, name="../x")


def test_a_link_to_a_folder_is_that_folder(tmp_path: Path) -> None:
    folder = tmp_path / "real"
    folder.mkdir()
    link = tmp_path / "link"
    link.symlink_to(folder)
    assert configuration_for_folder(link).base_folder == folder


def test_a_folder_that_is_none_is_refused(tmp_path: Path) -> None:
    file = write(tmp_path, "")
    with pytest.raises(ConfigurationError, match="not a folder"):
        configuration_for_folder(file)
    with pytest.raises(ConfigurationNotFound, match="no such folder"):
        configuration_for_folder(tmp_path / "gone")


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        ("docs", "docs"),
        (".hidden", "hidden"),
        ("Café notes", "Cafe-notes"),
        ("a" * 100, "a" * 64),
        ("-x-", "x"),
        ("v1.2_final", "v1.2_final"),
    ],
)
def test_folder_names_become_names(folder: str, name: str) -> None:
    assert name_for_folder(Path("/x") / folder) == name


def test_a_folder_whose_name_has_no_usable_character_still_gets_a_name() -> None:
    names = {name_for_folder(Path(folder)) for folder in ("/", "/文書", "/資料")}
    assert len(names) == 3
    assert all(name.startswith("folder-") for name in names)
