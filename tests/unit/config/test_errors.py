from pathlib import Path

import pytest

from support.configuration_files import errors_of, knowledge_base, load

EMBEDDED = "{type: chunked-embeddings, embedding_model: local/all-minilm-l6-v2}"


def test_every_problem_of_a_file_is_reported_at_once_in_its_order_with_its_place(tmp_path: Path) -> None:
    text = """
rag:
  bad name:
    docs: ./handbook
    strategis: 1
    strategies:
      - type: chunked_embeddings
        limit: "5"
      - type: bm25
        k1: -1
        chunking: {size: 100, overlap: 100, sze: 3}
      - just text
      - type: chunked-embeddings
        embedding_model: opnai/text-embedding-3-small
        batch_size: 0
  notes:
    docs: [1, ""]
    docs: [.]
    strategies: []
    answer: {}
"""
    assert errors_of(tmp_path, text) == [
        "3:3: rag.bad name: `bad name` cannot name a knowledge base: up to 64 letters (a-z), digits, `.`, `_` and `-`, "
        "beginning with a letter or digit",
        "4:11: rag.bad name.docs: must be a list, not the text `./handbook`",
        "5:5: rag.bad name.strategis: this key is not known (did you mean `strategies`?)",
        "7:15: rag.bad name.strategies[0].type: must be one of `chunked-embeddings`, `semantic-embeddings`, `bm25`, "
        "not `chunked_embeddings` (did you mean `chunked-embeddings`?)",
        "8:16: rag.bad name.strategies[0].limit: must be a whole number, not the text `5`",
        "10:13: rag.bad name.strategies[1].k1: must be greater than 0, not `-1`",
        "11:40: rag.bad name.strategies[1].chunking.overlap: must be less than the chunk size of 100, not `100`",
        "11:45: rag.bad name.strategies[1].chunking.sze: this key is not known (did you mean `size`?)",
        "12:9: rag.bad name.strategies[2]: must be a mapping, not the text `just text`",
        "14:26: rag.bad name.strategies[3].embedding_model: there is no provider `opnai` (did you mean `openai`?); known are "
        "`local`, `openai`, `azure`, `dmr`, `minimax`, `mistral`, `nebius`, `ollama`, `requesty`, `xai`, `google`, `cohere`, "
        "`voyage`, `amazon-bedrock`, `anthropic`; others need an entry under `providers:`",
        "15:21: rag.bad name.strategies[3].batch_size: must be at least 1, not `0`",
        "17:12: rag.notes.docs[0]: must be text, not `1`; put it in quotes",
        "17:15: rag.notes.docs[1]: must name a file, a folder or a pattern",
        "18:5: rag.notes.docs: the key `docs` is there twice",
        "19:17: rag.notes.strategies: must not be empty",
        "20:13: rag.notes.answer: needs a `model`",
    ]


@pytest.mark.parametrize(
    ("strategy", "problem"),
    [
        ("{type: bm25, limit: 0}", "limit: must be at least 1, not `0`"),
        ("{type: bm25, limit: true}", "limit: must be a whole number, not `true`"),
        ("{type: bm25, limit: 2.5}", "limit: must be a whole number, not `2.5`"),
        ("{type: bm25, limit: [1]}", "limit: must be a whole number, not a list"),
        ("{type: bm25, limit: 100000000000000000000000}", "limit: must be at most 10000, not `100000000000000000000000`"),
        ("{type: bm25, k1: 0}", "k1: must be greater than 0, not `0`"),
        ("{type: bm25, k1: .nan}", "k1: must be a finite number, not `nan`"),
        ("{type: bm25, k1: 1e999}", "k1: must be a finite number, not `inf`"),
        ("{type: bm25, b: 1.1}", "b: must be at most 1, not `1.1`"),
        ("{type: bm25, b: -0.1}", "b: must be at least 0, not `-0.1`"),
        ("{type: bm25, threshold: high}", "threshold: must be a number, not the text `high`"),
        ("{type: bm25, threshold: -.inf}", "threshold: must be a finite number, not `-inf`"),
        ("{type: bm25, name: ''}", "name: must match `^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`, which `` does not"),
        ("{type: bm25, chunking: {size: 15}}", "chunking.size: must be at least 16, not `15`"),
        ("{type: bm25, chunking: {overlap: -1}}", "chunking.overlap: must be at least 0, not `-1`"),
        ("{type: bm25, chunking: {overlap: 1500}}", "chunking.overlap: must be less than the chunk size of 1500, not `1500`"),
        ("{type: bm25, chunking: 100}", "chunking: must be a mapping, not `100`"),
        ("{type: bm25, respect_vcs: 'no'}", "respect_vcs: must be `true` or `false`, not the text `no`"),
        ("{type: bm25, max_indexing_concurrency: 0}", "max_indexing_concurrency: must be at least 1, not `0`"),
        ("{type: bm25, weights: {}}", "weights: this key is not known here; it belongs in `results.fusion`"),
        ("{limit: 5}", "needs a `type`: one of `chunked-embeddings`, `semantic-embeddings`, `bm25`"),
        ("{type: chunked-embeddings}", "`chunked-embeddings` needs an `embedding_model`"),
        ("{type: chunked-embeddings, embedding_model: ''}", "embedding_model: `chunked-embeddings` needs an `embedding_model`"),
        ("{type: chunked-embeddings, embedding_model: [a]}", "embedding_model: must be text, not a list"),
        (
            "{type: chunked-embeddings, embedding_model: local/minilm}",
            "embedding_model: there is no local model `minilm`; known are `local/all-minilm-l6-v2`, `local/wordllama-256`",
        ),
        (
            "{type: chunked-embeddings, embedding_model: local/all-minilm-l6-v2, vector_dimensions: 1536}",
            "vector_dimensions: `local/all-minilm-l6-v2` makes vectors of 384, not of 1536",
        ),
        (
            "{type: chunked-embeddings, embedding_model: ollama/nomic-embed-text}",
            "needs `vector_dimensions`, the length of the vectors of `ollama/nomic-embed-text`",
        ),
        (
            "{type: chunked-embeddings, embedding_model: auto, vector_dimensions: 77}",
            "embedding_model: `auto` has no model of 77 dimensions, only of 384, 768, 1536; name the model",
        ),
        (
            "{type: chunked-embeddings, embedding_model: azure/small, vector_dimensions: 8}",
            "embedding_model: `azure` needs a `base_url`, in an entry under `models:` or `providers:`",
        ),
        (
            "{type: chunked-embeddings, embedding_model: ollama/x, vector_dimensions: 65537}",
            "vector_dimensions: must be at most 65536, not `65537`",
        ),
        (
            "{type: chunked-embeddings, embedding_model: local/wordllama-256, threshold: 50}",
            "threshold: must be a cosine, from -1 to 1, not `50`",
        ),
        (
            "{type: chunked-embeddings, embedding_model: local/wordllama-256, embedding_batch_size: 0}",
            "embedding_batch_size: must be at least 1, not `0`",
        ),
        (
            "{type: chunked-embeddings, embedding_model: local/wordllama-256, similarity_metric: cosin}",
            "similarity_metric: must be one of `cosine_similarity`, `dot_product`, `euclidean`, not `cosin` "
            "(did you mean `cosine_similarity`?)",
        ),
        (
            "{type: semantic-embeddings, embedding_model: openai/text-embedding-3-small, chat_model: openai/gpt}",
            "needs `vector_dimensions`, the length of the vectors of `openai/text-embedding-3-small`",
        ),
        ("{type: semantic-embeddings, embedding_model: local/wordllama-256}", "`semantic-embeddings` needs a `chat_model`"),
        (
            "{type: semantic-embeddings, embedding_model: local/wordllama-256, chat_model: local/wordllama-256}",
            "chat_model: `local/wordllama-256` makes vectors; it cannot write or score text",
        ),
    ],
)
def test_a_bad_value_in_a_strategy_is_one_error(tmp_path: Path, strategy: str, problem: str) -> None:
    (line,) = errors_of(tmp_path, knowledge_base(strategy))
    assert line.startswith("5:")
    message = line.split(": ", 1)[1]
    assert message in (f"rag.notes.strategies[0]: {problem}", f"rag.notes.strategies[0].{problem}")


@pytest.mark.parametrize(
    ("extra", "problem"),
    [
        ("    results: {limit: 0}", "results.limit: must be at least 1, not `0`"),
        ("    results: {fusion: {k: 0}}", "results.fusion.k: must be at least 1, not `0`"),
        ("    results: {fusion: {strategy: borda}}", "results.fusion.strategy: must be one of `rrf`, `weighted`, `max`, not `borda`"),
        (
            "    results: {fusion: {strategy: weighted, weights: {bm52: 1, bm25: 1}}}",
            "results.fusion.weights.bm52: there is no strategy `bm52` (did you mean `bm25`?)",
        ),
        ("    results: {fusion: {weights: {bm25: -1}}}", "results.fusion.weights.bm25: must be at least 0, not `-1`"),
        (
            "    results: {fusion: {strategy: weighted, weights: {bm25: 0}}}",
            "results.fusion.weights: at least one weight must be above 0",
        ),
        ("    results: {reranking: {threshold: 0.5}}", "results.reranking: needs a `model`"),
        ("    results: {reranking: {model: ''}}", "results.reranking.model: needs a `model`"),
        ("    results: {reranking: {model: openai/x, threshold: 2}}", "results.reranking.threshold: must be at most 1, not `2`"),
        ("    results: {reranking: {model: openai/x, top_k: -1}}", "results.reranking.top_k: must be at least 0, not `-1`"),
        ("    results: {reranking: [{model: openai/x}, {}]}", "results.reranking[1]: needs a `model`"),
        ("    results: {reranking: [{score_floor: 2}]}", "results.reranking[0].score_floor: must be at most 1, not `2`"),
        (
            "    results: {reranking: [{score_floor: 0.5, model: openai/x}]}",
            "results.reranking[0].model: does not go with `score_floor`; make two stages of it, in a list",
        ),
        (
            "    results: {reranking: [{model: openai/x, topk: 1}]}",
            "results.reranking[0].topk: this key is not known (did you mean `top_k`?)",
        ),
        ("    answer: {model: openai/x, passages: 0}", "answer.passages: must be at least 1, not `0`"),
        ("    answer: {model: openai/x, budget_chars: 10}", "answer.budget_chars: must be at least 500, not `10`"),
        ("    answer: {model: openai/x, min_score: .inf}", "answer.min_score: must be a finite number, not `inf`"),
        ("    indexing_timeout: -5m", "indexing_timeout: must not be negative, as `-5m` is"),
        ("    indexing_timeout: 30", "indexing_timeout: must be a duration with its unit, such as `30m`, not `30`"),
        ("    indexing_timeout: 1d", "indexing_timeout: must be a duration such as `30m`, `1h30m` or `0s`, not `1d`"),
        ("    scan_interval: 0s", "scan_interval: must be at least `1s`"),
        ("    max_file_size: 20XB", "max_file_size: must be a size in bytes, or such as `20MB`, not `20XB`"),
        ("    max_file_size: 0", "max_file_size: must be at least 1, not `0`"),
        ("    max_tokens_per_run: 0", "max_tokens_per_run: must be at least 1, not `0`"),
        ("    tool: {name: my tool}", "tool.name: must match `^[A-Za-z0-9_.-]{1,128}$`, which `my tool` does not"),
        ("    tool: {names: x}", "tool.names: this key is not known (did you mean `name`?)"),
        ("    tool: {name: read_document}", "tool.name: every server has a tool `read_document` already; set another `tool.name`"),
        ("    instruction: Search.", "instruction: this key is not known here; it belongs in `tool`"),
        ("    description: 2026", "description: must be text, not `2026`; put it in quotes"),
        ("    limit: 5", "limit: this key is not known here; it belongs in `strategies`, `results`"),
    ],
)
def test_a_bad_value_in_a_knowledge_base_is_one_error(tmp_path: Path, extra: str, problem: str) -> None:
    (line,) = errors_of(tmp_path, knowledge_base(extra=extra + "\n"))
    assert line.startswith("6:")
    assert line.split(": ", 1)[1] == f"rag.notes.{problem}"


@pytest.mark.parametrize(
    ("entries", "problem"),
    [
        ("models: {m: {provider: openai}}", "models.m: needs a `provider` and a `model`"),
        ("models: {m: openai/x}", "models.m: must be a mapping, not the text `openai/x`"),
        ("models: {m: {provider: opnai, model: x}}", "models.m.provider: there is no provider `opnai` (did you mean `openai`?)"),
        ("models: {m: {provider: local, model: x}}", "models.m.model: there is no local model `x`; known are `all-minilm-l6-v2`"),
        ("models: {m: {provider: openai, model: x, base_url: host}}", "models.m.base_url: must be a URL such as"),
        ("models: {m: {provider: openai, model: x, base_url: 'http://h:99999'}}", "models.m.base_url: is not a URL"),
        ("models: {m: {provider: openai, model: x, requests_per_minute: 0}}", "models.m.requests_per_minute: must be at least 1"),
        ("models: {m: {provider: openai, model: x, price: -1}}", "models.m.price: must be"),
        ("models: [m]", "models: must be a mapping of names, not a list"),
        ("models: {m: {provider: acme, model: x}}\nproviders: {acme: {token_key: K}}", "providers.acme: needs a `base_url`"),
        (
            "models: {m: {provider: acme, model: x}}\nproviders: {acme: {base_url: 'http://h', api_type: grpc}}",
            "providers.acme.api_type: must be one of",
        ),
        (
            "models: {m: {provider: openai, model: x}}\nproviders: {local: {base_url: 'http://h'}}",
            "providers.local: `local` is built in and cannot be defined",
        ),
    ],
)
def test_a_bad_entry_of_a_model_that_is_used_is_an_error_where_it_stands(tmp_path: Path, entries: str, problem: str) -> None:
    lines = errors_of(tmp_path, knowledge_base("{type: chunked-embeddings, embedding_model: m, vector_dimensions: 8}", entries + "\n"))
    assert [line for line in lines if line.split(": ", 1)[1].startswith(problem)], lines


@pytest.mark.parametrize(
    "entry",
    ["token_key: sk-my-secret-value", "token_key: 'my secret value'", "base_url: 'https://user:secret@host/v1'", "token_key: [secret]"],
)
def test_a_secret_that_stands_in_the_file_is_refused_and_not_repeated(tmp_path: Path, entry: str) -> None:
    entries = f"models: {{m: {{provider: openai, model: x, {entry}}}}}\n"
    lines = errors_of(tmp_path, knowledge_base("{type: chunked-embeddings, embedding_model: m, vector_dimensions: 8}", entries))
    assert lines
    assert "secret-value" not in "".join(lines)
    assert "my secret" not in "".join(lines)
    assert "user:secret" not in "".join(lines)


def test_a_name_that_is_no_model_lists_those_that_are(tmp_path: Path) -> None:
    entries = "models: {embedder: {provider: openai, model: x}}\n"
    (line,) = errors_of(tmp_path, knowledge_base("{type: chunked-embeddings, embedding_model: embeder}", entries))
    assert "did you mean `embedder`?" in line
    assert "`models:` has `embedder`" in line


def test_weighted_fusion_needs_a_weight_for_each_strategy(tmp_path: Path) -> None:
    extra = f"      - {EMBEDDED}\n    results: {{fusion: {{strategy: weighted, weights: {{bm25: 1}}}}}}\n"
    (line,) = errors_of(tmp_path, knowledge_base(extra=extra))
    assert line.endswith("results.fusion.weights: `weighted` needs a weight for each strategy; missing: `chunked-embeddings`")


def test_two_strategies_of_one_type_without_names_are_told_to_take_names(tmp_path: Path) -> None:
    (line,) = errors_of(tmp_path, knowledge_base(extra="      - {type: bm25}\n"))
    assert line == "6:16: rag.notes.strategies[1].type: two strategies are called `bm25`; give each of them a `name` of its own"


def test_two_knowledge_bases_cannot_have_one_tool_name(tmp_path: Path) -> None:
    extra = "  other:\n    docs: [.]\n    tool: {name: notes}\n    strategies: [{type: bm25}]\n"
    (line,) = errors_of(tmp_path, knowledge_base(extra=extra))
    assert line.startswith("8:12: rag.other.tool.name: the knowledge base `notes` has the tool name `notes` too")


def test_docs_that_only_exclude_are_refused(tmp_path: Path) -> None:
    (line,) = errors_of(tmp_path, "rag: {notes: {docs: ['!a'], strategies: [{type: bm25}]}}\n")
    assert "only leaves documents out" in line


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("agents: {}\n", "1:1: there is no `rag:` section; it holds the knowledge bases"),
        ("rags: {}\n", "1:1: there is no `rag:` section (did you mean `rags`?); it holds the knowledge bases"),
        ("rag:\n", "1:5: rag: must be a mapping of names to knowledge bases, not empty"),
        ("rag: {}\n", "1:6: rag: must have at least one knowledge base"),
        ("rag: [notes]\n", "1:6: rag: must be a mapping of names to knowledge bases, not a list"),
        ("rag: {notes: }\n", "1:13: rag.notes: must be a mapping, not empty"),
        ("rag: {notes: {}}\n", "1:7: rag.notes: needs `strategies`: a list of `chunked-embeddings`, `semantic-embeddings`, `bm25`"),
        ("rag: {notes: {strategies: {type: bm25}}}\n", "1:27: rag.notes.strategies: must be a list, not a mapping"),
    ],
)
def test_a_file_without_a_knowledge_base_says_what_is_missing(tmp_path: Path, text: str, problem: str) -> None:
    assert errors_of(tmp_path, text) == [problem]


@pytest.mark.parametrize("name", ["a b", "../x", ".hidden", "-x", "a/b", "a:b", "{a}", "ä", "x" * 65, "", "a\\nb"])
def test_names_that_are_not_safe_everywhere_are_refused(tmp_path: Path, name: str) -> None:
    (line,) = errors_of(tmp_path, f'rag: {{"{name}": {{docs: [.], strategies: [{{type: bm25}}]}}}}\n')
    assert line.startswith("1:7: rag")
    assert "cannot name a knowledge base" in line


@pytest.mark.parametrize("name", ["a", "7", "on", "2026", "Notes", "my_docs", "a.b-c_d", "x" * 64])
def test_safe_names_are_taken(tmp_path: Path, name: str) -> None:
    assert errors_of(tmp_path, f"rag: {{{name}: {{docs: [.], strategies: [{{type: bm25}}]}}}}\n") == []


def test_values_with_line_breaks_stay_in_one_line(tmp_path: Path) -> None:
    (line,) = errors_of(tmp_path, knowledge_base('{type: "a\\nb\\u001b[31m"}'))
    assert "`a\\nb\\x1b[31m`" in line


def test_a_warning_says_what_has_no_effect(tmp_path: Path) -> None:
    model = "embedding_model: local/wordllama-256, chat_model: openai/x"
    strategy = f"{{type: semantic-embeddings, {model}, ast_context: true, semantic_prompt: '${{contnt}}'}}"
    configuration = load(tmp_path, knowledge_base(strategy, "    results: {fusion: {weights: {semantic-embeddings: 1}}}\n"))
    assert [warning.split(": ", 1)[1] for warning in configuration.warnings] == [
        "rag.notes.strategies[0].ast_context: has no effect: nothing in `semantic_prompt` says `${ast_context}`",
        "rag.notes.strategies[0].semantic_prompt: nothing is put in for `${contnt}`; known are `${path}`, `${basename}`, `${chunk_index}`, "
        "`${content}`, `${ast_context}`",
        "rag.notes.strategies[0].semantic_prompt: the model is not shown the chunk: nothing in it says `${content}`",
        "rag.notes.results.fusion.weights: has an effect only with `strategy: weighted`, not with `rrf`",
    ]
