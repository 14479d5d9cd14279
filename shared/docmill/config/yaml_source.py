"""Reads YAML text into plain values, and remembers at which line and column each of them stands."""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import yaml
from yaml.constructor import SafeConstructor
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from docmill.domain.errors import ConfigurationError

#: Keys and list indexes that lead from the top of the file to a value.
YamlPath = tuple[str | int, ...]
#: What YAML text becomes: text, numbers, booleans, None, and lists and mappings of them.
YamlValue = None | bool | int | float | str | list["YamlValue"] | dict[str, "YamlValue"]

MAX_FILE_BYTES: Final = 1024 * 1024
#: Aliases repeat what they name, so a short text can stand for billions of values.
MAX_VALUES: Final = 50_000
MAX_DEPTH: Final = 64

_TAG = "tag:yaml.org,2002:"
_TEXT_TAGS: Final = frozenset({f"{_TAG}str", f"{_TAG}timestamp", f"{_TAG}value"})
_EXPONENT: Final = re.compile(r"[-+]?[0-9]+(\.[0-9]*)?[eE][-+]?[0-9]+")
_MAX_NUMBER_LENGTH: Final = 400


@dataclass(frozen=True, slots=True)
class Position:
    """A place in the file; both count from 1, columns in characters."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Place:
    """Where a value stands; ``key`` is where its key stands, or the value itself in a list."""

    key: Position
    value: Position


@dataclass(frozen=True, slots=True)
class Mistake:
    """Something that is wrong at a position; nothing was read for ``path``."""

    path: YamlPath
    position: Position
    message: str


@dataclass(frozen=True, slots=True)
class YamlSource:
    """A file's top-level mapping, where each value stands, and what could not be read (duplicate keys, unknown tags)."""

    file: str
    values: Mapping[str, YamlValue]
    places: Mapping[YamlPath, Place]
    mistakes: tuple[Mistake, ...]

    def place(self, path: YamlPath) -> Place:
        """Where ``path`` stands, or the nearest value above it that stands in the file."""
        while path and path not in self.places:
            path = path[:-1]
        return self.places.get(path, Place(Position(1, 1), Position(1, 1)))


def read_yaml(file: str, raw: bytes, sections: frozenset[str]) -> YamlSource:
    """The top-level mapping of YAML text; only the values of ``sections`` are looked into.

    Raises:
        ConfigurationError: not UTF-8 or UTF-16, not YAML, not one mapping, nested or repeated beyond bounds.
    """
    text = _decode(file, raw)
    root = _compose(file, text)
    if root is None or root.tag == f"{_TAG}null":
        raise _refusal(file, Position(1, 1), "the file is empty; it needs a `rag:` section")
    if not isinstance(root, MappingNode):
        raise _refusal(file, _position_of(root.start_mark), "the file must be a mapping with a `rag:` section at its top")
    return _Reader(file, sections).read(root)


def _compose(file: str, text: str) -> Node | None:
    loader: _BoundedLoader | None = None
    try:
        loader = _BoundedLoader(text)
        root: Node | None = loader.get_single_node()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise _refusal(file, _position_of(mark), f"this is not YAML: {_sentence(error)}") from error
    except yaml.reader.ReaderError as error:
        before = text[: error.position]
        position = Position(before.count("\n") + 1, len(before) - before.rfind("\n"))
        raise _refusal(file, position, f"this is not YAML: {error.reason}") from error
    except (ValueError, OverflowError) as error:  # PyYAML lets them through for escapes beyond Unicode and absurd version numbers
        mark = None if loader is None else loader.get_mark()
        raise _refusal(file, _position_of(mark), f"this is not YAML: {error}") from error
    return root


def _decode(file: str, raw: bytes) -> str:
    encoding = "utf-16" if raw.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError as error:
        before = raw[: error.start]
        position = Position(before.count(b"\n") + 1, len(before) - before.rfind(b"\n"))
        raise _refusal(file, position, "the file is not UTF-8 text") from error
    return text


def _position_of(mark: yaml.Mark | None) -> Position:
    return Position(1, 1) if mark is None else Position(mark.line + 1, mark.column + 1)


def _refusal(file: str, position: Position, message: str) -> ConfigurationError:
    return ConfigurationError(f"{file}:{position.line}:{position.column}: {message}")


def _sentence(error: yaml.MarkedYAMLError) -> str:
    parts = (part for part in (error.context, error.problem) if part)
    sentence = " ".join(", ".join(parts).split())
    if "'\\t'" in sentence:
        sentence += "; indent with spaces"
    return sentence or "it cannot be parsed"


class _BoundedLoader(yaml.SafeLoader):
    """Refuses nesting that would exhaust the interpreter's stack."""

    depth = 0

    def compose_node(self, parent: Node | None, index: int) -> Node | None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]  # the stubs leave it untyped
            raise yaml.composer.ComposerError(None, None, f"nested more than {MAX_DEPTH} levels deep", mark)
        node: Node | None = super().compose_node(parent, index)
        self.depth -= 1
        return node


class _Reader:
    """Turns nodes into values. Keys stay the text they are in the file, so that `on` or `2026` can name something."""

    def __init__(self, file: str, sections: frozenset[str]) -> None:
        self.file = file
        self.sections = sections
        self.places: dict[YamlPath, Place] = {}
        self.mistakes: list[Mistake] = []
        self.values_read = 0

    def read(self, root: MappingNode) -> YamlSource:
        self.places[()] = Place(_position_of(root.start_mark), _position_of(root.start_mark))
        values: dict[str, YamlValue] = {}
        for key, key_node, value_node in self._entries(root, ()):
            self.places[(key,)] = Place(_position_of(key_node.start_mark), _position_of(value_node.start_mark))
            values[key] = self._value(value_node, (key,), (root,)) if key in self.sections else None
        return YamlSource(self.file, values, self.places, tuple(self.mistakes))

    def _value(self, node: Node, path: YamlPath, above: tuple[Node, ...]) -> YamlValue:
        self.values_read += 1
        if self.values_read > MAX_VALUES:
            raise _refusal(self.file, _position_of(node.start_mark), f"aliases make more than {MAX_VALUES:,} values of this file")
        if len(above) > MAX_DEPTH or any(node is ancestor for ancestor in above):
            self._mistake(path, node, "aliases must not nest without end")
            return None
        if isinstance(node, ScalarNode):
            return self._scalar(node, path)
        within = (*above, node)
        if isinstance(node, SequenceNode):
            return self._sequence(node, path, within)
        if isinstance(node, MappingNode):
            return self._mapping(node, path, within)
        raise TypeError(f"a YAML node of kind {type(node).__name__}")

    def _sequence(self, node: SequenceNode, path: YamlPath, within: tuple[Node, ...]) -> YamlValue:
        values: list[YamlValue] = []
        for index, item in enumerate(node.value):
            at = _position_of(item.start_mark)
            self.places[(*path, index)] = Place(at, at)
            values.append(self._value(item, (*path, index), within))
        return values

    def _mapping(self, node: MappingNode, path: YamlPath, within: tuple[Node, ...]) -> YamlValue:
        values: dict[str, YamlValue] = {}
        for key, key_node, value_node in self._entries(node, path):
            self.places[(*path, key)] = Place(_position_of(key_node.start_mark), _position_of(value_node.start_mark))
            values[key] = self._value(value_node, (*path, key), within)
        return values

    def _entries(self, node: MappingNode, path: YamlPath) -> Iterator[tuple[str, Node, Node]]:
        """Each key once: a mapping's own keys in their order, then those that `<<` merges into it."""
        seen: set[str] = set()
        merged: list[Node] = []
        for key_node, value_node in node.value:
            if key_node.tag == f"{_TAG}merge":
                merged.append(value_node)
            elif not isinstance(key_node, ScalarNode):
                self._mistake(path, key_node, "a key must be plain text")
            elif key_node.value in seen:
                self._mistake((*path, key_node.value), key_node, f"the key `{key_node.value}` is there twice")
            else:
                seen.add(key_node.value)
                yield key_node.value, key_node, value_node
        for value_node in merged:
            for key, key_node, value in self._merged(value_node, path, (node,)):
                if key not in seen:
                    seen.add(key)
                    yield key, key_node, value

    def _merged(self, node: Node, path: YamlPath, above: tuple[Node, ...]) -> Iterator[tuple[str, Node, Node]]:
        self.values_read += 1
        if any(node is ancestor for ancestor in above) or len(above) > MAX_DEPTH or self.values_read > MAX_VALUES:
            self._mistake(path, node, "`<<` must not merge a mapping into itself")
        elif isinstance(node, MappingNode):
            for key_node, value_node in node.value:
                if key_node.tag == f"{_TAG}merge":
                    yield from self._merged(value_node, path, (*above, node))
                elif isinstance(key_node, ScalarNode):
                    yield key_node.value, key_node, value_node
        elif isinstance(node, SequenceNode):
            for item in node.value:
                yield from self._merged(item, path, (*above, node))
        else:
            self._mistake(path, node, "`<<` merges mappings only")

    def _scalar(self, node: ScalarNode, path: YamlPath) -> YamlValue:
        text: str = node.value
        if any(0xD800 <= ord(character) <= 0xDFFF for character in text):
            self._mistake(path, node, "this text has half of a surrogate pair in it, which is no character")
            return None
        if node.style is None and _EXPONENT.fullmatch(text):
            return float(text) if len(text) <= _MAX_NUMBER_LENGTH else math.inf
        if node.tag in _TEXT_TAGS:
            return text
        if node.tag == f"{_TAG}null":
            return None
        if node.tag in (f"{_TAG}bool", f"{_TAG}int", f"{_TAG}float"):
            return self._plain(node, path)
        self._mistake(path, node, f"the tag `{node.tag}` is not supported")
        return None

    def _plain(self, node: ScalarNode, path: YamlPath) -> YamlValue:
        if ":" in node.value:  # YAML 1.1 reads 1:30 as 90; nobody means that
            return str(node.value)
        if len(node.value) > _MAX_NUMBER_LENGTH:
            self._mistake(path, node, "this number is too long")
            return None
        try:
            value = _construct(node)
        except (ValueError, KeyError, IndexError):
            self._mistake(path, node, f"`{node.value}` is not what its tag `{node.tag}` says")
            return None
        return value

    def _mistake(self, path: YamlPath, node: Node, message: str) -> None:
        self.mistakes.append(Mistake(path, _position_of(node.start_mark), message))


def _construct(node: ScalarNode) -> YamlValue:
    value = SafeConstructor().construct_object(node)
    if isinstance(value, bool | int | float):
        return value
    raise ValueError(node.value)


def read_file(path: Path) -> bytes:
    """The bytes of a configuration file.

    Raises:
        ConfigurationError: it is a folder, cannot be read or is larger than ``MAX_FILE_BYTES``.
        FileNotFoundError: there is no such file.
    """
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_FILE_BYTES + 1)
    except IsADirectoryError as error:
        raise ConfigurationError(f"{path}: this is a folder; a YAML file was expected") from error
    except FileNotFoundError:
        raise
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ConfigurationError(f"{path}: cannot be read: {reason}") from error
    if len(raw) > MAX_FILE_BYTES:
        raise ConfigurationError(f"{path}: larger than {MAX_FILE_BYTES:,} bytes, so it is no configuration file")
    return raw
