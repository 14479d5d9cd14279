"""Front matter: the metadata block at the top of a Markdown file, YAML between ``---`` or TOML between ``+++``."""

import math
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, time
from itertools import islice
from typing import Any, Final

import yaml

from docmill.domain.documents import MetadataValue

_BLOCK: Final = re.compile(
    r"(---)[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)|(\+\+\+)[ \t]*\n(.*?)^\+\+\+[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE
)
_MOST_CHARACTERS: Final = 32_768
_MOST_KEYS: Final = 100
_MOST_ITEMS: Final = 100
_MOST_KEY_CHARACTERS: Final = 100
_MOST_VALUE_CHARACTERS: Final = 1000
_DEEPEST: Final = 4
_INT64: Final = 2**63
_MAYBE_ALIAS: Final = re.compile(r"(?:^|[\s\[{,:-])\*[^\s*]", re.MULTILINE)
_FAST_LOADER: Final = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _NoAliasLoader(yaml.SafeLoader):
    """Refuses aliases: merged again and again, they grow without bound."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("aliases are not read")
        return super().compose_node(parent, index)


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What the block says.

    Attributes:
        metadata: flattened: the keys of nested mappings are joined by dots.
        title: its ``title``, "" when it has none.
        end: how many characters of the text it takes.
    """

    metadata: Mapping[str, MetadataValue] = field(default_factory=dict)
    title: str = ""
    end: int = 0


def read_front_matter(text: str) -> FrontMatter:
    """The front matter of ``text``; an empty one when there is none, or when it cannot be read: then it is body text."""
    if not text.startswith(("---", "+++")):
        return FrontMatter()
    block = _BLOCK.match(text[: _MOST_CHARACTERS + 1])
    if block is None or block.end() > _MOST_CHARACTERS:
        return FrontMatter()
    values = _parse_yaml(block[2]) if block[1] else _parse_toml(block[4])
    if values is None:
        return FrontMatter()
    metadata = dict(_limited(_flattened(values, "", 1)))
    title = values.get("title")
    return FrontMatter(metadata, " ".join(str(title).split()) if isinstance(title, str | int | float) else "", block.end())


def _parse_yaml(text: str) -> dict[Any, Any] | None:
    try:
        values = yaml.load(text, Loader=_NoAliasLoader if _MAYBE_ALIAS.search(text) else _FAST_LOADER)
    except (yaml.YAMLError, ValueError, TypeError, OverflowError, RecursionError):
        return None
    if values is None:
        return {}
    return values if isinstance(values, dict) else None


def _parse_toml(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, ValueError, RecursionError):
        return None


def _flattened(values: Mapping[Any, Any], prefix: str, depth: int) -> Iterator[tuple[str, MetadataValue]]:
    for key, value in values.items():
        name = f"{prefix}{key}"
        if isinstance(value, dict):
            if depth < _DEEPEST:
                yield from _flattened(value, f"{name}.", depth + 1)
        elif isinstance(value, list | set | tuple):
            items = [_scalar(item) for item in list(value)[:_MOST_ITEMS]]
            yield name, [str(item) for item in items if item is not None]
        else:
            scalar = _scalar(value)
            if scalar is not None:
                yield name, scalar


def _scalar(value: object) -> str | int | float | bool | None:
    """A value that both stores can hold; None for what has none."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int) and -_INT64 <= value < _INT64:
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, str | float):
        return str(value).replace("\0", " ").strip()[:_MOST_VALUE_CHARACTERS]
    return None


def _limited(items: Iterator[tuple[str, MetadataValue]]) -> Iterator[tuple[str, MetadataValue]]:
    return ((key[:_MOST_KEY_CHARACTERS].replace("\0", " "), value) for key, value in islice(items, _MOST_KEYS))
