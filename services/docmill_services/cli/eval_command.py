"""``docmill eval``: how well searches find what people judged relevant."""

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from docmill.domain.errors import ExitCode
from docmill.domain.knowledge_bases import KnowledgeBase
from docmill.retrieval.validate import MAX_LIMIT
from docmill_services.cli.api import Api, open_api
from docmill_services.cli.finding import configuration_of, knowledge_base_meant, origin_to_ask
from docmill_services.cli.options import DEFAULT_DATA_DIR, AsJson, Config, DataDir, KnowledgeBaseName, named_path
from docmill_services.cli.output import out, print_json, say
from docmill_services.evaluation.collection_ids import match_ids
from docmill_services.evaluation.evaluating import CUTOFF, DEFAULT_DEPTH, Way, evaluate, measure_names
from docmill_services.evaluation.judgements import Judgements, read_judgements
from docmill_services.evaluation.report import is_clean, notes_of, report_of

_PAGE: Final = 1000
_PROGRESS_SECONDS: Final = 5.0
_FUSED: Final = "fused"
_RERANKED: Final = "reranked"


def evaluate_searches(
    queries: Annotated[
        Path,
        typer.Argument(parser=named_path, metavar="QUERIES", help="A file of queries, or a folder with queries.jsonl and qrels.tsv."),
    ],
    qrels: Annotated[
        Path | None,
        typer.Argument(parser=named_path, metavar="QRELS", help="The judgements; else qrels.tsv beside the queries.", show_default=False),
    ] = None,
    kb: KnowledgeBaseName = None,
    depth: Annotated[int, typer.Option(min=CUTOFF, max=MAX_LIMIT, help="How many documents of each ranking count.")] = DEFAULT_DEPTH,
    config: Config = None,
    data_dir: DataDir = DEFAULT_DATA_DIR,
    as_json: AsJson = False,
) -> int:
    """Measure how well searches find what was judged relevant: by each strategy alone, fused, and reranked where that is configured.

    Queries are lines of JSON with an id and a text; judgements are lines of query id, document id and grade, with tabs between them. A
    document id is a document's path, or its file's name, with or without the ending. It asks a running docmill, else the servers that the
    environment names, else opens the data folder.
    """
    judgements = read_judgements(queries, qrels)
    origin = origin_to_ask(config, data_dir)
    knowledge_base = knowledge_base_meant(configuration_of(origin), kb)
    with open_api(origin, data_dir) as api:
        report, clean = _evaluated(api, knowledge_base, judgements, depth)
    if as_json:
        print_json(report)
    else:
        _show(report)
    for note in report["notes"]:
        say(note)
    return ExitCode.OK if clean else ExitCode.FINDINGS


def _evaluated(api: Api, knowledge_base: KnowledgeBase, judgements: Judgements, depth: int) -> tuple[dict[str, Any], bool]:
    """The report, and whether nothing stands in the way of its figures."""
    name = knowledge_base.name
    judged = dict.fromkeys(document for grades in judgements.grades.values() for document in grades)
    ids = match_ids(judged, _documents_of(api, name))
    grades = {query: {ids.key_of(one): grade for one, grade in found.items()} for query, found in judgements.grades.items()}
    ways = [Way(spec.name, (spec.name,)) for spec in knowledge_base.strategies] + [Way(_FUSED)]
    if knowledge_base.results.reranking:
        ways.append(Way(_RERANKED, rerank=True))

    def search(body: Mapping[str, Any]) -> Mapping[str, Any]:
        found: Mapping[str, Any] = api.post(f"/v1/knowledge-bases/{name}/search", body)
        return found

    progress = _Progress(len(judgements.queries))
    results = evaluate(search, judgements.queries, grades, ways, depth=depth, on_query=progress.show)
    strategies = {spec.name: result for spec, result in zip(knowledge_base.strategies, results, strict=False)}
    measured = {way.name if way.strategies is None else way.strategies[0]: result for way, result in zip(ways, results, strict=True)}
    limits = {spec.name: spec.limit for spec in knowledge_base.strategies}
    notes = notes_of(judgements, ids.not_found, len(judged), measured, depth, limits)
    fused, reranked = results[len(strategies)], results[-1] if len(results) > len(strategies) + 1 else None
    report = report_of(name, judgements, ids.not_found, strategies, fused, reranked, depth, notes)
    return report, is_clean(ids.not_found, measured)


def _documents_of(api: Api, name: str) -> Iterator[tuple[str, str]]:
    """The id and the state of every document that the index knows."""
    cursor: str | None = None
    while True:
        page = api.get(f"/v1/knowledge-bases/{name}/documents", limit=_PAGE, cursor=cursor)
        yield from ((one["document_id"], one["state"]) for one in page["documents"])
        cursor = page["next"]
        if cursor is None:
            return


class _Progress:
    """Says now and then how many queries are done."""

    def __init__(self, queries: int) -> None:
        self._queries = queries
        self._said_at = time.monotonic()

    def show(self, done: int) -> None:
        """``done`` of the queries were asked."""
        now = time.monotonic()
        if now - self._said_at >= _PROGRESS_SECONDS and done < self._queries:
            self._said_at = now
            say(f"{done} of {self._queries} queries asked")


def _show(report: Mapping[str, Any]) -> None:
    asked = f"{report['queries']:,} {'query' if report['queries'] == 1 else 'queries'}"
    out.print(f"{report['knowledge_base']}: {asked}, {report['relevant']:,} relevant", markup=False)
    for line in _lines(report):
        out.print(line, markup=False)


def _lines(report: Mapping[str, Any]) -> Iterator[str]:
    """A head, and a line for each way to ask."""
    names = measure_names(report["depth"])
    rows = {**report["strategies"], _FUSED: report["fused"], _RERANKED: report["reranked"]}
    width = max(map(len, rows))
    yield "  ".join(["".ljust(width), *names])
    for way, row in rows.items():
        if row is not None:
            yield "  ".join([way.ljust(width), *(f"{row[name]:.4f}".rjust(len(name)) for name in names)])
