"""Bodies of requests. Unknown fields, wrong types, NaN and infinities are errors."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from docmill.domain.chunks import ChunkFilter
from docmill.domain.searching import SearchRequest

_Name = Annotated[str, Field(max_length=200)]
_Value = Annotated[str, Field(max_length=1000)]


class Body(BaseModel):
    """A request body; nothing is converted and nothing unknown is ignored."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


class FilterBody(Body):
    """Which documents a search may find; conditions are joined by "and"."""

    path_glob: str | None = Field(None, description="The document id matches it: `*` within a folder, `**` across folders.")
    path_prefix: str | None = Field(None, description="The document id begins with it.")
    language: _Name | None = Field(
        None, description="The programming language of code, such as `python`, or the natural one of prose, such as `en`."
    )
    mime: _Name | None = Field(None, description="The media type.")
    metadata: (
        Annotated[dict[_Name, _Value | int | float | bool | Annotated[list[_Value], Field(max_length=100)]], Field(max_length=50)] | None
    ) = Field(None, description="Keys with the value each must have, or contain where the stored value is a list.")

    def to_domain(self) -> ChunkFilter:
        """The filter that stores understand."""
        return ChunkFilter(self.path_prefix, self.path_glob, self.language, self.mime, dict(self.metadata or {}))


class SearchBody(Body):
    """A search over one knowledge base; what is left out is as the knowledge base is configured."""

    query: str = Field(description="Any text of 1 to 32,768 characters; there is no query syntax.")
    limit: int | None = Field(None, description="How many results at most, 1 to 1000.")
    strategies: Annotated[list[_Name], Field(max_length=100)] | None = Field(None, description="Names of the strategies to ask.")
    filter: FilterBody | None = None
    rerank: bool | None = Field(None, description="`false` leaves out the configured reranking; `true` is refused where there is none.")
    include_score: bool | None = None
    return_full_content: bool | None = Field(None, description="`text` is the whole document.")
    explain: bool | None = Field(None, description="Each result says where each strategy placed it.")

    def to_domain(self) -> SearchRequest:
        """The request that a searcher understands."""
        return SearchRequest(
            query=self.query,
            limit=self.limit,
            strategies=None if self.strategies is None else tuple(self.strategies),
            filter=ChunkFilter() if self.filter is None else self.filter.to_domain(),
            rerank=self.rerank,
            include_score=self.include_score,
            return_full_content=self.return_full_content,
            explain=bool(self.explain),
        )


class AnswerBody(Body):
    """A question."""

    question: str = Field(description="1 to 32,768 characters, in any language; the answer comes in the same.")
    stream: bool = Field(False, description="Whether the answer comes as server-sent events while it is written.")
    strategies: Annotated[list[_Name], Field(max_length=100)] | None = Field(None, description="Names of the strategies to ask.")
    filter: FilterBody | None = None
    rerank: bool | None = Field(None, description="`false` leaves out the configured reranking; `true` is refused where there is none.")

    def to_domain(self) -> SearchRequest:
        """The search that finds its passages."""
        return SearchRequest(
            query=self.question,
            strategies=None if self.strategies is None else tuple(self.strategies),
            filter=ChunkFilter() if self.filter is None else self.filter.to_domain(),
            rerank=self.rerank,
            return_full_content=False,
        )


class SearchSeveralBody(SearchBody):
    """A search over several knowledge bases."""

    knowledge_bases: Annotated[list[_Name], Field(max_length=100)] | None = Field(None, description="Their names; all when left out.")


class KeyBody(Body):
    """A key to make."""

    name: Annotated[str, Field(min_length=1, max_length=200)] = Field(description="What it is for, for people.")
    right: Literal["read", "write", "admin"] = Field("read", description="`write` may also start and end runs; `admin` may do everything.")
    knowledge_bases: Annotated[list[_Name], Field(min_length=1, max_length=1000)] | None = Field(
        None, description="Only these; all of them, also those to come, when left out."
    )
    expires_in_seconds: Annotated[float, Field(gt=0, le=10**10)] | None = Field(None, description="Never when left out.")
    requests_per_minute: Annotated[int, Field(ge=1, le=10**9)] | None = Field(None, description="Unbounded when left out.")


class RetryBody(Body):
    """Which documents to try again."""

    document_ids: Annotated[list[_Value], Field(min_length=1, max_length=1000)] | None = Field(
        None, description="Those of them that failed or are quarantined; all such documents when left out."
    )


class VerifyBody(Body):
    """How to verify."""

    repair: bool = Field(False, description="Whether what is wrong is planned again or removed.")
