"""Builds one knowledge base from its entry under `rag:`."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from docmill.config.problems import Problems
from docmill.config.reading import read_section
from docmill.config.references import References
from docmill.config.schema import (
    NAME_PATTERN,
    OTHER_NAMES,
    REFERENCE_KEYS,
    RawAnswer,
    RawFusion,
    RawKnowledgeBase,
    RawReranking,
    RawResults,
    RawStrategy,
    RawTool,
)
from docmill.config.strategies import build_strategies, check_chat_model, checked_roots
from docmill.config.wording import listed, meant, shown
from docmill.config.yaml_source import YamlPath, YamlValue
from docmill.domain.knowledge_bases import (
    Answering,
    Fusion,
    FusionKind,
    KnowledgeBase,
    Reranking,
    Results,
    ScoreFloor,
    StrategyKind,
    StrategySpec,
)

DEFAULT_INDEXING_TIMEOUT_SECONDS: Final = 1800.0
DEFAULT_MAX_FILE_SIZE_BYTES: Final = 20 * 1024 * 1024
DEFAULT_RESULTS_LIMIT: Final = 15
MIN_SCAN_INTERVAL_SECONDS: Final = 1.0

_NAME: Final = re.compile(NAME_PATTERN)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What an entry under `rag:` stands in."""

    base_folder: Path
    scan_interval_seconds: float
    references: References
    problems: Problems


def check_name(name: str) -> str | None:
    """Why a knowledge base cannot be called ``name``; None when it can."""
    if _NAME.fullmatch(name):
        return None
    return f"{shown(name)} cannot name a knowledge base: up to 64 letters (a-z), digits, `.`, `_` and `-`, beginning with a letter or digit"


def build_knowledge_base(name: str, data: YamlValue, around: Surroundings) -> KnowledgeBase | None:
    """The knowledge base ``name``; None when something is wrong with it, which is then reported."""
    path: YamlPath = ("rag", name)
    problems = around.problems
    if (problem := check_name(name)) is not None:
        problems.error(path, problem, at_key=True)
    raw = read_section(RawKnowledgeBase, _as_meant(data, path, problems), path, problems)
    if not raw.strategies and not problems.is_wrong((*path, "strategies")) and isinstance(data, dict):
        problems.error(path, f"needs `strategies`: a list of {listed(StrategyKind)}", at_key=True)
    roots = checked_roots(raw.docs, (*path, "docs"), around.base_folder, problems)
    strategies = build_strategies(
        raw.strategies or [],
        (*path, "strategies"),
        shared_roots=roots,
        base_folder=around.base_folder,
        prepend_headings=raw.prepend_headings is not False,
        references=around.references,
        problems=problems,
    )
    _check_documents(raw, roots, path, problems)
    tool = raw.tool or RawTool()
    results = _results(raw.results or RawResults(), strategies, raw.strategies or [], (*path, "results"), around)
    answering = None if raw.answer is None else _answering(raw.answer, (*path, "answer"), around)
    scan_interval = around.scan_interval_seconds if raw.scan_interval is None else raw.scan_interval
    if scan_interval < MIN_SCAN_INTERVAL_SECONDS:
        problems.error((*path, "scan_interval"), "must be at least `1s`")
    if problems.is_wrong(path):
        return None
    timeout = DEFAULT_INDEXING_TIMEOUT_SECONDS if raw.indexing_timeout is None else raw.indexing_timeout
    return KnowledgeBase(
        name=name,
        base_folder=around.base_folder,
        roots=roots,
        strategies=strategies,
        description=raw.description or tool.description or "",
        tool_name=tool.name,
        tool_description=tool.description,
        tool_instruction=tool.instruction,
        respect_vcs=raw.respect_vcs is not False,
        allow_secrets=bool(raw.allow_secrets),
        results=results,
        answering=answering,
        indexing_timeout_seconds=timeout or None,
        scan_interval_seconds=scan_interval,
        max_file_size_bytes=DEFAULT_MAX_FILE_SIZE_BYTES if raw.max_file_size is None else raw.max_file_size,
        max_tokens_per_run=raw.max_tokens_per_run,
    )


def _as_meant(data: YamlValue, path: YamlPath, problems: Problems) -> YamlValue:
    """``data`` with the spellings that other programs' files use put into ours."""
    if not isinstance(data, dict):
        return data
    meant_data = dict(data)
    for key in sorted(REFERENCE_KEYS & meant_data.keys()):
        del meant_data[key]
        problems.warn((*path, key), "belongs to an agent's toolset and is ignored here", at_key=True)
    strategies = meant_data.get("strategies")
    if isinstance(strategies, list):
        meant_data["strategies"] = [
            _strategy_as_meant(strategy, (*path, "strategies", index), problems) for index, strategy in enumerate(strategies)
        ]
    results = meant_data.get("results")
    if isinstance(results, dict):
        meant_data["results"] = _results_as_meant(results, (*path, "results"), problems)
    return meant_data


def _strategy_as_meant(data: YamlValue, path: YamlPath, problems: Problems) -> YamlValue:
    if not isinstance(data, dict):
        return data
    meant_data = dict(data)
    for key, ours in OTHER_NAMES.items():
        if key not in meant_data:
            continue
        value = meant_data.pop(key)
        if ours in data:
            problems.warn((*path, key), f"is ignored, since `{ours}` is there too", at_key=True)
        else:
            problems.warn((*path, key), f"is read as `{ours}`", at_key=True)
            problems.rename((*path, ours), (*path, key))
            meant_data[ours] = value
    return meant_data


def _results_as_meant(data: dict[str, YamlValue], path: YamlPath, problems: Problems) -> dict[str, YamlValue]:
    reranking = data.get("reranking")
    if not isinstance(reranking, dict):
        return data
    at = (*path, "reranking")
    problems.rename((*at, 0), at)
    return {**data, "reranking": [reranking]}


def _check_documents(raw: RawKnowledgeBase, roots: tuple[str, ...], path: YamlPath, problems: Problems) -> None:
    if problems.is_wrong(path):
        return
    for index, strategy in enumerate(raw.strategies or ()):
        if not raw.docs and not strategy.docs:
            problems.warn((*path, "strategies", index), "has no `docs`; it will find only documents that are pushed")
    if roots and all(root.startswith("!") for root in roots):
        problems.error((*path, "docs"), "only leaves documents out; name what to take in, such as `.`")


def _results(
    raw: RawResults, strategies: tuple[StrategySpec, ...], raw_strategies: list[RawStrategy], path: YamlPath, around: Surroundings
) -> Results:
    limit = DEFAULT_RESULTS_LIMIT if raw.limit is None else raw.limit
    complete = len(strategies) == len(raw_strategies)
    return Results(
        fusion=_fusion(raw.fusion or RawFusion(), strategies if complete else None, (*path, "fusion"), around.problems),
        deduplicate=raw.deduplicate is not False,
        limit=limit,
        include_score=bool(raw.include_score),
        return_full_content=bool(raw.return_full_content),
        reranking=tuple(
            stage
            for number, one in enumerate(raw.reranking or ())
            if (stage := _reranking(one, limit, (*path, "reranking", number), around)) is not None
        ),
    )


def _fusion(raw: RawFusion, strategies: tuple[StrategySpec, ...] | None, path: YamlPath, problems: Problems) -> Fusion:
    kind = raw.strategy or FusionKind.RRF
    weights = dict(raw.weights or {})
    if kind is not FusionKind.WEIGHTED:
        if raw.weights:
            problems.warn((*path, "weights"), f"has an effect only with `strategy: weighted`, not with `{kind}`", at_key=True)
        weights = {}
    elif strategies is not None and not problems.is_wrong((*path, "weights")):
        names = [strategy.name for strategy in strategies]
        for name in weights.keys() - set(names):
            problems.error((*path, "weights", name), f"there is no strategy {shown(name)}{meant(name, names)}", at_key=True)
        if len(names) == 1:
            weights.setdefault(names[0], 1.0)
        missing = [name for name in names if name not in weights]
        if missing:
            problems.error(
                path if not raw.weights else (*path, "weights"), f"`weighted` needs a weight for each strategy; missing: {listed(missing)}"
            )
        elif not any(weights.values()):
            problems.error((*path, "weights"), "at least one weight must be above 0")
    return Fusion(kind=kind, k=60 if raw.k is None else raw.k, weights=weights)


def _reranking(raw: RawReranking, limit: int, path: YamlPath, around: Surroundings) -> Reranking | ScoreFloor | None:
    if raw.score_floor is not None:
        for key in ("model", "top_k", "threshold", "criteria"):
            if getattr(raw, key) is not None:
                around.problems.error((*path, key), "does not go with `score_floor`; make two stages of it, in a list", at_key=True)
        return ScoreFloor(raw.score_floor)
    if not _has_model(raw.model, path, around):
        return None
    return Reranking(
        model=raw.model or "",
        top_k=raw.top_k or limit,
        threshold=0.5 if raw.threshold is None else raw.threshold,
        criteria=raw.criteria,
    )


def _answering(raw: RawAnswer, path: YamlPath, around: Surroundings) -> Answering | None:
    if not _has_model(raw.model, path, around):
        return None
    return Answering(
        model=raw.model or "",
        min_score=raw.min_score,
        passages=8 if raw.passages is None else raw.passages,
        budget_chars=12_000 if raw.budget_chars is None else raw.budget_chars,
    )


def _has_model(reference: str | None, path: YamlPath, around: Surroundings) -> bool:
    if reference:
        check_chat_model(reference, (*path, "model"), around.references, around.problems)
    elif not around.problems.is_wrong(path):
        around.problems.error(path if reference is None else (*path, "model"), "needs a `model`")
    return bool(reference)
