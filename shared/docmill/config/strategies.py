"""Builds a knowledge base's strategies from what its YAML says."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from docmill.config.code_grammars import WITHOUT_CODE_GRAMMARS, has_code_grammars
from docmill.config.prefixes import NO_PREFIXES, prefixes_of
from docmill.config.problems import Problems
from docmill.config.providers import AUTO, AUTO_MODELS, LOCAL, REMOTE_DIMENSIONS, ModelSpec, chat_spec_of, local_model
from docmill.config.references import References
from docmill.config.roots import merge_roots, resolve_roots
from docmill.config.schema import KEYS_WITHOUT_MEANING, RawChunking, RawStrategy
from docmill.config.wording import listed
from docmill.config.yaml_source import YamlPath
from docmill.domain.knowledge_bases import (
    ChatModelSpec,
    Chunking,
    ChunkingStrategy,
    EmbeddingModelSpec,
    Similarity,
    StrategyKind,
    StrategySpec,
)
from docmill.domain.semantic_prompt import PLACEHOLDERS, placeholders_in

DEFAULT_EMBEDDING_THRESHOLD: Final = 0.5
DEFAULT_BM25_THRESHOLD: Final = 0.0
DEFAULT_STRATEGY_LIMIT: Final = 5
DEFAULT_CHUNK_SIZE: Final = 1500
DEFAULT_CODE_CHUNK_SIZE: Final = 4000
DEFAULT_CHUNK_OVERLAP: Final = 75
DEFAULT_BATCH_SIZE: Final = 50


def build_strategies(
    raws: Sequence[RawStrategy],
    path: YamlPath,
    *,
    shared_roots: tuple[str, ...],
    base_folder: Path,
    prepend_headings: bool,
    references: References,
    problems: Problems,
) -> tuple[StrategySpec, ...]:
    """The strategies at ``path``; those that cannot be built are reported and left out."""
    builder = _Builder(shared_roots, base_folder, prepend_headings, references, problems)
    specs: dict[str, StrategySpec] = {}
    for index, raw in enumerate(raws):
        at = (*path, index)
        spec = builder.build(raw, at)
        if spec is None:
            continue
        if spec.name in specs:
            key = "name" if raw.name is not None else "type"
            problems.error((*at, key), f"two strategies are called `{spec.name}`; give each of them a `name` of its own")
        specs.setdefault(spec.name, spec)
    return tuple(specs.values())


class _Builder:
    def __init__(
        self, shared_roots: tuple[str, ...], base_folder: Path, prepend_headings: bool, references: References, problems: Problems
    ) -> None:
        self.shared_roots = shared_roots
        self.base_folder = base_folder
        self.prepend_headings = prepend_headings
        self.references = references
        self.problems = problems

    def build(self, raw: RawStrategy, path: YamlPath) -> StrategySpec | None:
        kind = raw.type
        if kind is None:
            if not self.problems.is_wrong(path):
                self.problems.error(path, f"needs a `type`: one of {listed(StrategyKind)}")
            return None
        self._warn_of_keys_without_meaning(raw, kind, path)
        if raw.database is not None:
            self.problems.note((*path, "database"), "is not used; the index is kept in the data folder, or in the servers that are set")
        embedding = None if kind is StrategyKind.BM25 else self._embedding(raw, kind, path)
        if kind is not StrategyKind.BM25 and embedding is None:
            return None
        chat_model = self._semantic(raw, path) if kind is StrategyKind.SEMANTIC_EMBEDDINGS else None
        return StrategySpec(
            name=raw.name if raw.name is not None else kind.value,
            kind=kind,
            threshold=self._threshold(raw, kind, embedding, path),
            limit=DEFAULT_STRATEGY_LIMIT if raw.limit is None else raw.limit,
            chunking=self._chunking(raw.chunking or RawChunking(), (*path, "chunking")),
            roots=self._roots(raw.docs, path),
            respect_vcs=raw.respect_vcs,
            embedding=embedding,
            similarity=raw.similarity_metric or Similarity.COSINE,
            chat_model=chat_model,
            semantic_prompt=_prompt_of(raw) if kind is StrategyKind.SEMANTIC_EMBEDDINGS else None,
            ast_context=bool(raw.ast_context) and kind is StrategyKind.SEMANTIC_EMBEDDINGS,
            k1=1.5 if raw.k1 is None else raw.k1,
            b=0.75 if raw.b is None else raw.b,
            max_indexing_concurrency=raw.max_indexing_concurrency,
        )

    def _warn_of_keys_without_meaning(self, raw: RawStrategy, kind: StrategyKind, path: YamlPath) -> None:
        for key in sorted(KEYS_WITHOUT_MEANING[kind]):
            if getattr(raw, key) is not None:
                self.problems.warn((*path, key), f"has no meaning for `{kind}` and is ignored", at_key=True)

    def _roots(self, docs: list[str] | None, path: YamlPath) -> tuple[str, ...]:
        own = checked_roots(docs, (*path, "docs"), self.base_folder, self.problems)
        merged = merge_roots(self.shared_roots, own)
        return () if merged == self.shared_roots else merged

    def _chunking(self, raw: RawChunking, path: YamlPath) -> Chunking:
        default_size = DEFAULT_CODE_CHUNK_SIZE if raw.code_aware else DEFAULT_CHUNK_SIZE
        size = default_size if raw.size is None else raw.size
        overlap = min(DEFAULT_CHUNK_OVERLAP, size // 2) if raw.overlap is None else raw.overlap
        if overlap >= size and not self.problems.is_wrong((*path, "size")):
            self.problems.error((*path, "overlap"), f"must be less than the chunk size of {size}, not `{overlap}`")
        if raw.code_aware and not has_code_grammars():
            self.problems.warn((*path, "code_aware"), WITHOUT_CODE_GRAMMARS)
        return Chunking(
            size=size,
            overlap=overlap,
            code_aware=bool(raw.code_aware) and has_code_grammars(),
            respect_word_boundaries=raw.respect_word_boundaries is not False,
            prepend_headings=self.prepend_headings if raw.prepend_headings is None else raw.prepend_headings,
            strategy=raw.strategy or ChunkingStrategy.AUTO,
        )

    def _threshold(self, raw: RawStrategy, kind: StrategyKind, embedding: EmbeddingModelSpec | None, path: YamlPath) -> float:
        if raw.threshold is not None:
            cosine = embedding is not None and (raw.similarity_metric or Similarity.COSINE) is Similarity.COSINE
            if cosine and not -1 <= raw.threshold <= 1:
                self.problems.error((*path, "threshold"), f"must be a cosine, from -1 to 1, not `{raw.threshold:g}`")
            return raw.threshold
        if embedding is None:
            return DEFAULT_BM25_THRESHOLD
        local = local_model(embedding.provider, embedding.model)
        return DEFAULT_EMBEDDING_THRESHOLD if local is None else local.threshold

    def _embedding(self, raw: RawStrategy, kind: StrategyKind, path: YamlPath) -> EmbeddingModelSpec | None:
        at = (*path, "embedding_model")
        if not raw.embedding_model:
            if not self.problems.is_wrong(path):
                self.problems.error(path if raw.embedding_model is None else at, f"`{kind}` needs an `embedding_model`")
            return None
        reference = self._chosen(raw, at) if raw.embedding_model == AUTO else raw.embedding_model
        model = None if reference is None else self.references.resolve(reference, at)
        if model is None:
            return None
        prefixes = NO_PREFIXES if model.provider == LOCAL else prefixes_of(model.model)
        return EmbeddingModelSpec(
            provider=model.provider,
            model=model.model,
            dimensions=self._dimensions(raw, kind, model, path),
            base_url=model.base_url,
            token_key=model.token_key,
            batch_size=DEFAULT_BATCH_SIZE if raw.embedding_batch_size is None else raw.embedding_batch_size,
            max_concurrency=raw.max_embedding_concurrency,
            headers=model.headers,
            query_prefix=prefixes.query,
            passage_prefix=prefixes.passage,
            speaks_openai=model.is_named_endpoint,
            requests_per_minute=model.requests_per_minute,
            tokens_per_minute=model.tokens_per_minute,
        )

    def _chosen(self, raw: RawStrategy, path: YamlPath) -> str | None:
        reference = self.references.auto(raw.vector_dimensions)
        if reference is None:
            sizes = ", ".join(str(size) for size in AUTO_MODELS if size is not None)
            self.problems.error(path, f"`{AUTO}` has no model of {raw.vector_dimensions} dimensions, only of {sizes}; name the model")
        else:
            self.problems.note(path, f"`{AUTO}` stands for `{reference}`")
        return reference

    def _dimensions(self, raw: RawStrategy, kind: StrategyKind, model: ModelSpec, path: YamlPath) -> int | None:
        at = (*path, "vector_dimensions")
        local = local_model(model.provider, model.model)
        if local is not None:
            if raw.vector_dimensions not in (None, local.dimensions):
                self.problems.error(at, f"`{model.name}` makes vectors of {local.dimensions}, not of {raw.vector_dimensions}")
            return local.dimensions
        known = None if kind is StrategyKind.SEMANTIC_EMBEDDINGS else REMOTE_DIMENSIONS.get(model.name)
        dimensions = known if raw.vector_dimensions is None else raw.vector_dimensions
        if dimensions is None and not self.problems.is_wrong(at):
            self.problems.error(path, f"needs `vector_dimensions`, the length of the vectors of `{model.name}`")
        return dimensions

    def _semantic(self, raw: RawStrategy, path: YamlPath) -> ChatModelSpec | None:
        """The chat model; what cannot be meant is reported."""
        template = _prompt_of(raw)
        if template is not None:
            self._check_prompt(template, bool(raw.ast_context), path)
        at = (*path, "chat_model")
        if raw.chat_model and raw.chat_model.strip():
            model = check_chat_model(raw.chat_model, at, self.references, self.problems)
            return None if model is None else chat_spec_of(model, max_concurrency=raw.max_embedding_concurrency)
        if not self.problems.is_wrong(at):
            self.problems.error(path if raw.chat_model is None else at, "`semantic-embeddings` needs a `chat_model`")
        return None

    def _check_prompt(self, template: str, ast_context: bool, path: YamlPath) -> None:
        placeholders = placeholders_in(template)
        for placeholder in placeholders:
            if placeholder not in PLACEHOLDERS:
                known = listed(f"${{{name}}}" for name in PLACEHOLDERS)
                self.problems.warn((*path, "semantic_prompt"), f"nothing is put in for `${{{placeholder}}}`; known are {known}")
        if "content" not in placeholders:
            self.problems.warn((*path, "semantic_prompt"), "the model is not shown the chunk: nothing in it says `${content}`")
        if ast_context and "ast_context" not in placeholders:
            self.problems.warn((*path, "ast_context"), "has no effect: nothing in `semantic_prompt` says `${ast_context}`")


def _prompt_of(raw: RawStrategy) -> str | None:
    return raw.semantic_prompt if raw.semantic_prompt and raw.semantic_prompt.strip() else None


def check_chat_model(reference: str, path: YamlPath, references: References, problems: Problems) -> ModelSpec | None:
    """What ``reference`` stands for; None where that is no model that writes or scores text, which is then reported."""
    model = references.resolve(reference, path)
    if model is not None and model.provider == LOCAL:
        problems.error(path, f"`{model.name}` makes vectors; it cannot write or score text")
        return None
    return model


def checked_roots(docs: list[str] | None, path: YamlPath, base_folder: Path, problems: Problems) -> tuple[str, ...]:
    """The roots of a ``docs`` list; entries that cannot be one are reported."""
    roots: tuple[str, ...] = ()
    for index, entry in enumerate(docs or ()):
        try:
            roots = merge_roots(roots, resolve_roots((entry,), base_folder))
        except ValueError as error:
            problems.error((*path, index), str(error))
    return roots
