"""Fuses the lists of several strategies into one list of hits."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import fsum

from docmill.domain.chunks import ChunkRecord
from docmill.domain.errors import ConfigurationError
from docmill.domain.knowledge_bases import Fusion, FusionKind
from docmill.domain.searching import Candidate, Hit, StrategyTrace

#: What makes two strategies' chunks one hit: the same piece of the same document, however each strategy numbers its chunks.
_Piece = tuple[str, int, int, str]


def fuse(candidates: Iterable[Candidate], fusion: Fusion) -> list[Hit]:
    """One hit per piece of a document, best first; the order of ``candidates`` and of the strategies does not matter.

    Candidates are one hit when document, lines and text are equal. Equal scores are ordered by document id, then by chunk index.
    The score of a hit is

    - ``rrf``: the sum over strategies of ``1 / (k + rank)``, ranks from 1 (Cormack, Clarke and Buettcher, SIGIR 2009);
    - ``weighted``: the sum over strategies of ``weight * (score - min) / (max - min)``, min and max over that strategy's
      candidates; where all of them score the same the fraction is 1;
    - ``max``: the highest of the strategies' own scores, which must be on one scale to be compared.

    A strategy that did not find a piece adds nothing to it.

    Raises:
        ConfigurationError: ``weighted`` without the weight of a strategy.
    """
    by_strategy: dict[str, dict[_Piece, Candidate]] = {}
    for candidate in candidates:
        found = by_strategy.setdefault(candidate.strategy, {})
        key = _identity(candidate.record)
        if key not in found or _place(candidate) < _place(found[key]):
            found[key] = candidate
    pieces: dict[_Piece, list[tuple[Candidate, float]]] = {}
    for strategy in sorted(by_strategy):
        found = by_strategy[strategy]
        contribution = _contribution_of(strategy, list(found.values()), fusion)
        for key, candidate in found.items():
            pieces.setdefault(key, []).append((candidate, contribution(candidate)))
    total: Callable[[Iterable[float]], float] = max if fusion.kind is FusionKind.MAX else fsum
    hits = [_hit(parts, parts[0][1] if len(parts) == 1 else total(share for _, share in parts)) for parts in pieces.values()]
    return sorted(hits, key=lambda hit: (-hit.score, hit.record.document_id, hit.record.index))


def deduplicate(hits: Sequence[Hit]) -> list[Hit]:
    """Keeps the first hit of those with equal text in one document. Equal texts of two documents both stay: a path is an identity."""
    return _first_of_each(hits, lambda record: (record.document_id, record.text))


def one_per_document(hits: Sequence[Hit]) -> list[Hit]:
    """Keeps the first hit of each document."""
    return _first_of_each(hits, lambda record: record.document_id)


def interleave(lists: Mapping[str, Sequence[Hit]], limit: int) -> list[tuple[str, Hit]]:
    """Hits of several knowledge bases in one list, with their knowledge base: all first ones, then all second ones, and so on.

    Scores of two knowledge bases are not on one scale, so only ranks count; within a rank the order is by name.
    """
    ranked = sorted((rank, name) for name, hits in lists.items() for rank in range(len(hits)))
    return [(name, lists[name][rank]) for rank, name in ranked[:limit]]


def check_weights(fusion: Fusion, strategies: Sequence[str]) -> None:
    """Raises ``ConfigurationError`` when ``weighted`` lacks the weight of a strategy."""
    missing = [strategy for strategy in strategies if strategy not in fusion.weights]
    if fusion.kind is FusionKind.WEIGHTED and missing:
        raise ConfigurationError(f"results.fusion.weights has no weight for {', '.join(missing)}: add it, or use the fusion strategy rrf")


def _identity(record: ChunkRecord) -> _Piece:
    return record.document_id, record.start_line, record.end_line, record.text


def _place(candidate: Candidate) -> tuple[int, str, int]:
    return candidate.rank, candidate.strategy, candidate.record.index


def _contribution_of(strategy: str, found: Sequence[Candidate], fusion: Fusion) -> Callable[[Candidate], float]:
    if fusion.kind is FusionKind.RRF:
        return lambda candidate: 1.0 / (fusion.k + candidate.rank)
    if fusion.kind is FusionKind.MAX:
        return lambda candidate: candidate.score
    check_weights(fusion, [strategy])
    weight = fusion.weights[strategy]
    low = min(candidate.score for candidate in found)
    spread = max(candidate.score for candidate in found) - low
    return lambda candidate: weight * ((candidate.score - low) / spread if spread > 0.0 else 1.0)


def _hit(parts: Sequence[tuple[Candidate, float]], score: float) -> Hit:
    if len(parts) == 1:
        ((only, share),) = parts
        return Hit(only.record, score, {only.strategy: StrategyTrace(only.rank, only.score, share)})
    best = min((candidate for candidate, _ in parts), key=_place)
    traces = {candidate.strategy: StrategyTrace(candidate.rank, candidate.score, share) for candidate, share in parts}
    return Hit(best.record, score, traces)


def _first_of_each(hits: Sequence[Hit], key: Callable[[ChunkRecord], object]) -> list[Hit]:
    seen: set[object] = set()
    kept: list[Hit] = []
    for hit in hits:
        identity = key(hit.record)
        if identity not in seen:
            seen.add(identity)
            kept.append(hit)
    return kept
