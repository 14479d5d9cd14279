"""What embedding models want before a query and before a passage: they were trained with it, and find worse without.

Each is from the model's own description. A provider that has a parameter for it (a task type, an input type) is asked by that instead.
"""

import re
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Prefixes:
    """Put before a query and before a passage, as they stand."""

    query: str = ""
    passage: str = ""


NO_PREFIXES: Final = Prefixes()

_INSTRUCTION: Final = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"
_GEMMA: Final = Prefixes("task: search result | query: ", "title: none | text: ")
_SENTENCE: Final = Prefixes("Represent this sentence for searching relevant passages: ")

#: By a model's name, whatever repository, file or tag it is named with; the first that matches.
_FAMILIES: Final = (
    (re.compile(r"rerank"), NO_PREFIXES),
    (re.compile(r"embedding-?gemma"), _GEMMA),
    (re.compile(r"gemini-embedding-2"), _GEMMA),
    (re.compile(r"nomic-embed-code"), Prefixes("Represent this query for searching relevant code: ")),
    (re.compile(r"nomic-embed-text"), Prefixes("search_query: ", "search_document: ")),
    (re.compile(r"\be5-.*instruct"), Prefixes(_INSTRUCTION + " ")),
    (re.compile(r"\be5-(small|base|large)"), Prefixes("query: ", "passage: ")),
    (re.compile(r"qwen3-embedding"), Prefixes(_INSTRUCTION)),
    (re.compile(r"\bbge-(small|base|large)-zh"), Prefixes("为这个句子生成表示以用于检索相关文章：")),
    (re.compile(r"\bbge-(small|base|large)"), _SENTENCE),
    (re.compile(r"mxbai-embed-(large|xsmall)"), _SENTENCE),
    (re.compile(r"snowflake-arctic-embed(2|-[ml]-v2)"), Prefixes("query: ")),
    (re.compile(r"snowflake-arctic-embed"), _SENTENCE),
)


def prefixes_of(model: str) -> Prefixes:
    """What the model called ``model`` by its provider wants."""
    name = model.lower().replace("_", "-")
    return next((prefixes for family, prefixes in _FAMILIES if family.search(name)), NO_PREFIXES)
