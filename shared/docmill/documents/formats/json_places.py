"""Where the strings of a JSON text stand in it."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import Any, Final

_STRING: Final = re.compile(r'"(?:[^"\\]++|\\.)*+"')
_NEWLINE: Final = re.compile(r"\n")


class StringLines:
    """The lines, from 1, on which the strings of a JSON text begin.

    Args:
        text: valid JSON.
        value: what ``json.loads`` makes of it; strings are looked up by what holds them.
    """

    def __init__(self, text: str, value: Any) -> None:
        self._breaks = [match.start() for match in _NEWLINE.finditer(text)]
        self._places = _places(text, value)

    def line_of(self, holder: object, key: str | int) -> int:
        """The line of the string that ``holder`` has at ``key``; 1 where that is not known."""
        place = self._places.get((id(holder), key))
        return 1 if place is None else bisect_right(self._breaks, place) + 1


def _places(text: str, value: Any) -> dict[tuple[int, str | int], int]:
    """Nothing where keys are repeated, so that strings and values do not match."""
    tokens = (match.start() for match in _STRING.finditer(text))
    places: dict[tuple[int, str | int], int] = {}
    walks: list[tuple[object, Iterator[tuple[str | int, Any]]]] = [(None, iter([(0, value)]))]
    while walks:
        holder, walk = walks[-1]
        for key, child in walk:
            if isinstance(holder, dict) and next(tokens, None) is None:
                return {}
            if isinstance(child, str):
                place = next(tokens, None)
                if place is None:
                    return {}
                places[id(holder), key] = place
            elif isinstance(child, dict):
                walks.append((child, iter(child.items())))
                break
            elif isinstance(child, list):
                walks.append((child, iter(enumerate(child))))
                break
        else:
            walks.pop()
    return places if next(tokens, None) is None else {}
