"""Scores out of the answer of a ``/rerank`` endpoint; nothing in it is taken on trust."""

import math
from collections.abc import Sequence


def scores_of_answer(answer: object, *, count: int) -> list[float | None]:
    """The scores of ``count`` passages, each placed by its ``index``, on the server's own scale; None for what the server left out.

    An item is passed over when its index is not that of a passage that was sent, or its score is not a finite number; of an index that
    comes twice, the first item counts.

    Args:
        answer: the JSON, ``{"results": [{"index": int, "relevance_score": float}, ...]}``; ``data`` instead of ``results`` from Voyage.
        count: how many passages were sent.

    Raises:
        ValueError: the answer is of another form, or has items of which none can be used.
    """
    items = answer.get("results", answer.get("data")) if isinstance(answer, dict) else None
    if not isinstance(items, list):
        raise ValueError("it has no list of results")
    scores: list[float | None] = [None] * count
    for item in items:
        index, score = (item.get("index"), _number(item.get("relevance_score"))) if isinstance(item, dict) else (None, None)
        if isinstance(index, int) and not isinstance(index, bool) and 0 <= index < count and scores[index] is None:
            scores[index] = score
    if items and all(score is None for score in scores):
        raise ValueError("none of its results has the index of a passage and a number as its relevance_score")
    return scores


def are_logits(scores: Sequence[float | None]) -> bool:
    """Whether ``scores`` cannot be what they should be, numbers in 0..1: then they are a model's logits, as llama.cpp hands them out."""
    return any(score is not None and not 0.0 <= score <= 1.0 for score in scores)


def sigmoid(logit: float) -> float:
    """The probability whose log odds are ``logit``; exact at both ends."""
    if logit >= 0:
        return 1.0 / (1.0 + math.exp(-logit))
    odds = math.exp(logit)
    return odds / (1.0 + odds)


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None
