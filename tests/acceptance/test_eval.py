"""``docmill eval`` as a user calls it, on a data folder that nothing else holds."""

import json
from pathlib import Path

import pytest

from support.running_docmill import docmill, write_configuration

TEXTS = {
    "wing": "# Wings\n\nThe lift of a wing in a propeller slipstream.\n",
    "heat": "# Slabs\n\nHeat conduction in composite slabs.\n",
    "shell": "# Shells\n\nBuckling of thin shells under pressure.\n",
}
QUERIES = {"1": "lift in a slipstream", "2": "how do slabs conduct heat", "3": "why do shells buckle", "4": "nobody judged this"}
JUDGED = {"1": "wing", "2": "heat", "3": "shell"}


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with documents that are indexed, and queries with judgements."""
    base = tmp_path_factory.mktemp("collection")
    (base / "docs").mkdir()
    for name, text in TEXTS.items():
        (base / "docs" / f"{name}.md").write_text(text, encoding="utf-8")
    write_configuration(base / "docmill.yaml", base / "docs")
    lines = [json.dumps({"id": query, "text": text}) for query, text in QUERIES.items()]
    (base / "queries.jsonl").write_text("\n".join(lines), encoding="utf-8")
    rows = ["query-id\tcorpus-id\tscore", *(f"{query}\t{document}\t1" for query, document in JUDGED.items())]
    (base / "qrels.tsv").write_text("\n".join(rows), encoding="utf-8")
    done = docmill("index", "docmill.yaml", cwd=base)
    assert done.returncode == 0, done.stderr
    return base


def test_a_folder_with_queries_and_judgements_is_measured(collection: Path) -> None:
    done = docmill("eval", ".", cwd=collection)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == "kb: 3 queries, 3 relevant"
    assert "4: 1 query has no relevant document: left out" in done.stderr
    assert "bm25: its `limit` is 20" in done.stderr


def test_figures_come_as_json_too(collection: Path) -> None:
    done = docmill("eval", "queries.jsonl", "qrels.tsv", "--json", cwd=collection)
    report = json.loads(done.stdout)
    assert (report["strategies"]["bm25"]["MRR@10"], report["fused"]["recall@10"]) == (1.0, 1.0)


def test_wrong_files_end_with_2_and_name_their_lines(collection: Path) -> None:
    (collection / "wrong.tsv").write_text("1\twing\t1\n2\theat\n3\tshell\tyes\n", encoding="utf-8")
    done = docmill("eval", "queries.jsonl", "wrong.tsv", cwd=collection)
    assert (done.returncode, done.stdout) == (2, "")
    assert [line.partition(": it")[0].partition(": the")[0] for line in done.stderr.splitlines()] == ["docmill: wrong.tsv:2", "wrong.tsv:3"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nowhere.jsonl",), "nowhere.jsonl: there is no such file"),
        ((), "Missing argument 'QUERIES'"),
        ((".", "--depth", "5"), "--depth"),
        ((".", "--kb", "other"), "no knowledge base is called 'other'"),
    ],
)
def test_a_wrong_call_ends_with_2(collection: Path, arguments: tuple[str, ...], said: str) -> None:
    done = docmill("eval", *arguments, cwd=collection)
    assert done.returncode == 2
    assert said in done.stderr
