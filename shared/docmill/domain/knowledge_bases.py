"""Knowledge bases as the rest of the code sees them: configuration with its defaults filled in and its paths resolved."""

import glob
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Final

from docmill.domain.semantic_prompt import SemanticPrompt

#: Raised whenever loaders, chunkers or the stored form change what is stored for the same file.
STORED_FORM_VERSION: Final = 2


class StrategyKind(StrEnum):
    """The retrieval strategies."""

    CHUNKED_EMBEDDINGS = "chunked-embeddings"
    SEMANTIC_EMBEDDINGS = "semantic-embeddings"
    BM25 = "bm25"


class Similarity(StrEnum):
    """How two vectors are compared."""

    COSINE = "cosine_similarity"
    DOT_PRODUCT = "dot_product"
    EUCLIDEAN = "euclidean"


class FusionKind(StrEnum):
    """How the lists of several strategies become one."""

    RRF = "rrf"
    WEIGHTED = "weighted"
    MAX = "max"


class ChunkingStrategy(StrEnum):
    """By what documents are cut."""

    AUTO = "auto"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class Chunking:
    """How a strategy cuts documents; sizes are in characters.

    Attributes:
        size: the most of a chunk.
        overlap: the most that a chunk repeats of the one before it.
        code_aware: source code is cut by its syntax, and nothing of it is repeated.
        respect_word_boundaries: no word is parted that fits into a chunk.
        prepend_headings: what is searched begins with the headings above it.
        strategy: ``text`` knows no headings, no blocks and no syntax.
    """

    size: int = 1500
    overlap: int = 75
    code_aware: bool = False
    respect_word_boundaries: bool = True
    prepend_headings: bool = True
    strategy: ChunkingStrategy = ChunkingStrategy.AUTO


@dataclass(frozen=True, slots=True)
class EmbeddingModelSpec:
    """Which embedding model, and how it is reached.

    Attributes:
        provider: ``local``, ``openai``, ``google``, ...; decides the adapter.
        model: the provider's name of the model.
        base_url: set for OpenAI-compatible servers other than OpenAI's own.
        token_key: the environment variable that holds the credential.
        batch_size: texts in one request.
        max_concurrency: requests of one knowledge base at once, over all workers; None is learned.
        requests_per_minute: that the provider takes with this credential; None is learned.
        tokens_per_minute: the same of tokens; None is unbounded.
        headers: more HTTP headers of every request, each with its value; ``${NAME}`` in a value stands for an environment variable.
        query_prefix: put before every query, as the model was trained to read it.
        passage_prefix: put before every passage.
        speaks_openai: the configuration names the endpoint under ``providers:``, so that it speaks OpenAI's API whatever it is called.
    """

    provider: str
    model: str
    dimensions: int | None = None
    base_url: str | None = None
    token_key: str | None = None
    batch_size: int = 50
    max_concurrency: int | None = None
    headers: tuple[tuple[str, str], ...] = ()
    query_prefix: str = ""
    passage_prefix: str = ""
    speaks_openai: bool = False
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None

    @property
    def name(self) -> str:
        """``provider/model``."""
        return f"{self.provider}/{self.model}"

    @property
    def reads_latin_only(self) -> bool:
        """Whether texts in another script mean next to nothing to it: the local models were trained on English."""
        return self.provider == "local"


@dataclass(frozen=True, slots=True)
class ChatModelSpec:
    """Which chat model, and how it is reached.

    Attributes:
        provider: ``openai``, ``anthropic``, ...; decides the adapter.
        model: the provider's name of the model.
        base_url: None is the provider's own.
        token_key: the environment variable that holds the credential.
        max_concurrency: as that of ``EmbeddingModelSpec``.
        max_tokens: of an answer; None where the configuration does not say.
        headers: as those of ``EmbeddingModelSpec``.
        speaks_openai: as that of ``EmbeddingModelSpec``.
        requests_per_minute: what the provider is known to bear; None where the configuration does not say.
        tokens_per_minute: as ``requests_per_minute``.
    """

    provider: str
    model: str
    base_url: str | None = None
    token_key: str | None = None
    max_concurrency: int | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    headers: tuple[tuple[str, str], ...] = ()
    speaks_openai: bool = False
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None

    @property
    def name(self) -> str:
        """``provider/model``."""
        return f"{self.provider}/{self.model}"


@dataclass(frozen=True, slots=True)
class StrategySpec:
    """One retrieval strategy of a knowledge base.

    Attributes:
        name: unique in the knowledge base; the type where only one of it is there.
        roots: files, folders and globs of its own, absolute; empty means the knowledge base's.
        threshold: the least score, on the strategy's own scale.
        limit: how many candidates it gives to the fusion.
        chat_model: writes the summaries of ``semantic-embeddings``; None for other strategies.
        semantic_prompt: how it is asked for them; None is docmill's own prompt.
    """

    name: str
    kind: StrategyKind
    threshold: float
    limit: int = 5
    chunking: Chunking = field(default_factory=Chunking)
    roots: tuple[str, ...] = ()
    respect_vcs: bool | None = None
    embedding: EmbeddingModelSpec | None = None
    similarity: Similarity = Similarity.COSINE
    chat_model: ChatModelSpec | None = None
    semantic_prompt: str | None = None
    ast_context: bool = False
    k1: float = 1.5
    b: float = 0.75
    max_indexing_concurrency: int | None = None

    @property
    def embedding_shape(self) -> dict[str, object] | None:
        """Everything that decides which vector a text gets; None for a strategy without vectors.

        Where two strategies have equal ones, a vector that is stored for one serves the other.
        """
        if self.embedding is None:
            return None
        shape: dict[str, object] = {
            "model": self.embedding.name,
            "base_url": self.embedding.base_url,
            "dimensions": self.embedding.dimensions,
            "similarity": self.similarity.value,
        }
        if self.embedding.passage_prefix:
            shape["passage_prefix"] = self.embedding.passage_prefix
        if self.summary_shape is not None:
            shape |= self.summary_shape
        return shape

    @property
    def summary_shape(self) -> dict[str, object] | None:
        """Everything that decides which summary a chunk gets; None for a strategy whose chunks are embedded as they are.

        Where two strategies have equal ones, a summary that is stored for one serves the other.
        """
        if self.chat_model is None:
            return None
        return {
            "chat_model": self.chat_model.name,
            "chat_base_url": self.chat_model.base_url,
            "prompt": self.prompt.text,
            "ast_context": self.ast_context,
        }

    @property
    def prompt(self) -> SemanticPrompt:
        """How the chat model is asked for summaries."""
        return SemanticPrompt(self.semantic_prompt, self.ast_context)


@dataclass(frozen=True, slots=True)
class Fusion:
    """How strategies' lists are fused; ``weights`` by strategy name, for ``weighted``."""

    kind: FusionKind = FusionKind.RRF
    k: int = 60
    weights: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ScoreFloor:
    """A stage of reranking that leaves out hits whose score is below this share (0 to 1) of the best one's."""

    share: float


@dataclass(frozen=True, slots=True)
class Reranking:
    """A stage of reranking by a model.

    Attributes:
        model: a reference.
        top_k: how many hits it reads; None is all.
        threshold: what scores below it (0 to 1) is left out.
        criteria: what makes a passage relevant, in words.
    """

    model: str
    top_k: int | None = None
    threshold: float = 0.5
    criteria: str | None = None


@dataclass(frozen=True, slots=True)
class Results:
    """What happens to candidates after retrieval; ``reranking`` has its stages, in order."""

    fusion: Fusion = field(default_factory=Fusion)
    deduplicate: bool = True
    limit: int = 15
    include_score: bool = False
    return_full_content: bool = False
    reranking: tuple[ScoreFloor | Reranking, ...] = ()


@dataclass(frozen=True, slots=True)
class Answering:
    """The settings of ``answer:``."""

    model: str
    min_score: float | None = None
    passages: int = 8
    budget_chars: int = 12_000


@dataclass(frozen=True, slots=True)
class KnowledgeBase:
    """A named set of documents with its retrieval strategies.

    Attributes:
        base_folder: absolute; document ids are relative to it.
        roots: files, folders and globs, absolute; a leading ``!`` excludes.
        indexing_timeout_seconds: bound of one run; None is unbounded.
        scan_interval_seconds: between full scans while watching.
        max_file_size_bytes: larger files of text are skipped; containers may be ten times as large.
    """

    name: str
    base_folder: Path
    roots: tuple[str, ...]
    strategies: tuple[StrategySpec, ...]
    description: str = ""
    tool_name: str | None = None
    tool_description: str | None = None
    tool_instruction: str | None = None
    respect_vcs: bool = True
    allow_secrets: bool = False
    results: Results = field(default_factory=Results)
    answering: Answering | None = None
    indexing_timeout_seconds: float | None = 1800.0
    scan_interval_seconds: float = 900.0
    max_file_size_bytes: int = 20 * 1024 * 1024
    max_tokens_per_run: int | None = None

    def strategy(self, name: str) -> StrategySpec:
        """The strategy called ``name``; ``KeyError`` when there is none."""
        return next(strategy for strategy in self.strategies if strategy.name == name)

    @property
    def pipeline_hash(self) -> str:
        """16 hexadecimal digits over everything that shapes stored data; query-time settings are not in it."""
        shape = {
            "form": STORED_FORM_VERSION,
            "strategies": [_shape_of(strategy) for strategy in sorted(self.strategies, key=lambda s: s.name)],
        }
        if self.allow_secrets:  # what is not allowed any more must not stay stored
            shape["allow_secrets"] = True
        return hashlib.sha256(json.dumps(shape, sort_keys=True).encode()).hexdigest()[:16]

    @property
    def selection_hash(self) -> str:
        """16 hexadecimal digits over everything that decides which files belong to which strategy, wherever the base folder is."""
        selection = {
            "roots": self._without_base_folder(self.roots),
            "respect_vcs": self.respect_vcs,
            "allow_secrets": self.allow_secrets,
            "max_file_size_bytes": self.max_file_size_bytes,
            "strategies": {one.name: (self._without_base_folder(one.roots), one.respect_vcs) for one in self.strategies},
        }
        return hashlib.sha256(json.dumps(selection, sort_keys=True).encode()).hexdigest()[:16]

    def _without_base_folder(self, roots: Sequence[str]) -> list[str]:
        """Hosts may have their documents at different places; what lies outside the base folder has the same path everywhere."""
        folder = str(self.base_folder).rstrip("/")
        prefix = re.compile(f"^(!?)(?:{re.escape(folder)}|{re.escape(glob.escape(folder))})(?=/|$)")
        return [prefix.sub(r"\1.", root) for root in roots]


def _shape_of(strategy: StrategySpec) -> dict[str, object]:
    shape: dict[str, object] = {
        "name": strategy.name,
        "kind": strategy.kind.value,
        "chunking": asdict(strategy.chunking),
    }
    if strategy.embedding_shape is not None:
        shape["embedding"] = strategy.embedding_shape
    return shape
