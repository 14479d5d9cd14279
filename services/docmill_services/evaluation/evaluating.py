"""Evaluating: asks every judged query in several ways, and measures what each way found."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum
from typing import Any, Final

from docmill.retrieval.effectiveness import average_precision, fold, ndcg, recall, reciprocal_rank
from docmill.retrieval.validate import MAX_LIMIT

#: How many documents nDCG and MRR look at, and recall beside that of the whole depth.
CUTOFF: Final = 10
DEFAULT_DEPTH: Final = 100

#: Answers the body of a search as ``POST /v1/knowledge-bases/{kb}/search`` does.
Search = Callable[[Mapping[str, Any]], Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Way:
    """One way to ask: with these strategies (None is all), with or without reranking."""

    name: str
    strategies: tuple[str, ...] | None = None
    rerank: bool = False


@dataclass(slots=True)
class Measured:
    """What one way came to.

    Attributes:
        measures: the mean over all queries of each measure, by its name.
        without_results: how many queries found nothing.
        degraded: by strategy (or reranking) and reason, how many queries it did not answer.
        pending: documents that waited or were in work at the last query.
    """

    measures: dict[str, float] = field(default_factory=dict)
    without_results: int = 0
    degraded: Counter[tuple[str, str]] = field(default_factory=Counter)
    pending: int = 0


def measure_names(depth: int) -> tuple[str, ...]:
    """The names of the measures, in the order in which they are shown."""
    return tuple(_measures_of((), {"": 1}, depth))


def evaluate(
    search: Search,
    queries: Mapping[str, str],
    grades: Mapping[str, Mapping[str, int]],
    ways: Sequence[Way],
    *,
    depth: int = DEFAULT_DEPTH,
    on_query: Callable[[int], None] = lambda _: None,
) -> list[Measured]:
    """Asks each query in each of ``ways``, and measures what was found, in the order of ``ways``.

    Args:
        search: answers; what it raises is passed on.
        queries: the text of each, by its id.
        grades: by query, the grade of each judged document by its document id; at least one is above 0.
        ways: how to ask.
        depth: how many documents of each ranking count.
        on_query: is told how many queries are done.
    """
    results = [Measured() for _ in ways]
    scores: list[list[Mapping[str, float]]] = [[] for _ in ways]
    rankings = [_Rankings(search, way, depth) for way in ways]
    # All ways of one query come together, so that its vector is made once.
    for done, (query_id, text) in enumerate(queries.items(), start=1):
        for result, way_scores, ranking in zip(results, scores, rankings, strict=True):
            documents, reply = ranking.of(text)
            _count(result, documents, reply)
            way_scores.append(_measures_of(documents, grades[query_id], depth))
        on_query(done)
    for result, way_scores in zip(results, scores, strict=True):
        result.measures = {name: fsum(one[name] for one in way_scores) / len(way_scores) for name in measure_names(depth)}
    return results


class _Rankings:
    """The documents that one way finds. A search gives chunks: it is asked for more of them while they are of too few documents."""

    def __init__(self, search: Search, way: Way, depth: int) -> None:
        self._search = search
        self.way = way
        self._depth = depth
        self._limit = min(MAX_LIMIT, depth)

    def of(self, query: str) -> tuple[list[str], Mapping[str, Any]]:
        """At most ``depth`` documents, best first, and the answer that they are from."""
        while True:
            body: dict[str, Any] = {"query": query, "limit": self._limit, "rerank": self.way.rerank, "return_full_content": False}
            if self.way.strategies is not None:
                body["strategies"] = list(self.way.strategies)
            reply = self._search(body)
            found = [result["document_id"] for result in reply["results"]]
            documents = fold(found)
            if len(documents) >= self._depth or len(found) < self._limit or self._limit == MAX_LIMIT:
                return documents[: self._depth], reply
            self._limit = min(MAX_LIMIT, 2 * self._limit)


def _count(result: Measured, documents: Sequence[str], reply: Mapping[str, Any]) -> None:
    result.without_results += not documents
    result.degraded.update((one["strategy"], one["reason"]) for one in reply["degraded"])
    result.pending = reply["freshness"]["pending"]


def _measures_of(ranking: Sequence[str], grades: Mapping[str, int], depth: int) -> dict[str, float]:
    return {
        f"nDCG@{CUTOFF}": ndcg(ranking, grades, CUTOFF),
        f"MAP@{depth}": average_precision(ranking, grades, depth),
        f"MRR@{CUTOFF}": reciprocal_rank(ranking, grades, CUTOFF),
        f"recall@{CUTOFF}": recall(ranking, grades, CUTOFF),
        f"recall@{depth}": recall(ranking, grades, depth),
    }
