"""``docmill eval`` beside a service: what it measures, what it says, and its exit codes."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from docmill.domain.errors import ExitCode, ServiceDown, UsageError
from docmill.domain.searching import Hit
from docmill.retrieval.rerank import Reranked
from docmill_services.cli.eval_command import evaluate_searches
from support.http_service import Service, SystemClock
from support.running_docmill import write_configuration

QUERIES = {"1": "apple pie", "2": "plum cake"}


@pytest.fixture
def collection(tmp_path: Path) -> Path:
    """Queries and judgements, and beside them the configuration of the service's knowledge base."""
    write_configuration(tmp_path / "docmill.yaml", tmp_path, name="library")
    folder = tmp_path / "collection"
    folder.mkdir()
    (folder / "queries.jsonl").write_text(
        "".join(json.dumps({"id": query, "text": text}) + "\n" for query, text in QUERIES.items()), encoding="utf-8"
    )
    (folder / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\n1\tapples\t1\n2\tplums\t1\n", encoding="utf-8")
    return folder


def evaluated(collection: Path, data_dir: Path, **options: Any) -> int:
    return evaluate_searches(collection, config=collection.parent / "docmill.yaml", data_dir=data_dir, **options)


def test_it_measures_each_strategy_and_the_fusion_of_all(
    service: Service, beside_the_service: Path, collection: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    service.library.put("docs/apples.md", "apple pie")
    service.library.put("docs/plums.md", "plum cake")
    assert evaluated(collection, beside_the_service, as_json=True) == ExitCode.OK
    report = json.loads(capsys.readouterr().out)
    assert report["strategies"].keys() == {"bm25", "chunked-embeddings"}
    assert report["fused"]["nDCG@10"] == report["strategies"]["bm25"]["MAP@100"] == 1.0
    assert (report["queries"], report["relevant"], report["reranked"], report["not_found"]) == (2, 2, None, [])


def test_it_prints_a_line_for_each_way_to_ask(
    service: Service, beside_the_service: Path, collection: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    service.library.put("docs/apples.md", "apple pie")
    service.library.put("docs/plums.md", "plum cake")
    assert evaluated(collection, beside_the_service, depth=50) == ExitCode.OK
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "library: 2 queries, 2 relevant"
    assert lines[1].split() == ["nDCG@10", "MAP@50", "MRR@10", "recall@10", "recall@50"]
    assert [line.split()[0] for line in lines[2:]] == ["chunked-embeddings", "bm25", "fused"]


def test_what_is_not_in_the_index_is_said_and_is_a_finding(
    service: Service, beside_the_service: Path, collection: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    service.library.put("docs/apples.md", "apple pie")
    assert evaluated(collection, beside_the_service, as_json=True) == ExitCode.FINDINGS
    said = capsys.readouterr()
    assert json.loads(said.out)["not_found"] == [{"id": "plums", "state": "unknown", "documents": []}]
    assert "plums: 1 of 2 judged documents is not in the index" in said.err


def test_more_documents_than_one_page_are_looked_through(service: Service, beside_the_service: Path, collection: Path) -> None:
    for number in range(1_001):
        service.library.put(f"a{number}.md", "filler")
    service.library.put("docs/apples.md", "apple pie")
    service.library.put("docs/plums.md", "plum cake")
    assert evaluated(collection, beside_the_service) == ExitCode.OK


def test_bad_files_are_refused_before_anything_is_asked(tmp_path: Path, collection: Path) -> None:
    (collection / "queries.jsonl").write_text("nonsense\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"queries\.jsonl:1: this is no JSON"):
        evaluated(collection, tmp_path / "nowhere")


def test_an_unknown_knowledge_base_is_refused(beside_the_service: Path, collection: Path) -> None:
    with pytest.raises(UsageError, match="no knowledge base is called 'other'"):
        evaluated(collection, beside_the_service, kb="other")


def test_without_an_index_it_says_what_to_do(tmp_path: Path, collection: Path) -> None:
    with pytest.raises(ServiceDown, match=r"nothing was indexed into .* yet"):
        evaluated(collection, tmp_path / "nowhere")


class Reversing:
    """A stage of reranking that takes the last for the best."""

    name = "reversing"

    def rerank(self, query: str, hits: Sequence[Hit]) -> Reranked:
        return Reranked(hits[::-1], by_model=True)


def test_reranking_is_measured_where_it_is_configured(
    service: Service, beside_the_service: Path, collection: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    more = "results: {reranking: {model: openai/gpt-4o-mini}}"
    write_configuration(collection.parent / "docmill.yaml", collection.parent, name="library", more=more)
    service.library.put("docs/apples.md", "apple pie")
    service.library.put("docs/plums.md", "plum cake")
    service.backend.searcher = service.library.searcher(SystemClock(), reranking=[Reversing()])
    assert evaluated(collection, beside_the_service, as_json=True) == ExitCode.OK
    report = json.loads(capsys.readouterr().out)
    assert (report["fused"]["MRR@10"], report["reranked"]["MRR@10"]) == (1.0, 0.5)
    evaluated(collection, beside_the_service)
    assert capsys.readouterr().out.splitlines()[-1].split()[0] == "reranked"
