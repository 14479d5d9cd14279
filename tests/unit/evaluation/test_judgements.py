"""Queries and judgements as files have them, and what is said about files that are not so."""

import json
from pathlib import Path

import pytest

from docmill.domain.errors import UsageError
from docmill_services.evaluation.judgements import Judgements, read_judgements

QUERIES = '{"id": "1", "text": "apples"}\n{"id": 2, "text": "pears", "answers": ["x"]}\n'
QRELS = "query-id\tcorpus-id\tscore\n1\ta\t1\n2\tb\t0\n2\tc\t3\n"


def read(folder: Path, queries: str | bytes = QUERIES, qrels: str | bytes = QRELS) -> Judgements:
    for name, content in (("queries.jsonl", queries), ("qrels.tsv", qrels)):
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    return read_judgements(folder, None)


def problems(folder: Path, queries: str | bytes = QUERIES, qrels: str | bytes = QRELS) -> list[str]:
    with pytest.raises(UsageError) as raised:
        read(folder, queries, qrels)
    return str(raised.value).replace(f"{folder}/", "").splitlines()


def test_a_folder_has_queries_and_judgements(tmp_path: Path) -> None:
    found = read(tmp_path)
    assert found == Judgements({"1": "apples", "2": "pears"}, {"1": {"a": 1}, "2": {"b": 0, "c": 3}}, (), ())


def test_the_files_may_be_named_and_lie_anywhere(tmp_path: Path) -> None:
    (tmp_path / "asked").write_text(QUERIES, encoding="utf-8")
    (tmp_path / "judged").write_text(QRELS, encoding="utf-8")
    assert read_judgements(tmp_path / "asked", tmp_path / "judged").queries == {"1": "apples", "2": "pears"}


def test_judgements_lie_beside_a_named_file_of_queries(tmp_path: Path) -> None:
    (tmp_path / "asked").write_text(QUERIES, encoding="utf-8")
    (tmp_path / "qrels.tsv").write_text(QRELS, encoding="utf-8")
    assert len(read_judgements(tmp_path / "asked", None).queries) == 2


@pytest.mark.parametrize(
    ("queries", "qrels"),
    [
        ("\ufeff" + QUERIES, "\ufeff" + QRELS),
        (QUERIES.replace("\n", "\r\n"), QRELS.replace("\n", "\r\n")),
        (QUERIES.replace("\n", "\n\n"), "\n" + QRELS.removeprefix("query-id\tcorpus-id\tscore\n")),
        (QUERIES.rstrip("\n"), QRELS.rstrip("\n")),
        (QUERIES.replace('"id"', '"_id"'), QRELS.replace("query-id\tcorpus-id\tscore", "q\td\trelevance")),
        (QUERIES, QRELS + "1\ta\t1\n"),
    ],
    ids=["byte order mark", "carriage returns", "blank lines, no head", "no last newline", "_id, another head", "judged twice alike"],
)
def test_small_differences_of_form_do_not_matter(tmp_path: Path, queries: str, qrels: str) -> None:
    assert read(tmp_path, queries, qrels).grades == {"1": {"a": 1}, "2": {"b": 0, "c": 3}}


def test_lines_end_at_newlines_alone(tmp_path: Path) -> None:
    text = json.dumps({"id": "1", "text": "one\u2028two\x85three"}, ensure_ascii=False)
    assert read(tmp_path, text, "1\ta\t1\n").queries == {"1": "one\u2028two\x85three"}


def test_queries_without_a_relevant_document_are_set_apart(tmp_path: Path) -> None:
    found = read(tmp_path, QUERIES + '{"id": "3", "text": "plums"}\n', "1\ta\t1\n2\tb\t0\n9\tb\t1\n")
    assert (list(found.queries), found.unjudged, found.unknown) == (["1"], ("2", "3"), ("9",))


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", "this is no JSON"),
        ("[1]", "it needs a JSON object"),
        ('{"text": "x"}', 'it needs an "id"'),
        ('{"id": true, "text": "x"}', 'it needs an "id"'),
        ('{"id": "", "text": "x"}', 'it needs an "id"'),
        ('{"id": "7"}', 'it needs a "text"'),
        ('{"id": "7", "text": 5}', 'it needs a "text"'),
        ('{"id": "7", "text": " "}', "the query is empty"),
        ('{"id": "7", "text": "x\\ud800"}', "lone surrogate"),
        ('{"id": "7", "text": "' + "x" * 40_000 + '"}', "40000 characters"),
        ('{"id": "1", "text": "x"}', "'1' was there before"),
        ("[" * 100_000, "this is no JSON"),
    ],
)
def test_a_wrong_query_is_named_with_its_line(tmp_path: Path, line: str, problem: str) -> None:
    (only,) = problems(tmp_path, QUERIES + line + "\n")
    assert only.startswith("queries.jsonl:3: ")
    assert problem in only


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("1 a 1", "it has 1 columns"),
        ("1\t0\ta\t1", "it has 4 columns"),
        ("1\ta\tyes", "the grade must be a whole number, not 'yes'"),
        ("1\ta\t1.5", "the grade must be a whole number"),
        ("\ta\t1", "the query id is empty"),
        ("1\t\t1", "the document id is empty"),
        ("1\ta\t2", "'a' has the grade 2 for the query '1' here and 1 before"),
    ],
)
def test_a_wrong_judgement_is_named_with_its_line(tmp_path: Path, line: str, problem: str) -> None:
    (only,) = problems(tmp_path, qrels=QRELS + line + "\n")
    assert only.startswith("qrels.tsv:5: ")
    assert problem in only


def test_a_line_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    assert problems(tmp_path, QUERIES.encode() + b"\xff\n") == ["queries.jsonl:3: it is not UTF-8"]


def test_all_problems_are_said_at_once_but_not_thousands(tmp_path: Path) -> None:
    said = problems(tmp_path, "x\n" * 3 + QUERIES, QRELS + "y\n" * 100)
    assert [said[0][:17], said[3][:12], said[-1]] == ["queries.jsonl:1: ", "qrels.tsv:5:", "and 83 more"]


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    (tmp_path / "queries.jsonl").write_text(QUERIES, encoding="utf-8")
    with pytest.raises(UsageError, match=r"qrels\.tsv: there is no such file"):
        read_judgements(tmp_path, None)
    with pytest.raises(UsageError, match=r"nowhere: there is no such file"):
        read_judgements(tmp_path / "nowhere", tmp_path / "queries.jsonl")


def test_a_folder_in_the_place_of_a_file_is_said(tmp_path: Path) -> None:
    (tmp_path / "queries.jsonl").write_text(QUERIES, encoding="utf-8")
    with pytest.raises(UsageError, match="it is a folder"):
        read_judgements(tmp_path, tmp_path)


def test_a_collection_in_which_nothing_is_relevant_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no query of .*has a relevant document"):
        read(tmp_path, qrels="1\ta\t0\n")
