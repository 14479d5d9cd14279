"""Entities that an XML document declares for itself: names of products, versions and the like."""

import re
from collections.abc import Mapping
from typing import Final

_SUBSET: Final = re.compile(r"<!DOCTYPE\s[^<>\[]{0,2000}\[")
_SUBSET_END: Final = re.compile(r"\]\s*>")
#: Those that are plain text: one that holds others could grow without bounds, one from outside the file is not read.
_ENTITY: Final = re.compile(r"""<!ENTITY\s{1,100}([A-Za-z_][\w.-]{0,100})\s{1,100}(?:"([^"<%]{0,1000})"|'([^'<%]{0,1000})')\s{0,100}>""")
_CHARACTER: Final = re.compile(r"&(?:amp|apos|gt|lt|quot|#\d{1,7}|#x[0-9A-Fa-f]{1,6});")
_REFERENCE: Final = re.compile(r"&([A-Za-z_][\w.-]{0,100});")
_MOST_ADDED: Final = 1_000_000
#: What XML declares itself.
_PREDEFINED: Final = frozenset(["amp", "apos", "gt", "lt", "quot"])


def with_entities(text: str) -> str:
    """The text with what the entities stand for that it declares as plain text; lines stay as they are."""
    subset = _SUBSET.search(text, 0, 10_000)
    end = None if subset is None else _SUBSET_END.search(text, subset.end())
    if subset is None or end is None:
        return text
    declared: dict[str, str] = {}
    for entity in _ENTITY.finditer(text, subset.end(), end.start()):
        value = " ".join((entity[2] or entity[3] or "").split())
        if entity[1] not in _PREDEFINED and "&" not in _CHARACTER.sub("", value):
            declared.setdefault(entity[1], value.replace('"', "&quot;").replace("'", "&apos;"))
    return text[: end.end()] + _replaced(text[end.end() :], declared) if declared else text


def _replaced(content: str, declared: Mapping[str, str]) -> str:
    added = 0

    def value(match: re.Match[str]) -> str:
        nonlocal added
        found = declared.get(match[1])
        if found is None or added > _MOST_ADDED:
            return match[0]
        added += len(found)
        return found

    return _REFERENCE.sub(value, content)
