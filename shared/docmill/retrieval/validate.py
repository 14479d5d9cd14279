"""Says whether a search can be answered as it was put."""

import unicodedata
from collections.abc import Collection
from typing import Final

from docmill.domain.errors import QueryInvalid
from docmill.domain.searching import SearchRequest

MAX_QUERY_CHARACTERS: Final = 32_768
MAX_LIMIT: Final = 1_000
MAX_FILTER_CHARACTERS: Final = 4_096


def check_request(request: SearchRequest, strategies: Collection[str]) -> None:
    """Raises ``QueryInvalid`` for a request that cannot be answered; the message says which bound it breaks.

    Args:
        request: what is asked; any characters are allowed in the query, there is no query syntax.
        strategies: the names that the knowledge base has.
    """
    check_query(request.query)
    if request.limit is not None and not 1 <= request.limit <= MAX_LIMIT:
        raise QueryInvalid(f"limit is {request.limit}; it must be from 1 to {MAX_LIMIT}")
    if request.strategies is not None:
        _check_strategies(request.strategies, strategies)
    for name, text in (("path_prefix", request.filter.path_prefix), ("path_glob", request.filter.path_glob)):
        if text is not None and len(text) > MAX_FILTER_CHARACTERS:
            raise QueryInvalid(f"filter.{name} has {len(text)} characters; at most {MAX_FILTER_CHARACTERS} are allowed")


def check_query(query: str) -> None:
    """Raises ``QueryInvalid`` for a query that is blank, too long, or no text."""
    if len(query) > MAX_QUERY_CHARACTERS:
        raise QueryInvalid(f"the query has {len(query)} characters; at most {MAX_QUERY_CHARACTERS} are allowed: ask for less at once")
    if not any(_is_visible(character) for character in query):
        raise QueryInvalid("the query is empty: it needs at least one visible character")
    if any("\ud800" <= character <= "\udfff" for character in query):
        raise QueryInvalid("the query is not text: it has a lone surrogate")


def _check_strategies(asked: tuple[str, ...], known: Collection[str]) -> None:
    if not asked:
        raise QueryInvalid("strategies is an empty list: name at least one, or leave it out to ask all")
    unknown = [name for name in asked if name not in known]
    if unknown:
        raise QueryInvalid(f"no strategy is called {unknown[0][:100]!r}; there are: {', '.join(sorted(known))}")
    if len(set(asked)) < len(asked):
        raise QueryInvalid("strategies names one strategy twice")


def _is_visible(character: str) -> bool:
    return not character.isspace() and unicodedata.category(character) not in ("Cc", "Cf", "Cn", "Cs")
