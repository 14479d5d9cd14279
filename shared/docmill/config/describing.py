"""Shows a configuration as it takes effect, with every default, and the schema that it follows."""

from collections.abc import Sequence
from typing import Final
from urllib.parse import urlsplit, urlunsplit

from docmill.config.loading import Configuration
from docmill.config.providers import ModelSpec, Provider, chat_spec_of
from docmill.config.quantities import format_duration
from docmill.config.schema import RawConfiguration
from docmill.domain.knowledge_bases import Answering, KnowledgeBase, Reranking, Results, ScoreFloor, StrategyKind, StrategySpec

Described = dict[str, object]

_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


def configuration_schema() -> Described:
    """The JSON Schema of the configuration file."""
    return {"$schema": _DIALECT, **RawConfiguration.model_json_schema(), "title": "docmill configuration"}


def describe(configuration: Configuration) -> Described:
    """The configuration as a file that says everything: loading it gives the same knowledge bases.

    Credentials are never in it, only the names of the variables that hold them.
    """
    named = {reference: model for reference, model in configuration.models.items() if reference != model.name}
    described: Described = {
        "file": None if configuration.path is None else str(configuration.path),
        "base_folder": str(configuration.base_folder),
    }
    if named:
        described["models"] = {reference: _model(model) for reference, model in named.items()}
    if configuration.providers:
        described["providers"] = {name: _provider(provider) for name, provider in configuration.providers.items()}
    described["rag"] = {kb.name: _knowledge_base(kb, configuration) for kb in configuration.knowledge_bases}
    return described


def _knowledge_base(kb: KnowledgeBase, configuration: Configuration) -> Described:
    return _present(
        docs=list(kb.roots),
        description=kb.description,
        tool=_present(name=kb.tool_name, description=kb.tool_description, instruction=kb.tool_instruction) or None,
        respect_vcs=kb.respect_vcs,
        allow_secrets=kb.allow_secrets,
        max_file_size=kb.max_file_size_bytes,
        prepend_headings=all(strategy.chunking.prepend_headings for strategy in kb.strategies),
        indexing_timeout=format_duration(kb.indexing_timeout_seconds or 0.0),
        scan_interval=format_duration(kb.scan_interval_seconds),
        max_tokens_per_run=kb.max_tokens_per_run,
        strategies=[_strategy(strategy, kb, configuration) for strategy in kb.strategies],
        results=_results(kb.results),
        answer=None if kb.answering is None else _answering(kb.answering),
    )


def _strategy(strategy: StrategySpec, kb: KnowledgeBase, configuration: Configuration) -> Described:
    own_roots = [root for root in strategy.roots if root not in kb.roots]
    described = _present(
        type=strategy.kind.value,
        name=strategy.name,
        docs=own_roots or None,
        respect_vcs=strategy.respect_vcs,
        limit=strategy.limit,
        threshold=strategy.threshold,
        chunking={
            "size": strategy.chunking.size,
            "overlap": strategy.chunking.overlap,
            "code_aware": strategy.chunking.code_aware,
            "respect_word_boundaries": strategy.chunking.respect_word_boundaries,
            "prepend_headings": strategy.chunking.prepend_headings,
            "strategy": strategy.chunking.strategy.value,
        },
        max_indexing_concurrency=strategy.max_indexing_concurrency,
    )
    if strategy.kind is StrategyKind.BM25:
        described.update(k1=strategy.k1, b=strategy.b)
    if strategy.embedding is not None:
        described.update(
            _present(
                embedding_model=_reference(strategy, configuration),
                vector_dimensions=strategy.embedding.dimensions,
                similarity_metric=strategy.similarity.value,
                embedding_batch_size=strategy.embedding.batch_size,
                max_embedding_concurrency=strategy.embedding.max_concurrency,
            )
        )
    if strategy.kind is StrategyKind.SEMANTIC_EMBEDDINGS:
        described.update(
            _present(
                chat_model=_chat_reference(strategy, configuration),
                semantic_prompt=strategy.semantic_prompt,
                ast_context=strategy.ast_context,
            )
        )
    return described


def _reference(strategy: StrategySpec, configuration: Configuration) -> str | None:
    spec = strategy.embedding
    if spec is None:
        return None
    access = (spec.name, spec.base_url, spec.token_key)
    models = configuration.models.items()
    return next((reference for reference, m in models if (m.name, m.base_url, m.token_key) == access), spec.name)


def _chat_reference(strategy: StrategySpec, configuration: Configuration) -> str | None:
    spec = strategy.chat_model
    if spec is None:
        return None
    limit = spec.max_concurrency
    models = configuration.models.items()
    return next((reference for reference, model in models if chat_spec_of(model, max_concurrency=limit) == spec), spec.name)


def _results(results: Results) -> Described:
    return _present(
        fusion=_present(strategy=results.fusion.kind.value, k=results.fusion.k, weights=dict(results.fusion.weights) or None),
        reranking=_stages(results.reranking),
        deduplicate=results.deduplicate,
        limit=results.limit,
        include_score=results.include_score,
        return_full_content=results.return_full_content,
    )


def _stages(reranking: Sequence[ScoreFloor | Reranking]) -> Described | list[Described] | None:
    stages = [_reranking(stage) for stage in reranking]
    return stages[0] if len(stages) == 1 else stages or None


def _reranking(reranking: ScoreFloor | Reranking) -> Described:
    if isinstance(reranking, ScoreFloor):
        return {"score_floor": reranking.share}
    return _present(model=reranking.model, top_k=reranking.top_k, threshold=reranking.threshold, criteria=reranking.criteria)


def _answering(answering: Answering) -> Described:
    return _present(model=answering.model, min_score=answering.min_score, passages=answering.passages, budget_chars=answering.budget_chars)


def _model(model: ModelSpec) -> Described:
    return _present(
        provider=model.provider,
        model=model.model,
        base_url=_without_query(model.base_url),
        token_key=model.token_key,
        headers=dict(model.headers) or None,
        requests_per_minute=model.requests_per_minute,
        tokens_per_minute=model.tokens_per_minute,
        price=None if model.price is None else {"input": model.price.input, "output": model.price.output},
        max_tokens=model.max_tokens,
        temperature=model.temperature,
    )


def _provider(provider: Provider) -> Described:
    return _present(base_url=_without_query(provider.base_url), token_key=provider.token_key, headers=dict(provider.headers) or None)


def _without_query(url: str | None) -> str | None:
    """Some gateways take a key in the query."""
    return None if url is None else urlunsplit(urlsplit(url)._replace(query="", fragment=""))


def _present(**keys: object) -> Described:
    return {key: value for key, value in keys.items() if value is not None}
