"""The entries of ``docs``: what is a path, what is a pattern, and what each stands for."""

import glob
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from docmill.domain.knowledge_bases import KnowledgeBase

EXCLUDES: Final = "!"
_PATTERN_CHARACTERS: Final = frozenset("*?[")
_MAX_ALTERNATIVES: Final = 1000
_MAX_BRACES: Final = 32
_MAX_LENGTH: Final = 4096


def is_pattern(root: str) -> bool:
    """Whether a root is a glob rather than the path of one file or folder; what exists under exactly that name is no glob."""
    path = root.removeprefix(EXCLUDES)
    return _has_pattern_characters(path) and not os.path.lexists(path)


def _has_pattern_characters(path: str) -> bool:
    return any(character in _PATTERN_CHARACTERS for character in path)


def resolve_roots(entries: Iterable[str], base_folder: Path) -> tuple[str, ...]:
    """Absolute roots for the entries of one ``docs`` list, in their order, each once.

    ``~`` is the home folder, anything else that is relative stands in ``base_folder``; ``{a,b}`` becomes one root for each
    alternative; a leading ``!`` is kept.

    Raises:
        ValueError: what an entry cannot be.
    """
    roots: dict[str, None] = {}
    for entry in entries:
        roots.update(dict.fromkeys(_resolve(entry, base_folder)))
    return tuple(roots)


def _resolve(entry: str, base_folder: Path) -> Iterator[str]:
    mark = EXCLUDES if entry.startswith(EXCLUDES) else ""
    path = entry.removeprefix(EXCLUDES)
    if not path.strip():
        raise ValueError("must name a file, a folder or a pattern")
    if any(character < " " or character == "\x7f" for character in path):
        raise ValueError("must not hold control characters")
    if len(path) > _MAX_LENGTH:
        raise ValueError(f"must not be longer than {_MAX_LENGTH} characters")
    for alternative in expand_braces(path):
        yield mark + _absolute(alternative, base_folder)


def _absolute(path: str, base_folder: Path) -> str:
    if path == "~" or path.startswith("~/"):
        path = os.path.expanduser(path)  # a Path would drop the pattern's meaning of `./`
    base = glob.escape(str(base_folder)) if _has_pattern_characters(path) else str(base_folder)
    joined = os.path.normpath(os.path.join(base, path))  # patterns are text, not paths
    return "/" + joined.lstrip("/")


def expand_braces(pattern: str) -> list[str]:
    """``a.{md,txt}`` as ``a.md`` and ``a.txt``; nested and repeated braces too. Braces without a comma stand for themselves.

    Raises:
        ValueError: more than a thousand alternatives or 32 braces.
    """
    if pattern.count("{") > _MAX_BRACES:
        raise ValueError(f"has more than {_MAX_BRACES} braces")
    done: list[str] = []
    waiting = [(pattern, 0)]
    while waiting:
        text, start = waiting.pop()
        group = _first_group(text, start)
        if group is None:
            done.append(text)
        else:
            opening, closing, alternatives = group
            waiting.extend((text[:opening] + alternative + text[closing + 1 :], opening) for alternative in reversed(alternatives))
        if len(done) + len(waiting) > _MAX_ALTERNATIVES:
            raise ValueError(f"stands for more than {_MAX_ALTERNATIVES} alternatives")
    return done


def _first_group(text: str, start: int) -> tuple[int, int, list[str]] | None:
    for opening in (index for index in range(start, len(text)) if text[index] == "{"):
        depth, last, alternatives = 0, opening + 1, []
        for index in range(opening, len(text)):
            character = text[index]
            depth += (character == "{") - (character == "}")
            if character == "," and depth == 1:
                alternatives.append(text[last:index])
                last = index + 1
            if depth == 0:
                if alternatives:
                    return opening, index, [*alternatives, text[last:index]]
                break
    return None


def merge_roots(shared: Sequence[str], own: Sequence[str]) -> tuple[str, ...]:
    """The roots of a strategy that adds ``own`` documents to those that the knowledge base shares."""
    return tuple(dict.fromkeys((*shared, *own)))


def roots_of(kb: KnowledgeBase) -> list[str]:
    """All entries of ``docs`` that are no exclusions, each once."""
    roots = dict.fromkeys(root for roots in (kb.roots, *(strategy.roots for strategy in kb.strategies)) for root in roots)
    return [root for root in roots if not root.startswith(EXCLUDES)]


def missing_roots(kb: KnowledgeBase) -> list[str]:
    """The files and folders of ``docs`` that are not there; patterns and exclusions never count as missing."""
    # Path.exists raises for what may not be looked at.
    return [root for root in roots_of(kb) if not is_pattern(root) and not os.path.exists(root)]
