"""Parses source code with the grammars that are installed; bounded in size and in work."""

import time
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

from docmill.chunking.syntax.languages import LANGUAGES

if TYPE_CHECKING:
    from tree_sitter import Language, Point, Tree

#: Larger files are hardly written by hand.
MOST_CHARACTERS: Final = 500_000
_READ_BYTES: Final = 65_536
#: tree-sitter reports every hundred steps of the parser, of which files as people write them take one for 100 bytes or more. One that
#: takes many more keeps several readings of its text open, and each of them takes memory.
_BYTES_PER_REPORT: Final = 50
_LEAST_REPORTS: Final = 2_000
#: For scanners of a grammar that take quadratic time within one step, which no count of steps bounds.
_MOST_CPU_SECONDS: Final = 10.0


@dataclass(frozen=True, slots=True)
class Parsed:
    """A syntax tree, and the bytes whose places its nodes name."""

    tree: "Tree"
    source: bytes


def parse(text: str, language: str) -> Parsed | None:
    """The syntax of ``text``, which may hold errors.

    None where the language is not known, its grammar is not installed, or the text is too large or takes too much work.
    """
    if language not in LANGUAGES or len(text) > MOST_CHARACTERS:
        return None
    content = text.encode("utf-8", "replace")
    first: Parsed | None = None
    for grammar in LANGUAGES[language].grammars:
        loaded = _loaded(grammar)
        tree = None if loaded is None else _parsed(content, loaded)
        if tree is not None and not tree.root_node.has_error:
            return Parsed(tree, content)
        if first is None and tree is not None:
            first = Parsed(tree, content)
    return first


@cache
def _loaded(grammar: str) -> "Language | None":
    """The grammar ``module:function``; None where it is not installed."""
    module, function = grammar.split(":")
    if find_spec("tree_sitter") is None or find_spec(module) is None:
        return None
    from tree_sitter import Language

    return Language(getattr(import_module(module), function)())


def _parsed(content: bytes, language: "Language") -> "Tree | None":
    from tree_sitter import Parser

    reports = _LEAST_REPORTS + len(content) // _BYTES_PER_REPORT
    until = time.thread_time() + _MOST_CPU_SECONDS

    def read(place: int, _point: "Point") -> bytes:
        return content[place : place + _READ_BYTES]

    def is_too_much(_place: int, _has_error: bool) -> bool:
        nonlocal reports
        reports -= 1
        return reports < 0 or time.thread_time() > until

    try:
        return Parser(language).parse(read, progress_callback=is_too_much)
    except ValueError:
        return None  # it was given up
