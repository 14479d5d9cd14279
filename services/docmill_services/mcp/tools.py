"""Tools: what an agent can ask of docmill, and how each is answered."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final
from urllib.parse import quote

import mcp_types as types
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from docmill.domain.knowledge_bases import KnowledgeBase
from docmill_services.mcp.asking import Asker, Refused
from docmill_services.mcp.texts import BUDGET_CHARACTERS, answer_text, lines_text, results_text, status_text, within_budget

_READ_ONLY: Final = types.ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
_RESULTS: Final = 8
#: In a tool's metadata: the knowledge base that it is for.
_KNOWLEDGE_BASE: Final = "docmill/knowledge_base"


class _Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class SearchArguments(_Arguments):
    """What to search for."""

    query: Annotated[str, Field(min_length=1, max_length=32_768)] = Field(description="Words, identifiers, or a question; no query syntax.")
    limit: Annotated[int, Field(ge=1, le=50)] = Field(_RESULTS, description="How many results at most.")
    path_glob: Annotated[str, Field(max_length=1000)] | None = Field(
        None, description="Only documents whose path matches, such as docs/**/*.md."
    )
    language: Annotated[str, Field(max_length=100)] | None = Field(None, description="Only this language: `python`, or `de` for prose.")


class AskArguments(_Arguments):
    """What to answer."""

    question: Annotated[str, Field(min_length=1, max_length=32_768)] = Field(description="A question, in any language.")


class ReadArguments(_Arguments):
    """Which lines of which document to read."""

    knowledge_base: Annotated[str, Field(min_length=1, max_length=200)]
    document_id: Annotated[str, Field(min_length=1, max_length=10_000)] = Field(description="As search results give it.")
    start_line: Annotated[int, Field(ge=1)] = Field(1, description="The first line to read.")
    end_line: Annotated[int, Field(ge=1)] | None = Field(None, description="The last line to read; as many as fit when left out.")


class StatusArguments(_Arguments):
    """Of what."""

    knowledge_base: Annotated[str, Field(min_length=1, max_length=200)] | None = Field(None, description="All of them when left out.")


class NoArguments(_Arguments):
    """None."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool with what answers it: given checked arguments, the structured result and its text."""

    definition: types.Tool
    arguments: type[_Arguments]
    answer: Callable[[Any], Awaitable[tuple[dict[str, Any], str]]]


class Tools:
    """The tools of one service."""

    def __init__(self, asker: Asker, knowledge_bases: Sequence[KnowledgeBase], *, shows_all: bool) -> None:
        """Asks nothing yet.

        Args:
            asker: asks for whoever uses the tools.
            knowledge_bases: those that are configured now.
            shows_all: whether that one may know their names also while the service does not say which of them it may see.
        """
        self._asker = asker
        self._knowledge_bases = knowledge_bases
        self._shows_all = shows_all

    async def listed(self) -> list[types.Tool]:
        """The tools that can be called now: a knowledge base has its own once it can be searched."""
        tools, states, _ = await self._tools()
        unready = {name for name, state in states.items() if not _is_ready(state)}
        return [tool.definition for tool in tools.values() if (tool.definition.meta or {}).get(_KNOWLEDGE_BASE) not in unready]

    async def call(self, name: str, arguments: Mapping[str, Any]) -> types.CallToolResult:
        """What a tool answers; what goes wrong is a result too, which says so, since a model can do something about it."""
        try:
            tools, _, unseen = await self._tools()
            tool = tools.get(name)
            if tool is None:
                raise unseen or Refused(f"there is no tool {name[:100]!r}; there are: {', '.join(tools)}")
            structured, text = await tool.answer(tool.arguments.model_validate(dict(arguments)))
        except Refused as refused:
            return _failure(str(refused))
        except ValidationError as error:
            problems = "; ".join(f"{'.'.join(map(str, one['loc']))[:100] or 'arguments'}: {one['msg']}" for one in error.errors()[:10])
            return _failure(f"{name[:100]}: {problems}")
        return types.CallToolResult(content=[types.TextContent(type="text", text=text)], structured_content=structured)

    async def _tools(self) -> tuple[dict[str, Tool], Mapping[str, Mapping[str, Any]], Refused | None]:
        """The tools for the knowledge bases that may be seen, by name; how each of those stands; and why nobody says which may be seen."""
        try:
            states = {one["name"]: one for one in (await self._asker.get("/v1/knowledge-bases"))["knowledge_bases"]}
        except Refused as refused:  # each call will say why it cannot be answered
            return self._for(self._knowledge_bases if self._shows_all else ()), {}, refused
        return self._for([one for one in self._knowledge_bases if one.name in states]), states, None

    def _for(self, knowledge_bases: Sequence[KnowledgeBase]) -> dict[str, Tool]:
        tools = [self._list(), self._status(), self._read()]
        for knowledge_base in knowledge_bases:
            tools.append(self._search(knowledge_base))
            if knowledge_base.answering is not None:
                tools.append(self._ask(knowledge_base))
        named: dict[str, Tool] = {}
        for tool in tools:
            name = tool.definition.name
            while name in named:
                name = f"{name}_search"
            named[name] = Tool(tool.definition.model_copy(update={"name": name}), tool.arguments, tool.answer)
        return named

    def _search(self, kb: KnowledgeBase) -> Tool:
        async def answer(wanted: SearchArguments) -> tuple[dict[str, Any], str]:
            filters = {"path_glob": wanted.path_glob, "language": wanted.language}
            body: dict[str, Any] = {"query": wanted.query, "limit": wanted.limit, "include_score": True, "return_full_content": False}
            if given := {key: value for key, value in filters.items() if value is not None}:
                body["filter"] = given
            found = await self._asker.post(f"{_of(kb.name)}/search", body)
            results, left_out = within_budget(found["results"])
            found = {**found, "results": results}
            return {**found, "left_out": left_out, "untrusted": True}, results_text(found, left_out)

        about = kb.tool_description or f"Searches the documents of {kb.name}{f': {kb.description}' if kb.description else ''}."
        description = f"{about} Finds passages by meaning and by words.{f' {kb.tool_instruction}' if kb.tool_instruction else ''}"
        return _tool(kb.tool_name or kb.name, description, SearchArguments, answer, kb=kb.name)

    def _ask(self, kb: KnowledgeBase) -> Tool:
        async def answer(wanted: AskArguments) -> tuple[dict[str, Any], str]:
            found = await self._asker.post(f"{_of(kb.name)}/answer", {"question": wanted.question})
            return {**found, "untrusted": True}, answer_text(found)

        about = f" ({kb.description})" if kb.description else ""
        description = f"Answers a question from the documents of {kb.name}{about}, with citations; says so when they do not answer it."
        return _tool(f"ask_{kb.name}", description, AskArguments, answer, kb=kb.name)

    def _read(self) -> Tool:
        async def answer(wanted: ReadArguments) -> tuple[dict[str, Any], str]:
            if {".", ".."} & set(wanted.document_id.split("/")):  # no id has such a part, and URLs are made without them
                raise Refused(f"no document {wanted.document_id[:200]!r} in knowledge base {wanted.knowledge_base!r}")
            where = f"{_of(wanted.knowledge_base)}/documents/{quote(wanted.document_id, safe='/')}"
            found = await self._asker.get(where)
            if found.get("text") is None:
                raise Refused(f"the text of {wanted.document_id[:200]!r} cannot be had: {found.get('reason') or found['state']}")
            lines = _lines(found, wanted)
            return {**lines, "untrusted": True}, lines_text(lines)

        description = "Reads a document, or lines of it, as it is now. Search results say which document and which lines."
        return _tool("read_document", description, ReadArguments, answer)

    def _list(self) -> Tool:
        async def answer(_: NoArguments) -> tuple[dict[str, Any], str]:
            found = (await self._asker.get("/v1/knowledge-bases"))["knowledge_bases"]
            shown = [{"name": one["name"], "description": one["description"], "state": one["state"]} for one in found]
            return {"knowledge_bases": shown}, status_text(found)

        return _tool("list_knowledge_bases", "Lists what can be searched.", NoArguments, answer)

    def _status(self) -> Tool:
        async def answer(wanted: StatusArguments) -> tuple[dict[str, Any], str]:
            if wanted.knowledge_base is None:
                found = (await self._asker.get("/v1/knowledge-bases"))["knowledge_bases"]
            else:
                found = [await self._asker.get(_of(wanted.knowledge_base))]
            return {"knowledge_bases": found}, status_text(found)

        return _tool("index_status", "Says how complete and how fresh the index is.", StatusArguments, answer)


def _tool(
    name: str,
    description: str,
    arguments: type[_Arguments],
    answer: Callable[[Any], Awaitable[tuple[dict[str, Any], str]]],
    *,
    kb: str | None = None,
) -> Tool:
    schema = arguments.model_json_schema()
    schema.pop("title", None)
    schema.pop("description", None)
    definition = types.Tool(
        name=name,
        description=description,
        input_schema=schema,
        output_schema={"type": "object"},
        annotations=_READ_ONLY,
        _meta=None if kb is None else {_KNOWLEDGE_BASE: kb},
    )
    return Tool(definition, arguments, answer)


def _failure(message: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=message)], is_error=True)


def _is_ready(state: Mapping[str, Any] | None) -> bool:
    return state is not None and (state["documents"]["live"] > 0 or state["state"] == "ready")


def _of(knowledge_base: str) -> str:
    return f"/v1/knowledge-bases/{quote(knowledge_base, safe='')}"


def _lines(document: Mapping[str, Any], wanted: ReadArguments) -> dict[str, Any]:
    """The lines that are wanted, as many as fit; at least one, which is cut where it alone does not fit."""
    lines = document["text"].split("\n")
    if wanted.start_line > len(lines):
        raise Refused(f"{wanted.document_id[:200]!r} has {len(lines)} lines")
    last = min(wanted.end_line or len(lines), len(lines))
    if last < wanted.start_line:
        raise Refused("end_line is before start_line")
    taken: list[str] = []
    room = BUDGET_CHARACTERS
    for line in lines[wanted.start_line - 1 : last]:
        if taken and len(line) + 1 > room:
            break
        taken.append(line[:room])
        room -= len(line) + 1
    end = wanted.start_line + len(taken) - 1
    return {
        "document_id": document["document_id"],
        "title": document.get("title"),
        "start_line": wanted.start_line,
        "end_line": end,
        "lines": len(lines),
        "next_line": end + 1 if end < last else None,
        "stale": document["stale"],
        "text": "\n".join(taken),
    }
