"""Effectiveness: how good one ranking of documents is, by judgements of what is relevant.

The measures are trec_eval's (``ndcg_cut``, ``map_cut``, ``recip_rank``, ``recall``), over a ranking whose order is given: nothing is sorted
again by score or name. A document that nobody judged counts as not relevant. Grades above 0 are relevant, all others are not.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import fsum, log2


def ndcg(ranking: Sequence[str], grades: Mapping[str, int], cutoff: int) -> float:
    """The normalised discounted cumulated gain of the first ``cutoff`` documents, 0..1.

    The gain of a document is its grade, and the discount of rank ``r`` (from 1) is ``log2(r + 1)``; the sum is divided by that of the
    judged documents in their best order (Järvelin and Kekäläinen, "Cumulated gain-based evaluation of IR techniques", ACM TOIS 20(4),
    2002, with the discount of Burges et al., ICML 2005, that trec_eval has).

    Args:
        ranking: document ids, best first, each once.
        grades: of every judged document, by its id.
        cutoff: how many documents count, at least 1.

    Raises:
        ValueError: no document is relevant, so nothing can be said.
    """
    ideal = sorted((grade for grade in grades.values() if grade > 0), reverse=True)
    _require_relevant(ideal)
    return _discounted(max(0, grades.get(document, 0)) for document in ranking[:cutoff]) / _discounted(ideal[:cutoff])


def average_precision(ranking: Sequence[str], grades: Mapping[str, int], cutoff: int) -> float:
    """The precision at the rank of each relevant document among the first ``cutoff``, summed, over the number of all relevant ones.

    A relevant document that is not found counts as precision 0 (Buckley and Voorhees, "Retrieval system evaluation", in TREC:
    Experiment and Evaluation in Information Retrieval, 2005). The mean over queries is MAP. Arguments and errors as ``ndcg``.
    """
    relevant = relevant_documents(grades)
    _require_relevant(relevant)
    ranks = [rank for rank, document in enumerate(ranking[:cutoff], start=1) if document in relevant]
    return fsum(found / rank for found, rank in enumerate(ranks, start=1)) / len(relevant)


def reciprocal_rank(ranking: Sequence[str], grades: Mapping[str, int], cutoff: int) -> float:
    """1 over the rank of the first relevant document among the first ``cutoff``, 0 when there is none.

    Voorhees, "The TREC-8 question answering track report", 1999; the mean over queries is MRR. Arguments and errors as ``ndcg``.
    """
    relevant = relevant_documents(grades)
    _require_relevant(relevant)
    return next((1.0 / rank for rank, document in enumerate(ranking[:cutoff], start=1) if document in relevant), 0.0)


def recall(ranking: Sequence[str], grades: Mapping[str, int], cutoff: int) -> float:
    """Which part of the relevant documents is among the first ``cutoff``. Arguments and errors as ``ndcg``."""
    relevant = relevant_documents(grades)
    _require_relevant(relevant)
    return len(relevant.intersection(ranking[:cutoff])) / len(relevant)


def relevant_documents(grades: Mapping[str, int]) -> frozenset[str]:
    """The documents with a grade above 0."""
    return frozenset(document for document, grade in grades.items() if grade > 0)


def fold(found: Iterable[str]) -> list[str]:
    """A ranking of documents from one of their chunks: each document stands where its best chunk does.

    Args:
        found: the document id of each chunk, best first.
    """
    return list(dict.fromkeys(found))


def _discounted(gains: Iterable[int]) -> float:
    return fsum(gain / log2(rank + 1) for rank, gain in enumerate(gains, start=1))


def _require_relevant(relevant: Sequence[int] | frozenset[str]) -> None:
    if not relevant:
        raise ValueError("no document is relevant: the measure is not defined")
