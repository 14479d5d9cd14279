"""The YAML as it may be written: keys, types and ranges, before defaults and references are filled in.

Every field may be absent (None); what is required, and what depends on other keys, is checked where the domain's values are
built, so that one pass can report every problem of a file.
"""

from typing import Annotated, Any, Final

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, JsonValue, WithJsonSchema

from docmill.config.quantities import parse_duration, parse_size
from docmill.domain.knowledge_bases import ChunkingStrategy, FusionKind, Similarity, StrategyKind

MIN_CHUNK_SIZE: Final = 16
MAX_CHUNK_SIZE: Final = 1_000_000
MAX_DIMENSIONS: Final = 65_536
MAX_STRATEGIES: Final = 64
MAX_RERANKING_STAGES: Final = 8
NAME_PATTERN: Final = "[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
TOOL_NAME_PATTERN: Final = "[A-Za-z0-9_.-]{1,128}"


def _duration(value: object) -> object:
    if isinstance(value, str):
        return parse_duration(value)
    if value is None or (value == 0 and not isinstance(value, bool)):
        return value
    raise ValueError(f"must be a duration with its unit, such as `30m`, not {_shown(value)}")


def _size(value: object) -> object:
    return parse_size(value) if isinstance(value, str) else value


def _shown(value: object) -> str:
    return f"`{value}`" if isinstance(value, int | float | str) else "a list or mapping"


def _other_spelling(spellings: dict[str, str]) -> BeforeValidator:
    return BeforeValidator(lambda value: spellings.get(value, value) if isinstance(value, str) else value)


_DURATION_SCHEMA: Final[dict[str, Any]] = {"type": "string", "examples": ["30m", "1h30m", "0s"]}
_SIZE_SCHEMA: Final[dict[str, Any]] = {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "string"}], "examples": ["20MB", 1_000_000]}

Seconds = Annotated[float, BeforeValidator(_duration), WithJsonSchema(_DURATION_SCHEMA)]
Bytes = Annotated[int, BeforeValidator(_size), Field(ge=1, le=2**40), WithJsonSchema(_SIZE_SCHEMA)]
Text = Annotated[str, Field(strict=True)]
Count = Annotated[int, Field(ge=1, le=2**53)]
Limit = Annotated[int, Field(ge=1, le=10_000)]


def _key(description: str, default: str | float | None = None, **more: Any) -> Any:
    """A key that may be absent; ``default`` is what is then used, for the JSON Schema and the reference."""
    extra: dict[str, JsonValue] | None = {"default": default} if default is not None else None
    return Field(default=None, description=description, json_schema_extra=extra, **more)


def _or_one(schema: dict[str, Any]) -> None:
    """A list may also be written as its one element."""
    schema["anyOf"] = [schema["anyOf"][0]["items"], *schema["anyOf"]]


class RawSection(BaseModel):
    """A mapping of the YAML: no unknown keys, no conversions between types."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False, protected_namespaces=())


class RawTool(RawSection):
    """How the knowledge base presents itself as a tool."""

    name: Text | None = _key("The tool's name; the knowledge base's when absent.", pattern=f"^{TOOL_NAME_PATTERN}$")
    description: Text | None = _key("What can be found with it.")
    instruction: Text | None = _key("How it is best used.")


class RawChunking(RawSection):
    """How documents are cut; sizes in characters."""

    size: int | None = _key("The longest chunk, in characters; 4000 with `code_aware`.", 1500, ge=MIN_CHUNK_SIZE, le=MAX_CHUNK_SIZE)
    overlap: int | None = _key("Characters that a chunk repeats of the one before; less than `size`.", 75, ge=0, le=MAX_CHUNK_SIZE)
    code_aware: bool | None = _key("Cut source code between functions and classes.", False)
    respect_word_boundaries: bool | None = _key("Never cut inside a word.", True)
    prepend_headings: bool | None = _key("Overrides the knowledge base's for this strategy.")
    strategy: Annotated[ChunkingStrategy, Field(strict=False)] | None = _key(
        "By what documents are cut: `auto` by headings, blocks and syntax; `text` knows none of them.", ChunkingStrategy.AUTO.value
    )


class RawStrategy(RawSection):
    """One retrieval strategy; which keys apply depends on its `type`."""

    model_config = ConfigDict(json_schema_extra={"required": ["type"]})

    type: Annotated[StrategyKind, Field(strict=False)] | None = _key("What kind of strategy it is.")
    name: Text | None = _key("Unique in the knowledge base; its type when absent.", pattern=f"^{NAME_PATTERN}$")
    docs: list[Text] | None = _key("Documents of this strategy alone, beside those of the knowledge base.")
    respect_vcs: bool | None = _key("Overrides the knowledge base's for this strategy.")
    limit: Limit | None = _key("How many candidates it gives to the fusion.", 5)
    threshold: float | None = _key("The least score of a candidate, on the strategy's own scale.")
    chunking: RawChunking | None = _key("How documents are cut for it.")
    database: Text | None = _key("Read for compatibility; docmill keeps all its data in the data folder.")
    max_indexing_concurrency: Count | None = _key("Documents of this knowledge base in work at once, over all workers.")
    embedding_model: Text | None = _key("A reference to the embedding model.")
    vector_dimensions: int | None = _key("The length of the model's vectors.", ge=1, le=MAX_DIMENSIONS)
    similarity_metric: (
        Annotated[
            Similarity,
            Field(strict=False),
            _other_spelling({"cosine": Similarity.COSINE, "dot": Similarity.DOT_PRODUCT}),
        ]
        | None
    ) = _key("How two vectors are compared.", Similarity.COSINE.value)
    embedding_batch_size: int | None = _key("Chunks in one embedding request.", 50, ge=1, le=2048)
    max_embedding_concurrency: Count | None = _key("Embedding requests at once, over all workers.")
    chat_model: Text | None = _key("A reference to the model that writes the summaries.")
    semantic_prompt: Text | None = _key("The prompt for one summary; docmill's own when absent.")
    ast_context: bool | None = _key("Tell the model where in its document the chunk stands.", False)
    k1: float | None = _key("BM25's term frequency saturation.", 1.5, gt=0, le=1000)
    b: float | None = _key("BM25's length normalisation.", 0.75, ge=0, le=1)


class RawFusion(RawSection):
    """How the strategies' candidates become one list."""

    strategy: Annotated[FusionKind, Field(strict=False), _other_spelling({"reciprocal_rank_fusion": FusionKind.RRF})] | None = _key(
        "`rrf`, `weighted` or `max`.", FusionKind.RRF.value
    )
    k: int | None = _key("RRF's rank constant.", 60, ge=1, le=1_000_000)
    weights: dict[str, Annotated[float, Field(ge=0, le=1_000_000)]] | None = _key("For `weighted`: a weight for each strategy, by name.")


class RawReranking(RawSection):
    """Scoring what was found once more, with a model; or a floor under the scores that it has."""

    model: Text | None = _key("A reference to the model; needed where there is no `score_floor`.")
    top_k: Annotated[int, Field(ge=0, le=10_000)] | None = _key("How many hits are scored; the results' `limit` when absent or 0.")
    threshold: float | None = _key("The least score that is kept.", 0.5, ge=0, le=1)
    criteria: Text | None = _key("What makes a passage relevant here, in words.")
    score_floor: float | None = _key("Instead of a model: the share of the best hit's score that is needed to be kept.", ge=0, le=1)


class RawResults(RawSection):
    """What happens to candidates after retrieval."""

    fusion: RawFusion | None = _key("How the strategies' candidates become one list.")
    reranking: Annotated[list[RawReranking], Field(max_length=MAX_RERANKING_STAGES)] | None = Field(
        default=None,
        description="Scoring what was found once more, with a model; a list of several is done in order.",
        json_schema_extra=_or_one,
    )
    deduplicate: bool | None = _key("Keep one of several equal passages.", True)
    limit: Limit | None = _key("How many results a search gives.", 15)
    include_score: bool | None = _key("Results carry their score.", False)
    return_full_content: bool | None = _key("Results carry their whole document.", False)


class RawAnswer(RawSection):
    """Answers written from what was found."""

    model_config = ConfigDict(json_schema_extra={"required": ["model"]})

    model: Text | None = _key("A reference to the model.")
    min_score: float | None = _key("Below this best score the question is declined.")
    passages: Annotated[int, Field(ge=1, le=100)] | None = _key("How many passages the model is given.", 8)
    budget_chars: Annotated[int, Field(ge=500, le=10_000_000)] | None = _key("Characters of all passages together.", 12_000)


class RawKnowledgeBase(RawSection):
    """One entry under `rag:`."""

    model_config = ConfigDict(json_schema_extra={"required": ["strategies"]})

    docs: list[Text] | None = _key("Files, folders and patterns, for all strategies.")
    description: Text | None = _key("What the knowledge base holds.")
    tool: RawTool | None = _key("How the knowledge base presents itself as a tool.")
    respect_vcs: bool | None = _key("Leave out what `.gitignore` leaves out.", True)
    allow_secrets: bool | None = _key("Index files that look like credentials, too.", False)
    max_file_size: Bytes | None = _key("Larger files of text are skipped; PDF, Office files and others may be ten times as large.", "20MB")
    prepend_headings: bool | None = _key("Chunks begin with the headings that they stand under.", True)
    indexing_timeout: Seconds | None = _key("The longest time of one indexing run; `0s` is none.", "30m")
    scan_interval: Seconds | None = _key("The time between full scans while watching.", "15m")
    max_tokens_per_run: Count | None = _key("A run stops when it has embedded so many tokens.")
    strategies: list[RawStrategy] | None = _key("The retrieval strategies; at least one.", min_length=1, max_length=MAX_STRATEGIES)
    results: RawResults | None = _key("What happens to candidates after retrieval.")
    answer: RawAnswer | None = _key("Answers written from what was found.")


class RawPrice(RawSection):
    """US dollars for a million tokens."""

    input: float | None = _key("For what is sent.", 0, ge=0)
    output: float | None = _key("For what is written.", 0, ge=0)


class RawModel(RawSection):
    """One entry under `models:`."""

    model_config = ConfigDict(extra="ignore", json_schema_extra={"required": ["provider", "model"], "additionalProperties": True})

    provider: Text | None = _key("A built-in provider, or an entry under `providers:`.")
    model: Text | None = _key("The provider's name of the model.")
    base_url: Text | None = _key("Where the provider is, if not where it always is.")
    token_key: Text | None = _key("The environment variable that holds the credential.")
    headers: dict[str, Text] | None = _key("More HTTP headers of every request; `${NAME}` stands for an environment variable.")
    requests_per_minute: Count | None = _key("The provider's limit on requests.")
    tokens_per_minute: Count | None = _key("The provider's limit on tokens.")
    price: RawPrice | Annotated[float, Field(ge=0)] | None = _key("US dollars for a million tokens; a number is the `input` price.")
    max_tokens: Count | None = _key("The longest answer of a chat model.")
    temperature: float | None = _key("The randomness of a chat model.", ge=0)


class RawProvider(RawSection):
    """One entry under `providers:`: an OpenAI-compatible endpoint."""

    model_config = ConfigDict(extra="ignore", json_schema_extra={"required": ["base_url"], "additionalProperties": True})

    api_type: Text | None = _key("Which of OpenAI's interfaces it has.", "openai_chatcompletions")
    base_url: Text | None = _key("Where it is.")
    token_key: Text | None = _key("The environment variable that holds the credential; none is sent when absent.")
    headers: dict[str, Text] | None = _key("More HTTP headers of every request; `${NAME}` stands for an environment variable.")


class RawConfiguration(BaseModel):
    """docmill's configuration; sections that are not named here belong to other programs and are ignored."""

    model_config = ConfigDict(json_schema_extra={"required": ["rag"], "additionalProperties": True})

    models: dict[str, RawModel] = Field(default_factory=dict, description="Named models.")
    providers: dict[str, RawProvider] = Field(default_factory=dict, description="Named OpenAI-compatible endpoints.")
    rag: dict[str, RawKnowledgeBase] = Field(default_factory=dict, description="The knowledge bases, by name.")


#: Sections that are read; all others are ignored.
SECTIONS: Final = frozenset(RawConfiguration.model_fields)

#: Keys of a model entry that are made for chat programs; ignored in silence.
CHAT_KEYS: Final = frozenset(
    {
        "top_p",
        "frequency_penalty",
        "presence_penalty",
        "parallel_tool_calls",
        "provider_opts",
        "track_usage",
        "thinking_budget",
        "routing",
        "name",
        "description",
        "fallback",
        "api_type",
    }
)

_EMBEDDING_KEYS: Final = frozenset(
    {
        "embedding_model",
        "vector_dimensions",
        "similarity_metric",
        "embedding_batch_size",
        "max_embedding_concurrency",
    }
)
_SEMANTIC_KEYS: Final = frozenset({"chat_model", "semantic_prompt", "ast_context"})
_BM25_KEYS: Final = frozenset({"k1", "b"})

#: Keys of a strategy that have no meaning for its type.
KEYS_WITHOUT_MEANING: Final = {
    StrategyKind.CHUNKED_EMBEDDINGS: _SEMANTIC_KEYS | _BM25_KEYS,
    StrategyKind.SEMANTIC_EMBEDDINGS: _BM25_KEYS,
    StrategyKind.BM25: _EMBEDDING_KEYS | _SEMANTIC_KEYS,
}

#: Keys that files made for other programs carry in a strategy, and what they evidently mean.
OTHER_NAMES: Final = {"batch_size": "embedding_batch_size", "model": "embedding_model"}
#: Keys that belong to an agent's reference to a knowledge base and say nothing about it.
REFERENCE_KEYS: Final = frozenset({"ref", "type"})
