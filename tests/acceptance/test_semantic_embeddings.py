"""``semantic-embeddings`` as a user has it: what is asked of the models, run after run, and what is found."""

import hashlib
import json
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from support.fake_provider import FakeProvider, fake_provider, times_paid
from support.fake_provider_faults import poison, wrong_key
from support.fake_provider_log import fingerprint
from support.running_docmill import docmill

KEY = "sk-test-semantic-0123456789abcdef"
BILLS = "# Bills\n\nHow a bill is paid by the customer.\n\n"
REFUNDS = "# Refunds\n\nMoney comes back after 30 days.\n"
PARCELS = "Parcels leave at noon.\n"


@dataclass
class Project:
    """A folder with documents and a configuration whose models are those of a fake provider."""

    folder: Path
    provider: FakeProvider
    strategy: dict[str, Any] = field(default_factory=dict)
    model: dict[str, Any] = field(default_factory=dict)

    def write(self, name: str, text: str) -> None:
        path = self.folder / "docs" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def run(self, *command: str) -> tuple[int, str, str]:
        access = {"provider": "openai", "base_url": self.provider.base_url, "token_key": "MY_KEY"}
        strategy = {
            "type": "semantic-embeddings",
            "embedding_model": "embedder",
            "vector_dimensions": 16,
            "chat_model": "writer",
            "semantic_prompt": "Say: ${content}",
            "threshold": 0.5,
            **self.strategy,
        }
        models = {
            "embedder": {**access, "model": "text-embedding-3-small"},
            "writer": {**access, "model": "gpt-4o-mini", **self.model},
        }
        configuration = {"models": models, "rag": {"kb": {"docs": ["docs"], "strategies": [strategy]}}}
        (self.folder / "docmill.yaml").write_text(json.dumps(configuration), encoding="utf-8")
        ended = docmill(*command, cwd=self.folder, settings={"MY_KEY": KEY}, seconds=90)
        return ended.returncode, ended.stdout, ended.stdout + ended.stderr

    def index(self) -> tuple[Counter[str], Counter[str]]:
        """Indexes once; how often each prompt and each text was paid for."""
        self.provider.take()
        code, _, said = self.run("up", "docmill.yaml", "--data-dir", "data", "--port", "0", "--once")
        assert code == 0, said
        log = self.provider.take()
        return times_paid(log, "/chat/completions"), times_paid(log, "/embeddings")

    def search(self, query: str) -> list[dict[str, Any]]:
        code, answer, said = self.run("search", query, "--config", "docmill.yaml", "--data-dir", "data", "--json")
        assert code in (0, 1), said
        results: list[dict[str, Any]] = json.loads(answer)["results"]
        return results


@pytest.fixture(scope="module")
def provider() -> Iterator[FakeProvider]:
    with fake_provider() as running:
        yield running


@pytest.fixture
def project(tmp_path: Path, provider: FakeProvider) -> Project:
    """Two documents that are not indexed yet."""
    provider.heal()
    made = Project(tmp_path, provider)
    made.write("a.md", BILLS + REFUNDS)
    made.write("b.txt", PARCELS)
    return made


@pytest.fixture(scope="module")
def indexed_folder(tmp_path_factory: pytest.TempPathFactory, provider: FakeProvider) -> Path:
    made = Project(tmp_path_factory.mktemp("indexed"), provider)
    made.write("a.md", BILLS + REFUNDS)
    made.write("b.txt", PARCELS)
    made.index()
    return made.folder


@pytest.fixture
def indexed(tmp_path: Path, provider: FakeProvider, indexed_folder: Path) -> Project:
    """The same documents, indexed."""
    provider.heal()
    shutil.copytree(indexed_folder, tmp_path, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.sock"))
    return Project(tmp_path, provider)


def prompt_of(text: str, before: str = "Say: ") -> str:
    return before + text.strip()


def summary_of(prompt: str) -> str:
    """What the provider's chat model says."""
    return f"These words are about subject {hashlib.sha256(prompt.encode()).hexdigest()[:12]}."


def once(*texts: str) -> Counter[str]:
    return Counter(map(fingerprint, texts))


def test_each_chunk_is_summarised_once_and_its_summary_is_embedded(project: Project) -> None:
    chunks = (BILLS, REFUNDS, PARCELS)
    asked, embedded = project.index()
    assert asked == once(*map(prompt_of, chunks))
    assert embedded == once(*(summary_of(prompt_of(text)) for text in chunks))
    assert project.index() == (Counter(), Counter())


def test_what_is_found_by_its_summary_is_shown_as_it_stands_in_the_document(indexed: Project) -> None:
    (best,) = [result for result in indexed.search(summary_of(prompt_of(REFUNDS))) if result["score"] > 0]
    assert (best["document_id"], best["text"].strip(), best["headings"]) == ("docs/a.md", REFUNDS.strip(), ["Refunds"])
    assert (best["start_line"], best["end_line"]) == (5, 7)


def test_an_edited_chunk_alone_is_asked_for_and_a_rename_asks_for_nothing(indexed: Project) -> None:
    indexed.write("a.md", BILLS + REFUNDS.replace("30", "14"))
    edited = prompt_of(REFUNDS.replace("30", "14"))
    assert indexed.index() == (once(edited), once(summary_of(edited)))
    (indexed.folder / "docs" / "a.md").rename(indexed.folder / "docs" / "c.md")
    assert indexed.index() == (Counter(), Counter())


def test_another_prompt_asks_for_all_anew(indexed: Project) -> None:
    indexed.strategy["semantic_prompt"] = "In one word: ${content}"
    prompts = [prompt_of(text, "In one word: ") for text in (BILLS, REFUNDS, PARCELS)]
    assert indexed.index() == (once(*prompts), once(*map(summary_of, prompts)))
    (best,) = indexed.search(summary_of(prompts[2]))
    assert best["text"].strip() == PARCELS.strip()


def test_another_length_of_vectors_embeds_the_stored_summaries(indexed: Project) -> None:
    indexed.strategy["vector_dimensions"] = 32
    assert indexed.index() == (Counter(), once(*(summary_of(prompt_of(text)) for text in (BILLS, REFUNDS, PARCELS))))


def test_a_refused_chunk_fails_its_document_and_names_its_lines(project: Project) -> None:
    project.provider.fault(poison("30 days"))
    code, _, said = project.run("up", "docmill.yaml", "--data-dir", "data", "--port", "0", "--once")
    assert (code, "1 failed" in said) == (1, True), said
    code, answer, _ = project.run("explain", "docs/a.md", "--config", "docmill.yaml", "--data-dir", "data")
    assert "this input is refused (the summary of lines 5 to 7)" in " ".join(answer.split())
    (best,) = project.search(summary_of(prompt_of(PARCELS)))
    assert best["document_id"] == "docs/b.txt"


def test_a_wrong_key_ends_the_run_with_the_words_of_the_chat_model(project: Project) -> None:
    project.provider.fault(wrong_key(path="/chat/completions"))
    code, _, said = project.run("up", "docmill.yaml", "--data-dir", "data", "--port", "0", "--once")
    assert code != 0
    assert "Incorrect API key provided" in said
    assert KEY not in said
