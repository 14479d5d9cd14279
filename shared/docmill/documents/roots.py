"""Roots: the files, folders and globs that a configuration names, and whether one is there to be scanned."""

# Paths are bytes here, which pathlib does not take.

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from docmill.documents.identity import folder_prefix_of
from docmill.documents.patterns import compiled, entry_regex
from docmill.domain.errors import RootUnavailable

_WILD: Final = re.compile(rb"[*?\[{\\]")
_BRACES: Final = re.compile(rb"\{([^{}]*)\}")
_MOST_ALTERNATIVES: Final = 1000


@dataclass(frozen=True, slots=True)
class Glob:
    """The part of a glob from its first wildcard on; paths are relative to the folder before it.

    Attributes:
        entry: matches what the glob names: a file's path, or a folder's with a ``/`` at its end.
        parents: one expression for each depth from 1 to the first ``**``: the folders, with a ``/``, in which something may match.
        any_depth: whether there is a ``**``.
    """

    entry: re.Pattern[bytes]
    parents: tuple[re.Pattern[bytes], ...]
    any_depth: bool

    def may_match_in(self, folder: bytes) -> bool:
        """Whether something in ``folder`` (a path with a ``/`` at its end) may match, given that its parents passed this test."""
        depth = folder.count(b"/")
        return bool(self.parents[depth - 1].match(folder)) if depth <= len(self.parents) else self.any_depth


@dataclass(frozen=True, slots=True)
class Root:
    """What one entry of ``docs`` covers: a file, a folder with all in it, or what matches a glob, matching folders with all in them.

    Attributes:
        text: as it is configured.
        start: the file or folder; for a glob, the last folder before the first wildcard.
    """

    text: str
    start: bytes
    glob: Glob | None

    def names(self, path: bytes) -> bool:
        """Whether ``path``, with a ``/`` at its end for a folder, is itself what this root names."""
        if self.glob is None:
            return path.removesuffix(b"/") == self.start
        prefix = folder_prefix_of(self.start)
        return path.startswith(prefix) and self.glob.entry.match(path[len(prefix) :]) is not None


@dataclass(frozen=True, slots=True)
class RootIdentity:
    """Which folder a root is; another one mounted in its place differs."""

    device: int
    inode: int


def root_identity(path: bytes) -> RootIdentity:
    """The identity of the root at ``path``.

    Raises:
        RootUnavailable: it is missing, cannot be read, is empty, or is neither a file nor a folder.
    """
    name = os.fsdecode(path)
    try:
        status = os.stat(path)
        if stat.S_ISDIR(status.st_mode):
            with os.scandir(path) as entries:
                if next(entries, None) is None:
                    raise RootUnavailable(f"{name} is empty; if its files were moved or are not mounted yet, nothing of it is removed")
        elif not stat.S_ISREG(status.st_mode):
            raise RootUnavailable(f"{name} is neither a file nor a folder")
    except OSError as error:
        raise RootUnavailable(f"{name} cannot be read: {error.strerror}") from error
    return RootIdentity(status.st_dev, status.st_ino)


def parse_root(text: str) -> Iterator[Root]:
    """The roots that one configured entry means, without its leading ``!``: several when it has ``{a,b}``.

    A path that exists is that file or folder, whatever characters are in its name.
    """
    path = b"/" + os.path.normpath(os.fsencode(text)).lstrip(b"/")
    if _WILD.search(path) is None or os.path.lexists(path):
        yield Root(text, path, None)
        return
    for alternative in expand_braces(path):
        wild = _WILD.search(alternative)
        if wild is None:
            yield Root(text, alternative, None)
            continue
        cut = alternative.rfind(b"/", 0, wild.start())
        glob = _parse_glob(alternative[cut + 1 :])
        if glob is not None:
            yield Root(text, alternative[:cut] or b"/", glob)


def expand_braces(pattern: bytes) -> list[bytes]:
    """``a.{b,c}`` as ``a.b`` and ``a.c``, nested and repeated ones too; at most a thousand, else the braces stay as they are."""
    patterns, done = [pattern], set[bytes]()
    while patterns:
        current = patterns.pop()
        braces = _BRACES.search(current)
        if braces is None:
            done.add(current)
            continue
        patterns += [current[: braces.start()] + alternative + current[braces.end() :] for alternative in braces[1].split(b",")]
        if len(patterns) + len(done) > _MOST_ALTERNATIVES:
            return [pattern]
    return sorted(done)


def _parse_glob(pattern: bytes) -> Glob | None:
    entry = entry_regex(pattern)
    if entry is None:
        return None
    parts = pattern.split(b"/")
    fixed = parts.index(b"**") if b"**" in parts else len(parts) - 1
    parents = [entry_regex(b"/".join(parts[:depth]) + b"/") for depth in range(1, fixed + 1)]
    return Glob(compiled([entry]), tuple(compiled([parent or b"(?!)"]) for parent in parents), b"**" in parts)
