"""Configuration files as docker-agent's users have them do here what they say there; only the embedding server is a local one."""

import json
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from support.one_line import one_line, run_each
from support.openai_server import OpenAiServer, running_openai_server
from support.trees import plant

DOCUMENTS = {
    "handbook/refunds.md": "# Refunds\n\nRefunds take thirty days. ERR_4418 says that one was refused.\n",
    "handbook/shipping.md": "# Shipping\n\nA parcel travels for three days.\n",
    "handbook/draft.md": "# Draft\n\nA parcel that nobody has read about yet.\n",
    "specs/api/v1.md": "# API\n\nThe parcel endpoint.\n",
    "specs/api/v2.txt": "The parcel endpoint, again.\n",
    "src/main.go": "package main\n\n// parcelWeight is what a parcel weighs.\nfunc parcelWeight() int { return 3 }\n",
    "README.md": "Nothing about it.\n",
    ".gitignore": "draft.md\n",
}
#: What such files have beside ``rag:``.
AGENTS = """
version: "2"
metadata: {author: somebody, license: MIT}
agents:
  root:
    model: main
    description: Answers questions
    instruction: |
      You have a knowledge base. Look things up in it.
    toolsets:
      - {type: rag, ref: handbook}
      - {type: think}
      - {type: mcp, ref: "docker:duckduckgo"}
    sub_agents: [writer]
    commands: {hello: "Say hello"}
  writer: {model: openai/gpt-4o, instruction: Write., add_date: true}
"""
MODELS = """
models:
  main: {provider: openai, model: gpt-4o, max_tokens: 4000, temperature: 0.2, thinking_budget: 1024, provider_opts: {keep_alive: 30m}}
  embedder: {provider: openai, model: text-embedding-3-small, base_url: "BASE", token_key: PATH}
providers:
  acme: {api_type: openai_chatcompletions, base_url: "BASE", token_key: PATH}
"""


@pytest.fixture(scope="module")
def embeddings() -> Iterator[OpenAiServer]:
    with running_openai_server(dimensions=8) as server:
        yield server


class Project:
    """A folder with documents and a configuration file."""

    def __init__(self, base: Path, server: OpenAiServer) -> None:
        self.base = base
        self.server = server
        plant(base, DOCUMENTS)
        (base / ".git").mkdir()

    def write(self, rag: str) -> None:
        (self.base / "agent.yaml").write_text(AGENTS + MODELS.replace("BASE", self.server.base_url) + rag, encoding="utf-8")

    def run(self, *calls: tuple[str, ...]) -> "list[subprocess.CompletedProcess[str]]":
        return run_each(calls, self.base)

    def searched(self, *searches: tuple[str, ...]) -> list[dict[str, Any]]:
        """Indexes, and searches; returns the answers."""
        made, *found = self.run(("index", "agent.yaml"), *(("search", *search, "--json") for search in searches))
        assert made.returncode == 0, made.stderr
        self.said = made.stderr
        assert all(done.returncode in (0, 1) for done in found), found
        return [json.loads(done.stdout) for done in found]

    def shown(self) -> Mapping[str, Any]:
        """What ``config show`` says about the knowledge bases."""
        (done,) = self.run(("config", "show", "agent.yaml"))
        assert done.returncode == 0, done.stderr
        rag: Mapping[str, Any] = yaml.safe_load(done.stdout)["rag"]
        return rag


@pytest.fixture
def project(tmp_path: Path, embeddings: OpenAiServer) -> Project:
    embeddings.take_requests()
    return Project(tmp_path, embeddings)


def paths(answer: Mapping[str, Any]) -> list[str]:
    return [result["path"] for result in answer["results"]]


def test_one_strategy_over_a_folder_and_a_file(project: Project) -> None:
    project.write("""
rag:
  handbook:
    tool:
      description: "What customers ask"
    docs: [./handbook, ./README.md]
    strategies:
      - type: chunked-embeddings
        embedding_model: embedder
        database: ./docs.db
        vector_dimensions: 8
        threshold: -1
""")
    (answer,) = project.searched(("how long do refunds take",))
    assert sorted(paths(answer)) == ["README.md", "handbook/refunds.md", "handbook/shipping.md"]
    assert "database: is not used; the index is kept in the data folder" in project.said
    assert not (project.base / "docs.db").exists()
    assert {request["body"]["model"] for request in project.server.take_requests()} == {"text-embedding-3-small"}


def test_two_strategies_fused_by_rank(project: Project) -> None:
    project.write("""
rag:
  handbook:
    docs: [./handbook, ./specs]
    strategies:
      - type: chunked-embeddings
        embedding_model: embedder
        database: ./vector.db
        vector_dimensions: 8
        similarity_metric: cosine_similarity
        threshold: -1
        limit: 20
        batch_size: 2
        max_embedding_concurrency: 3
        chunking: { size: 1000, overlap: 100 }
      - type: bm25
        database: ./bm25.db
        k1: 1.2
        b: 0.5
        threshold: 0.0
        limit: 15
        chunking: { size: 1000, overlap: 100 }
    results:
      fusion: { strategy: rrf, k: 60 }
      deduplicate: true
      limit: 2
      include_score: true
      return_full_content: true
""")
    (answer,) = project.searched(("ERR_4418", "--explain"))
    best, other = answer["results"]
    assert best["path"] == "handbook/refunds.md"
    assert best["score"] == pytest.approx(sum(1 / (60 + one["rank"]) for one in best["strategies"].values()))
    assert set(best["strategies"]) == {"chunked-embeddings", "bm25"}
    assert best["text"] == DOCUMENTS["handbook/refunds.md"]
    assert other["score"] < best["score"]
    assert "batch_size: is read as `embedding_batch_size`" in project.said
    assert "is not kept yet" not in project.said
    assert max(len(request["body"]["input"]) for request in project.server.take_requests()) <= 2


@pytest.mark.parametrize("fusion", ["{strategy: weighted, weights: {chunked-embeddings: 0, bm25: 1}}", "{strategy: max}"])
def test_the_other_fusions(project: Project, fusion: str) -> None:
    project.write(f"""
rag:
  handbook:
    docs: [./handbook]
    strategies:
      - {{type: chunked-embeddings, embedding_model: acme/model-x, vector_dimensions: 8, threshold: -1}}
      - {{type: bm25}}
    results: {{fusion: {fusion}}}
""")
    (answer,) = project.searched(("ERR_4418",))
    assert paths(answer)[0] == "handbook/refunds.md"
    assert {request["body"]["model"] for request in project.server.take_requests()} == {"model-x"}


def test_reranking_without_its_credential_leaves_the_order_as_it_is_and_says_so(project: Project) -> None:
    project.write("""
rag:
  handbook:
    docs: [./handbook]
    strategies:
      - type: bm25
    results:
      reranking:
        model: openai/gpt-4o-mini
        top_k: 10
        threshold: 0.3
        criteria: |
          Prefer the official text.
      limit: 5
""")
    (answer,) = project.searched(("refunds",))
    assert (paths(answer), answer["reranked"]) == (["handbook/refunds.md"], False)
    (degraded,) = answer["degraded"]
    assert (degraded["strategy"], degraded["code"]) == ("reranking", "configuration.invalid")
    assert "OPENAI_API_KEY" in degraded["reason"]


def test_semantic_embeddings_need_the_credential_of_their_chat_model(project: Project) -> None:
    project.write("""
rag:
  code:
    docs: [./src]
    strategies:
      - type: semantic-embeddings
        embedding_model: embedder
        vector_dimensions: 8
        chat_model: mistral/mistral-small-latest
        database: ./semantic.db
        ast_context: true
        chunking: { size: 1000, code_aware: true }
""")
    checked, made, started = project.run(("config", "check", "agent.yaml"), ("index", "agent.yaml"), ("up", "agent.yaml"))
    assert checked.returncode == 0
    for refused in (made, started):
        assert refused.returncode == 2
        assert "mistral/mistral-small-latest: its credential is missing; set the environment variable MISTRAL_API_KEY" in one_line(refused)


def test_two_knowledge_bases_each_find_their_own(project: Project) -> None:
    project.write("""
rag:
  handbook:
    description: For people
    docs: [./handbook]
    strategies: [{type: bm25}]
  specs:
    tool: {name: search_specs, description: For programs, instruction: Ask it first.}
    docs: [./specs]
    strategies: [{type: bm25}]
""")
    of_people, of_programs = project.searched(("parcel", "--kb", "handbook"), ("parcel", "--kb", "specs"))
    assert paths(of_people) == ["handbook/shipping.md"]
    assert sorted(paths(of_programs)) == ["specs/api/v1.md", "specs/api/v2.txt"]
    (unnamed,) = project.run(("search", "parcel"))
    assert unnamed.returncode == 2
    assert "name one with --kb: handbook, specs" in one_line(unnamed)


def test_a_strategy_has_documents_and_ignore_rules_of_its_own(project: Project) -> None:
    project.write("""
rag:
  handbook:
    docs: [./README.md]
    strategies:
      - {type: bm25, docs: [./handbook], respect_vcs: false}
      - {type: bm25, name: code, docs: [./src]}
""")
    drafts, code = project.searched(("parcel", "--strategy", "bm25"), ("parcel", "--strategy", "code"))
    assert sorted(paths(drafts)) == ["handbook/draft.md", "handbook/shipping.md"]
    assert paths(code) == ["src/main.go"]


@pytest.mark.parametrize(("respect_vcs", "found"), [("true", ["shipping"]), ("false", ["draft", "shipping"])])
def test_ignore_files_are_followed_unless_they_are_not_to_be(project: Project, respect_vcs: str, found: list[str]) -> None:
    project.write(f"rag: {{handbook: {{docs: [./handbook], respect_vcs: {respect_vcs}, strategies: [{{type: bm25}}]}}}}\n")
    (answer,) = project.searched(("parcel",))
    assert sorted(paths(answer)) == [f"handbook/{name}.md" for name in found]


@pytest.mark.parametrize(
    ("docs", "found"),
    [
        ('["./specs/**/*.md"]', ["specs/api/v1.md"]),
        ('["*/api/*"]', ["specs/api/v1.md", "specs/api/v2.txt"]),
        ('["./**/*.{go,txt}"]', ["specs/api/v2.txt", "src/main.go"]),
        ('[., "!./handbook", "!**/*.go"]', ["specs/api/v1.md", "specs/api/v2.txt"]),
        ("[./specs, ./specs/api, ./specs/api/v1.md]", ["specs/api/v1.md", "specs/api/v2.txt"]),
    ],
)
def test_patterns_choose_documents(project: Project, docs: str, found: list[str]) -> None:
    project.write(f"rag: {{handbook: {{docs: {docs}, strategies: [{{type: bm25}}]}}}}\n")
    (answer,) = project.searched(("parcel",))
    assert sorted(paths(answer)) == found


def test_limits_and_thresholds_are_kept(project: Project) -> None:
    project.write("""
rag:
  handbook:
    docs: [./handbook, ./specs]
    strategies:
      - {type: chunked-embeddings, embedding_model: embedder, vector_dimensions: 8, threshold: 0.999999}
      - {type: bm25, limit: 2, threshold: 0.01}
""")
    many, exact = project.searched(("parcel",), ("A parcel travels for three days.", "--strategy", "chunked-embeddings"))
    assert len(paths(many)) == 2
    assert paths(exact) == []


def test_anchors_and_merge_keys_are_read(project: Project) -> None:
    project.write("""
x-embedding: &embedding
  type: chunked-embeddings
  embedding_model: embedder
  vector_dimensions: 8
rag:
  handbook:
    docs: [./handbook]
    strategies:
      - <<: *embedding
        limit: 3
      - {type: bm25, chunking: &small {size: 500, overlap: 50}}
      - {type: bm25, name: again, chunking: *small}
""")
    embedding, words, again = project.shown()["handbook"]["strategies"]
    assert (embedding["limit"], embedding["vector_dimensions"], embedding["threshold"]) == (3, 8, 0.5)
    assert words["chunking"] == again["chunking"]
    assert words["chunking"]["size"] == 500


def test_defaults_are_those_that_such_files_count_on(project: Project) -> None:
    project.write("""
rag:
  handbook:
    docs: [./handbook]
    strategies:
      - {type: chunked-embeddings, embedding_model: embedder, vector_dimensions: 8}
      - {type: bm25}
      - {type: bm25, name: code, chunking: {code_aware: true}}
""")
    shown = project.shown()["handbook"]
    embedding, words, code = shown["strategies"]
    assert (embedding["limit"], embedding["threshold"], embedding["embedding_batch_size"]) == (5, 0.5, 50)
    assert (words["limit"], words["threshold"], words["k1"], words["b"]) == (5, 0.0, 1.5, 0.75)
    assert (embedding["chunking"]["size"], embedding["chunking"]["overlap"], code["chunking"]["size"]) == (1500, 75, 4000)
    assert (shown["respect_vcs"], shown["indexing_timeout"], shown["results"]["limit"], shown["results"]["deduplicate"]) == (
        True,
        "30m",
        15,
        True,
    )
    assert shown["results"]["fusion"] == {"strategy": "rrf", "k": 60}


def test_vectors_of_another_length_than_configured_end_the_run_with_the_reason(project: Project) -> None:
    project.write("""
rag:
  handbook:
    docs: [./handbook]
    strategies:
      - {type: chunked-embeddings, embedding_model: embedder, vector_dimensions: 8}
""")
    project.server.misbehave(*[{"data": "short"}] * 10)
    made, again = project.run(("index", "agent.yaml", "--json"), ("index", "agent.yaml", "--json"))
    (run,) = json.loads(made.stdout).values()
    assert (made.returncode, run["state"]) == (3, "failed")
    assert "8" in run["error"]
    project.server.misbehave()
    assert again.returncode in (0, 3)


def test_a_missing_key_is_named_before_anything_is_made(project: Project) -> None:
    text = "rag: {handbook: {docs: [./handbook], strategies: [{type: chunked-embeddings, embedding_model: secret}]}}\n"
    project.write(text)
    content = (project.base / "agent.yaml").read_text(encoding="utf-8")
    entry = "models:\n  secret: {provider: openai, model: text-embedding-3-small, token_key: NO_SUCH_KEY}\n"
    (project.base / "agent.yaml").write_text(content.replace("models:\n", entry), encoding="utf-8")
    (made,) = project.run(("index", "agent.yaml"))
    assert made.returncode == 2
    assert "its credential is missing; set the environment variable NO_SUCH_KEY" in one_line(made)


def test_every_mistake_is_named_at_once_with_its_place_and_what_was_meant(project: Project) -> None:
    (project.base / "agent.yaml").write_text(
        """rag:
  handbook:
    doc: [./handbook]
    indexing_timeout: -5m
    strategies:
      - {type: bm25, limt: 3, k1: high}
      - {type: chunked-embedding, embedding_model: openai/x}
    results: {fusion: {strategy: rff}, limit: 0}
""",
        encoding="utf-8",
    )
    (checked,) = project.run(("config", "check", "agent.yaml"))
    assert checked.returncode == 2
    lines = checked.stderr.removeprefix("docmill: ").splitlines()
    assert [line.split(": ")[0] for line in lines] == [
        f"agent.yaml:{place}" for place in ("3:5", "4:23", "6:22", "6:35", "7:16", "8:34", "8:47")
    ]
    for meant in ("`docs`", "`limit`", "`chunked-embeddings`", "`rrf`"):
        assert f"did you mean {meant}?" in checked.stderr
