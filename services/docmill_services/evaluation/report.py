"""The report of an evaluation: what is printed as JSON, and what people are told beside the figures."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from docmill.retrieval.effectiveness import relevant_documents
from docmill_services.evaluation.collection_ids import NotFound
from docmill_services.evaluation.evaluating import Measured
from docmill_services.evaluation.judgements import Judgements

_SHOWN: Final = 5
_DECIMALS: Final = 4
#: An empty file is indexed rightly, though nothing can find it.
_HARMLESS_STATES: Final = ("empty",)


def report_of(
    knowledge_base: str,
    judgements: Judgements,
    not_found: Sequence[NotFound],
    strategies: Mapping[str, Measured],
    fused: Measured,
    reranked: Measured | None,
    depth: int,
    notes: Sequence[str],
) -> dict[str, Any]:
    """What ``docmill eval --json`` prints."""
    return {
        "knowledge_base": knowledge_base,
        "queries": len(judgements.queries),
        "relevant": sum(len(relevant_documents(grades)) for grades in judgements.grades.values()),
        "depth": depth,
        "strategies": {name: _row(measured) for name, measured in strategies.items()},
        "fused": _row(fused),
        "reranked": None if reranked is None else _row(reranked),
        "not_found": [
            {"id": one.id, "state": one.state or ("ambiguous" if one.documents else "unknown"), "documents": list(one.documents)}
            for one in not_found
        ],
        "unjudged_queries": list(judgements.unjudged),
        "unknown_queries": list(judgements.unknown),
        "notes": list(notes),
    }


def notes_of(
    judgements: Judgements,
    not_found: Sequence[NotFound],
    judged: int,
    measured: Mapping[str, Measured],
    depth: int,
    limits: Mapping[str, int],
) -> list[str]:
    """What people must know to read the figures rightly, a line each.

    Args:
        judgements: what was asked.
        not_found: judged documents that no search can find.
        judged: how many documents were judged.
        measured: every way to ask, by its name.
        depth: how many documents of each ranking count.
        limits: how many chunks each strategy gives, by its name.
    """
    return [
        *_about_queries(judgements),
        *_about_documents(not_found, judged),
        *(note for name, one in measured.items() for note in _about_way(name, one, len(judgements.queries))),
        *(
            f"{name}: its `limit` is {limit}: what it would find after that counts as not found"
            for name, limit in limits.items()
            if limit < depth
        ),
        *_about_pending(measured),
    ]


def is_clean(not_found: Sequence[NotFound], measured: Mapping[str, Measured]) -> bool:
    """Whether the figures are those of an index that has all judged documents, and of searches that were answered whole."""
    lacks = any(one.state not in _HARMLESS_STATES for one in not_found)
    return not lacks and not any(one.degraded or one.pending for one in measured.values())


def _row(measured: Measured) -> dict[str, Any]:
    return {
        **{name: round(value, _DECIMALS) for name, value in measured.measures.items()},
        "queries_without_results": measured.without_results,
        "degraded": [
            {"strategy": strategy, "reason": reason, "queries": count} for (strategy, reason), count in sorted(measured.degraded.items())
        ],
    }


def _about_queries(judgements: Judgements) -> Iterator[str]:
    if judgements.unjudged:
        yield f"{_some(judgements.unjudged, 'query has', 'queries have')} no relevant document: left out"
    if judgements.unknown:
        yield f"{_some(judgements.unknown, 'judged query is', 'judged queries are')} not in the file of queries: left out"


def _about_documents(not_found: Sequence[NotFound], judged: int) -> Iterator[str]:
    unknown = [one.id for one in not_found if one.state is None and not one.documents]
    if unknown:
        yield f"{_some(unknown, f'of {judged:,} judged documents is', f'of {judged:,} judged documents are')} not in the index"
    unsure = [one for one in not_found if one.documents]
    if unsure:
        which = " and ".join(unsure[0].documents[:2])
        yield f"{_some([one.id for one in unsure], 'judged id fits', 'judged ids fit')} several documents, so none ({which})"
    for state in sorted({one.state for one in not_found if one.state is not None}):
        yield f"{_some([one.id for one in not_found if one.state == state], 'judged document is', 'judged documents are')} {state}"


def _about_way(name: str, measured: Measured, queries: int) -> Iterator[str]:
    for (strategy, reason), count in sorted(measured.degraded.items()):
        yield f"{name}: {count} of {queries} queries without {strategy}: {reason}"
    if measured.without_results:
        yield f"{name}: {measured.without_results} of {queries} queries found nothing"


def _about_pending(measured: Mapping[str, Measured]) -> Iterator[str]:
    pending = max((one.pending for one in measured.values()), default=0)
    if pending:
        yield f"{pending} documents wait or are in work: the figures may change"


def _some(ids: Sequence[str], one: str, many: str) -> str:
    shown = ", ".join(ids[:_SHOWN]) + (f" and {len(ids) - _SHOWN:,} more" if len(ids) > _SHOWN else "")
    return f"{shown}: {len(ids):,} {one if len(ids) == 1 else many}"
