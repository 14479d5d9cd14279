"""Packing: which hits become passages; pure."""

from collections.abc import Sequence
from typing import Final

from docmill.domain.answering import Passage
from docmill.domain.knowledge_bases import StrategyKind
from docmill.domain.searching import Hit

_CUT: Final = " …"
#: A passage that would be cut to less than this says too little.
_SHORTEST_CUT: Final = 200


def pack(hits: Sequence[Hit], *, most: int, budget_characters: int) -> list[Passage]:
    """The first hits as passages, best first, at most ``most``, with texts of at most ``budget_characters`` together.

    One that does not fit is passed over for a shorter one after it. Only the best hit is cut, when it alone is over the budget. A text that
    a passage before it has whole is left out: it would be paid for twice.
    """
    passages: list[Passage] = []
    room = budget_characters
    for hit in hits:
        text = hit.record.text.strip()
        if not text or any(text in passage.text for passage in passages):
            continue
        if len(text) > room:
            if passages or room < _SHORTEST_CUT:
                continue
            text = _cut(text, room)
        passages.append(Passage(len(passages) + 1, hit, text))
        room -= len(text)
        if len(passages) == most:
            break
    return passages


def above_floor(hits: Sequence[Hit], floor: float | None, kinds: dict[str, StrategyKind], *, reranked: bool) -> list[Hit]:
    """The hits that are relevant enough to answer from; none of them when not even one reaches ``floor``.

    What reaches the floor is the score of the reranking model; where none has scored any, the similarity that a strategy with vectors
    found, and in a knowledge base without such a strategy the BM25 score. Scores of the fusion say nothing about relevance: they come from
    ranks. A hit without a score on this scale, which the model has not read, or which words alone have found beside vectors, stays when
    another hit reaches the floor.

    Args:
        hits: best first.
        floor: None lets all pass.
        kinds: of the strategies, by name.
        reranked: a model has scored hits, if only to leave them out.
    """
    if floor is None:
        return list(hits)
    has_vectors = any(kind is not StrategyKind.BM25 for kind in kinds.values())
    scores = [hit.rerank_score if reranked else _score(hit, kinds, has_vectors=has_vectors) for hit in hits]
    if not any(score is not None and score >= floor for score in scores):
        return []
    return [hit for hit, score in zip(hits, scores, strict=True) if score is None or score >= floor]


def _score(hit: Hit, kinds: dict[str, StrategyKind], *, has_vectors: bool) -> float | None:
    own = [
        trace.score
        for name, trace in hit.strategies.items()
        if not has_vectors or kinds.get(name, StrategyKind.BM25) is not StrategyKind.BM25
    ]
    return max(own, default=None)


def _cut(text: str, length: int) -> str:
    """The beginning of ``text``, up to a white space where there is one in its second half."""
    head = text[: length - len(_CUT)]
    space = max(head.rfind(" "), head.rfind("\n"))
    return (head[:space] if space > len(head) // 2 else head).rstrip() + _CUT
