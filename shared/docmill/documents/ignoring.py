"""Ignore files: ``.gitignore``, ``.git/info/exclude`` and ``.docmillignore``, with git's rules."""

# Paths are bytes here, which pathlib does not take.

import os
import re
import stat
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from docmill.documents.identity import escaped
from docmill.documents.patterns import compiled, entry_regex

GIT_RULES: Final = b".gitignore"
OWN_RULES: Final = b".docmillignore"

_UTF8_BOM: Final = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Rule:
    """What decided that a file is not indexed.

    Attributes:
        file: the ignore file's path; "" for a rule of the configuration or one that is built in.
        line: its line, from 1; 0 where there is none.
        pattern: as it is written there.
    """

    file: str
    line: int
    pattern: str


@dataclass(frozen=True, slots=True)
class _Pattern:
    negated: bool
    regex: re.Pattern[bytes]
    rule: Rule


class IgnoreFile:
    """The patterns of one ignore file. The last one that matches an entry decides."""

    def __init__(self, content: bytes, file: str) -> None:
        by_name: list[bytes] = []
        by_path: list[bytes] = []
        self._patterns: list[_Pattern] = []
        for number, line in enumerate(content.removeprefix(_UTF8_BOM).split(b"\n"), start=1):
            pattern = _without_trailing_spaces(line.removesuffix(b"\r"))
            if not pattern or pattern.startswith(b"#"):
                continue
            negated = pattern.startswith(b"!")
            bare = pattern.removeprefix(b"!")
            anchored = b"/" in bare.removesuffix(b"/")
            regex = entry_regex(bare.removeprefix(b"/"))
            if regex is None:
                continue
            (by_path if anchored else by_name).append(regex)
            whole = regex if anchored else b"(?:.*/)?(?:" + regex.removeprefix(b"^") + b")"
            self._patterns.append(_Pattern(negated, compiled([whole]), Rule(file, number, escaped(pattern))))
        self._any_name = compiled(by_name).match if by_name else None
        self._any_path = compiled(by_path).match if by_path else None

    def __bool__(self) -> bool:
        return bool(self._patterns)

    def decide(self, name: bytes, path: bytes) -> tuple[bool, Rule] | None:
        """Whether the entry is ignored and by which rule; None when no pattern matches it.

        Args:
            name: the entry's name, with a ``/`` at the end for a folder.
            path: its path relative to the ignore file's folder, likewise.
        """
        if not ((self._any_name and self._any_name(name)) or (self._any_path and self._any_path(path))):
            return None
        for pattern in reversed(self._patterns):
            if pattern.regex.match(path):
                return not pattern.negated, pattern.rule
        return None


def read_ignore_file(path: bytes) -> IgnoreFile | None:
    """The ignore file at ``path``; None when there is none, it is no regular file, or it has no pattern.

    In a folder that may not be entered there is none either: nothing else in it can be read.

    Raises:
        OSError: it is there and cannot be read.
    """
    try:
        status = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return None
    if not stat.S_ISREG(status.st_mode):
        return None
    try:
        rules = _parsed(path, status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino)
    except (FileNotFoundError, NotADirectoryError):
        return None
    return rules or None


@lru_cache(maxsize=4096)
def _parsed(path: bytes, *_signature: int) -> IgnoreFile:
    with open(path, "rb") as file:
        return IgnoreFile(file.read(), os.fsdecode(path))


def info_exclude_of(prefix: bytes) -> bytes | None:
    """The path of ``info/exclude`` of the repository whose root is a folder; None when the folder is not the root of one.

    The ``.git`` of a worktree or a submodule is a file that names another folder.

    Args:
        prefix: the folder's path with a ``/`` at the end.

    Raises:
        OSError: ``.git`` is there and cannot be read.
    """
    git = prefix + b".git"
    try:
        mode = os.stat(git).st_mode
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return None
    try:
        if stat.S_ISDIR(mode):
            return git + b"/info/exclude"
        own = _first_line(git) if stat.S_ISREG(mode) else b""
        if not own.startswith(b"gitdir: "):
            return None
        folder = os.path.join(prefix, own.removeprefix(b"gitdir: "))
        common = os.path.join(folder, b"commondir")
        shared = _first_line(common) if os.path.exists(common) else b""
    except (FileNotFoundError, NotADirectoryError):
        return None
    return os.path.normpath(os.path.join(folder, shared, b"info/exclude"))


def _first_line(path: bytes) -> bytes:
    with open(path, "rb") as file:
        return file.read(4096).split(b"\n", 1)[0].rstrip(b"\r")


def _without_trailing_spaces(line: bytes) -> bytes:
    if not line.endswith(b" "):
        return line
    place = end = 0
    while place < len(line):
        step = 2 if line[place] == 0x5C else 1
        if line[place] != 0x20:
            end = place + step
        place += step
    return line[:end]
