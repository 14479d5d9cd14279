"""``docmill index --dry-run`` as a user calls it: it counts what a run would do, and does none of it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.openai_server import OpenAiServer, running_openai_server
from support.running_docmill import RunningDocmill, docmill, write_configuration

TEXTS = {"a.md": "# Apples\n\nThey are round.\n", "b.md": "# Pears\n\nThey are not.\n", "copy.md": "# Apples\n\nThey are round.\n"}


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    for name, text in TEXTS.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def server() -> Iterator[OpenAiServer]:
    with running_openai_server(dimensions=8) as running:
        yield running


def priced(folder: Path, server: OpenAiServer, more: str = "", price: str = "price: 2") -> Path:
    path = folder / "docmill.yaml"
    path.write_text(
        f'providers: {{here: {{base_url: "{server.base_url}"}}}}\n'
        f"models: {{m: {{provider: here, model: x, {price}}}}}\n"
        f"rag: {{kb: {{docs: [docs], {more} strategies: [{{type: chunked-embeddings, embedding_model: m, vector_dimensions: 8}}]}}}}\n",
        encoding="utf-8",
    )
    return path


def dry_run(configuration: Path, *more: str, kb: str = "kb") -> dict[str, Any]:
    ended = docmill("index", configuration, "--dry-run", "--json", *more, cwd=configuration.parent)
    assert ended.returncode == 0, ended.stderr
    found: dict[str, Any] = json.loads(ended.stdout)[kb]
    return found


def test_before_anything_is_indexed_all_counts_and_nothing_is_made(tmp_path: Path, docs: Path, server: OpenAiServer) -> None:
    found = dry_run(priced(tmp_path, server))
    tokens = found["tokens_estimate"]
    assert 5 < tokens < 40
    assert found["models"] == [
        {
            "model": "here/x",
            "role": "embedding",
            "texts": 2,
            "requests_estimate": 1,
            "input_tokens_estimate": tokens,
            "output_tokens_estimate": 0,
            "cost_usd_estimate": round(tokens * 2 / 1e6, 6),
        }
    ]
    assert {name: found[name] for name in ("files", "unchanged", "to_index", "skipped", "unreadable", "chunks", "texts")} == {
        "files": 3,
        "unchanged": 0,
        "to_index": 3,
        "skipped": {},
        "unreadable": 0,
        "chunks": 3,
        "texts": 2,  # the third is a copy
    }
    assert (found["requests_estimate"], found["cost_usd_estimate"]) == (1, round(tokens * 2 / 1e6, 6))
    assert "every file counts as new" in found["hidden"]
    assert server.take_requests() == []
    assert not (tmp_path / ".docmill").exists()


def test_a_credential_is_not_needed(tmp_path: Path, docs: Path) -> None:
    (tmp_path / "docmill.yaml").write_text(
        "rag: {kb: {docs: [docs], strategies: [{type: chunked-embeddings, embedding_model: voyage/voyage-3.5}]}}\n", encoding="utf-8"
    )
    found = dry_run(tmp_path / "docmill.yaml")
    assert (found["texts"], found["cost_usd_estimate"]) == (2, None)


def test_what_is_left_out_is_counted_by_its_reason(tmp_path: Path, docs: Path, server: OpenAiServer) -> None:
    (docs / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    found = dry_run(priced(tmp_path, server))
    assert (found["files"], found["to_index"], found["skipped"]) == (4, 3, {"binary": 1})


def test_after_a_run_only_what_is_new_or_changed_counts_and_nothing_is_changed(tmp_path: Path, docs: Path) -> None:
    configuration = write_configuration(tmp_path / "docmill.yaml", docs)
    assert docmill("index", configuration, cwd=tmp_path).returncode == 0
    (docs / "new.md").write_text("# Plums\n\nThey are blue.\n", encoding="utf-8")
    (docs / "a.md").write_text(TEXTS["a.md"], encoding="utf-8")  # another time, the same content
    (docs / "another-copy.md").write_text(TEXTS["b.md"], encoding="utf-8")
    for _ in range(2):
        found = dry_run(configuration)
        assert (found["files"], found["unchanged"], found["to_index"], found["texts"]) == (5, 3, 2, 1)
    ended = docmill("index", configuration, "--json", cwd=tmp_path)
    counters = json.loads(ended.stdout)["kb"]["counters"]
    assert (counters["indexed"], counters["embedded"]) == (2, 1)
    assert dry_run(configuration)["to_index"] == 0


def test_another_pipeline_indexes_everything_and_embeds_what_is_not_stored_in_its_form(tmp_path: Path, docs: Path) -> None:
    configuration = write_configuration(tmp_path / "docmill.yaml", docs)
    assert docmill("index", configuration, cwd=tmp_path).returncode == 0
    text = configuration.read_text(encoding="utf-8")
    configuration.write_text(text.replace("type: bm25, limit: 20, chunking: {size: 1500", "type: bm25, limit: 20, chunking: {size: 300"))
    found = dry_run(configuration)
    assert (found["to_index"], found["texts"]) == (3, 0)
    configuration.write_text(text.replace("wordllama-256", "all-minilm-l6-v2"))
    found = dry_run(configuration)
    assert (found["to_index"], found["texts"]) == (3, 2)
    configuration.write_text(text)
    assert dry_run(configuration)["unchanged"] == 3


def test_beside_a_running_docmill_it_sees_which_files_are_unchanged(tmp_path: Path, docs: Path) -> None:
    configuration = write_configuration(tmp_path / "docmill.yaml", docs)
    with RunningDocmill(configuration, tmp_path / "data", "--no-watch") as running:
        running.wait_until_indexed()
        (docs / "new.md").write_text(TEXTS["a.md"], encoding="utf-8")
        found = dry_run(configuration, "--data-dir", str(tmp_path / "data"))
        assert (found["unchanged"], found["to_index"]) == (3, 1)
        assert found["texts"] == 1, "its vectors cannot be seen"
        assert str(running.process.pid) in found["hidden"]


def test_people_read_a_table_that_says_what_is_estimated(tmp_path: Path, docs: Path, server: OpenAiServer) -> None:
    ended = docmill("index", priced(tmp_path, server, more="max_tokens_per_run: 5,"), "--dry-run", cwd=tmp_path)
    assert ended.returncode == 0
    assert "3 by the rules, 0 of them unchanged" in ended.stdout
    assert "here/x: 2 texts, about" in ended.stdout
    assert "more than max_tokens_per_run (5)" in ended.stdout
    assert "are estimates" in ended.stderr


@pytest.mark.parametrize(
    "price", ["price: -1", "price: {input: -0.1}", "price: .inf", "price: {output: .nan}", "price: cheap", "price: true"]
)
def test_a_price_that_cannot_be_one_is_an_error_of_the_configuration(tmp_path: Path, docs: Path, server: OpenAiServer, price: str) -> None:
    ended = docmill("index", priced(tmp_path, server, price=price), "--dry-run", cwd=tmp_path)
    assert ended.returncode == 2
    assert "docmill.yaml:2:" in ended.stderr
    assert "price" in ended.stderr


def test_flags_that_exclude_each_other_are_refused(tmp_path: Path, docs: Path) -> None:
    ended = docmill("index", docs, "--dry-run", "--no-wait", cwd=tmp_path)
    assert ended.returncode == 2
    assert "exclude each other" in ended.stderr


def test_what_would_be_indexed_and_what_not_is_listed_with_its_cause(tmp_path: Path, docs: Path, server: OpenAiServer) -> None:
    """A folder as people have them: everything in it is accounted for."""
    token = "np" + "m_" + "q7Zt1mVx9bKc4RwE2yHn8sLp5dGf3jAu6TkY"
    texts = {
        ".env": "A=1",
        "login.md": f"use {token}\n",
        "blank.txt": "\n \n",
        "main.py": "x = 1\n",
        "repo/.docmillignore": "out/\n*.log\n",
    }
    texts |= {"repo/out/a.js": "", "repo/out/b.js": "", "repo/x.log": "", "repo/y.log": ""}
    for name, text in texts.items():
        (docs / name).parent.mkdir(exist_ok=True)
        (docs / name).write_text(text, encoding="utf-8")
    for number in range(5):
        (docs / f"{number}.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    with (docs / "big.log").open("wb") as big:
        big.truncate(3 << 30)
    (docs / "gone").symlink_to("nowhere")
    found = dry_run(priced(tmp_path, server))
    assert (found["files"], found["to_index"], found["empty"]) == (13, 5, 1)
    assert found["skipped"] == {"binary": 5, "secret": 1, "too_large": 1}
    types = {one["type"]: (one["files"], one["paths"]) for one in found["by_type"]}
    assert types["text/markdown"] == (3, ["docs/a.md", "docs/b.md", "docs/copy.md"])
    assert types["python"] == (1, ["docs/main.py"])
    causes = {
        (one["reason"], one.get("rule", {}).get("pattern", "")): (one["files"], one["folders"], one["paths"]) for one in found["left_out"]
    }
    assert causes == {
        ("ignored", "out/"): (0, 1, ["docs/repo/out/"]),
        ("ignored", "*.log"): (2, 0, ["docs/repo/x.log", "docs/repo/y.log"]),
        ("secret", ".env"): (1, 0, ["docs/.env"]),
        ("secret", ""): (1, 0, ["docs/login.md"]),
        ("too_large", ""): (1, 0, ["docs/big.log"]),
        ("binary", ""): (5, 0, [f"docs/{number}.png" for number in range(5)]),
        ("not_a_file", ""): (1, 0, ["docs/gone"]),
        ("empty", ""): (1, 0, ["docs/blank.txt"]),
    }
    assert token not in json.dumps(found)
    shown = docmill("index", priced(tmp_path, server), "--dry-run", cwd=tmp_path).stdout
    assert f"2 files  *.log in {docs}/repo/.docmillignore:2: docs/repo/x.log, docs/repo/y.log" in shown
    assert "5 files  PNG" in shown
    assert "docs/0.png, docs/1.png, docs/2.png, …" in shown
    assert "a broken symbolic link" in shown
