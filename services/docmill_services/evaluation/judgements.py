"""Judgements: queries, and which documents people found relevant to each, read from a collection's files.

``queries.jsonl`` has one JSON object a line with ``id`` (or ``_id``) and ``text``; other keys are ignored. ``qrels.tsv`` has a query id, a
document id and a grade in each line, with tabs between them; a grade above 0 is relevant, and the first line may be a head.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from docmill.domain.errors import QueryInvalid, UsageError
from docmill.retrieval.effectiveness import relevant_documents
from docmill.retrieval.validate import check_query

QUERIES_FILE: Final = "queries.jsonl"
JUDGEMENTS_FILE: Final = "qrels.tsv"
_MOST_PROBLEMS: Final = 20
_COLUMNS: Final = 3


@dataclass(frozen=True, slots=True)
class Judgements:
    """What is asked, and what should be found.

    Attributes:
        queries: the text of each query that has a relevant document, by its id, in the file's order.
        grades: of those queries, the grade of each judged document by its id in the collection.
        unjudged: ids of queries for which no document is relevant; nothing can be said about them.
        unknown: ids of judged queries that the file of queries does not have.
    """

    queries: Mapping[str, str]
    grades: Mapping[str, Mapping[str, int]]
    unjudged: tuple[str, ...]
    unknown: tuple[str, ...]


def read_judgements(queries: Path, judgements: Path | None) -> Judgements:
    """Reads a collection.

    Args:
        queries: the file of queries, or the folder that has both files by their usual names.
        judgements: the other file; None is the one beside the queries.

    Raises:
        UsageError: a file cannot be read or is not what it should be, with ``file:line: ...`` for each problem; or no query of the one
            is judged in the other.
    """
    queries_file = queries / QUERIES_FILE if queries.is_dir() else queries
    judgements_file = queries_file.with_name(JUDGEMENTS_FILE) if judgements is None else judgements
    problems: list[str] = []
    texts = _queries_of(queries_file, problems)
    grades = _grades_of(judgements_file, problems)
    if problems:
        more = [f"and {len(problems) - _MOST_PROBLEMS} more"] if len(problems) > _MOST_PROBLEMS else []
        raise UsageError("\n".join([*problems[:_MOST_PROBLEMS], *more]))
    judged = {query: grades[query] for query in texts if relevant_documents(grades.get(query, {}))}
    if not judged:
        raise UsageError(f"no query of {queries_file} has a relevant document (a grade above 0) in {judgements_file}")
    return Judgements(
        queries={query: texts[query] for query in judged},
        grades=judged,
        unjudged=tuple(query for query in texts if query not in judged),
        unknown=tuple(query for query in grades if query not in texts),
    )


def _queries_of(file: Path, problems: list[str]) -> dict[str, str]:
    texts: dict[str, str] = {}
    for place, line in _lines_of(file, problems):
        try:
            query, text = _query_in(line)
            if query in texts:
                raise ValueError(f"the query {query!r} was there before")
            check_query(text)
        except (ValueError, QueryInvalid) as error:
            problems.append(f"{place}: {error}")
        else:
            texts[query] = text
    return texts


def _query_in(line: str) -> tuple[str, str]:
    """The id and the text; raises ``ValueError``."""
    try:
        found: Any = json.loads(line)
    except (json.JSONDecodeError, RecursionError) as error:
        said = error.msg if isinstance(error, json.JSONDecodeError) else "it is nested too deeply"
        raise ValueError(f"this is no JSON: {said}") from error
    if not isinstance(found, dict):
        raise ValueError('it needs a JSON object such as {"id": "1", "text": "what to look for"}')
    query, text = found.get("id", found.get("_id")), found.get("text")
    if type(query) not in (str, int) or not str(query):
        raise ValueError('it needs an "id", a text or a whole number')
    if not isinstance(text, str):
        raise ValueError('it needs a "text", the query')
    return str(query), text


def _grades_of(file: Path, problems: list[str]) -> dict[str, dict[str, int]]:
    grades: dict[str, dict[str, int]] = {}
    is_first = True
    for place, line in _lines_of(file, problems):
        columns = [column.strip() for column in line.split("\t")]
        may_be_head, is_first = is_first, False
        try:
            query, document, grade = _judgement_in(columns)
        except ValueError as error:
            if not (may_be_head and len(columns) == _COLUMNS and columns[-1].isidentifier()):
                problems.append(f"{place}: {error}")
            continue
        known = grades.setdefault(query, {}).setdefault(document, grade)
        if known != grade:
            problems.append(f"{place}: {document!r} has the grade {grade} for the query {query!r} here and {known} before")
    return grades


def _judgement_in(columns: list[str]) -> tuple[str, str, int]:
    """Query, document and grade; raises ``ValueError``."""
    if len(columns) != _COLUMNS:
        raise ValueError(f"it has {len(columns)} columns; a query id, a document id and a grade are needed, with tabs between them")
    query, document, grade = columns
    if not query or not document:
        raise ValueError(f"the {'document' if query else 'query'} id is empty")
    try:
        return query, document, int(grade)
    except ValueError:
        raise ValueError(f"the grade must be a whole number, not {grade[:40]!r}") from None


def _lines_of(file: Path, problems: list[str]) -> Iterator[tuple[str, str]]:
    """The lines that are not blank, each with its place; a file that cannot be read is a problem."""
    if not file.is_file():
        what = "it is a folder; name the file" if file.is_dir() else "there is no such file"
        problems.append(f"{file}: {what if not file.exists() or file.is_dir() else 'it is no regular file'}")
        return
    try:
        content = file.read_bytes()
    except OSError as error:
        problems.append(f"{file}: it cannot be read ({error.strerror or error})")
        return
    for number, raw in enumerate(content.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        try:
            line = raw.decode("utf-8").rstrip("\r")
        except UnicodeDecodeError:
            problems.append(f"{file}:{number}: it is not UTF-8")
            continue
        if line.strip():
            yield f"{file}:{number}", line
