"""Front matter: the metadata block at the top of a Markdown file, YAML between ``---``, TOML between ``+++``, or a JSON object."""

import json
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
_MOST_CHARACTERS: Final = 65_536
_MOST_KEYS: Final = 100
_MOST_ITEMS: Final = 100
_MOST_KEY_CHARACTERS: Final = 100
_MOST_VALUE_CHARACTERS: Final = 1000
_DEEPEST: Final = 4
_INT64: Final = 2**63
#: Larger numbers are not written out.
_MOST_DIGITS_BITS: Final = 1024
_KEY: Final = re.compile(r"[A-Za-z_][\w .-]{0,60}")
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
    """The front matter of ``text``; an empty one when there is none, or when it cannot be read: then it is body text.

    Of a block that is nearly right, such as one with a title in which there is a colon, the lines that say ``key: value`` are read.
    """
    if text.startswith("{"):
        return _read_json(text)
    if not text.startswith(("---", "+++")):
        return FrontMatter()
    block = _BLOCK.match(text[: _MOST_CHARACTERS + 1])
    if block is None or block.end() > _MOST_CHARACTERS:
        return FrontMatter()
    values = _parse_yaml(block[2]) if block[1] else _parse_toml(block[4])
    if values is None:
        values = _lines_with_keys(block[2] or block[4], ":" if block[1] else "=")
    return FrontMatter() if values is None else _front_matter(values, block.end())


def _front_matter(values: Mapping[Any, Any], end: int) -> FrontMatter:
    metadata = metadata_of(values)
    title = values.get("title")
    return FrontMatter(metadata, " ".join(str(title).split()) if isinstance(title, str | int | float) else "", end)


def _read_json(text: str) -> FrontMatter:
    try:
        values, end = json.JSONDecoder().raw_decode(text[:_MOST_CHARACTERS])
    except (ValueError, RecursionError):
        return FrontMatter()
    line_end = text.find("\n", end)
    line_end = len(text) if line_end < 0 else line_end + 1
    return _front_matter(values, line_end) if isinstance(values, dict) and not text[end:line_end].strip() else FrontMatter()


def metadata_of(values: Mapping[Any, Any]) -> dict[str, MetadataValue]:
    """What a format says about a document, as both stores can hold it: bounded in number and length, nested mappings flattened."""
    return dict(_limited(_flattened(values, "", 1)))


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


def _lines_with_keys(text: str, separator: str) -> dict[str, str] | None:
    """The plain values of a block that is no valid YAML or TOML; None when it does not look as if it were meant as such."""
    values: dict[str, str] = {}
    for line in text.split("\n"):
        key, found, value = line.partition(separator)
        if not line.strip() or line[0] in " \t#" or line.startswith("- "):
            continue
        if not found or not _KEY.fullmatch(key.strip()):
            return None
        plain = value.strip().strip("\"'")
        if plain and plain[0] not in "&*[{|>!":
            values[key.strip()] = plain
    return values or None


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
    if isinstance(value, int):
        return str(value) if value.bit_length() <= _MOST_DIGITS_BITS else None
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, str | float):
        return str(value).replace("\0", " ").strip()[:_MOST_VALUE_CHARACTERS]
    return None


def _limited(items: Iterator[tuple[str, MetadataValue]]) -> Iterator[tuple[str, MetadataValue]]:
    return ((key[:_MOST_KEY_CHARACTERS].replace("\0", " "), value) for key, value in islice(items, _MOST_KEYS))
