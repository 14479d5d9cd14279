"""Which files belong to a knowledge base, to which of its strategies, and why the others do not.

One set of rules serves the scan, which walks from folder to folder and prunes, the watcher, and the explanation of a single path: a single
path is judged by walking down to it. In this order:

1. what a root with ``!`` names is out;
2. a file that is named as a root is in;
3. the data folder, version control's folders, caches, editors' temporary files, and (unless ``allow_secrets``) secrets are out;
4. what ``.docmillignore`` says, and where it says nothing and ``respect_vcs`` holds, what git's ignore files say.

A folder that is named as a root, or in which a glob starts, is entered even where a rule would hide it; the rules hold again inside. Links
in a root are not followed: what they lead to belongs when it lies in a root itself.
"""

# Paths are bytes here, which pathlib does not take.

import os
import stat
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from docmill.documents.covers import Cover, scopes_of
from docmill.documents.denied_names import leftover_pattern, secret_pattern
from docmill.documents.identity import folder_prefix_of
from docmill.documents.ignore_chain import IgnoreChain, chain_above, parents_of
from docmill.documents.ignoring import GIT_RULES, OWN_RULES, Rule
from docmill.domain.errors import DocumentSkipped, SkipReason
from docmill.domain.knowledge_bases import KnowledgeBase

#: A change of a file of one of these names may change what is selected.
RULE_FILES: Final = (GIT_RULES, OWN_RULES)


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a file is not indexed.

    Attributes:
        reason: the kind, stable.
        rule: what decided it, where it was a rule.
        detail: one sentence for people.
    """

    reason: SkipReason
    rule: Rule | None
    detail: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """The strategies that index a file, in the configuration's order; when there are none, why."""

    strategies: tuple[str, ...]
    refusal: Refusal | None = None

    @property
    def selected(self) -> bool:
        """Whether any strategy indexes it."""
        return bool(self.strategies)


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder on a walk, with the rules that hold for what is in it.

    Attributes:
        prefix: its path with a ``/`` at the end.
    """

    prefix: bytes
    covers: tuple[Cover, ...]
    ignore: IgnoreChain

    @property
    def path(self) -> bytes:
        """Its path."""
        return self.prefix[:-1] or b"/"

    def listed(self, names: Container[bytes] | None) -> "Folder":
        """The folder with the rules of its own ignore files.

        Args:
            names: what is in it, so that nothing is looked up in vain; None to look.

        Raises:
            OSError: an ignore file is there and cannot be read.
        """
        ignore = self.ignore.with_rules_in(self.prefix, names)
        return self if ignore is self.ignore else replace(self, ignore=ignore)


class Selection:
    """Which files belong to ``kb``. Ignore files are read when they are needed, and again when they change.

    Attributes:
        starts: the paths to walk from, sorted: every root lies in one of them, none of them in another.
        root_paths: the start of each root, sorted: what must be there for a scan to be complete.

    Args:
        data_folder: where the stores are, never indexed; None when they are elsewhere.
    """

    def __init__(self, kb: KnowledgeBase, data_folder: Path | None) -> None:
        self._base_folder = os.fsencode(kb.base_folder)
        self._allow_secrets = kb.allow_secrets
        self._strategy_names = tuple(strategy.name for strategy in kb.strategies)
        scopes = scopes_of(kb)
        self._covers_at: dict[bytes, tuple[Cover, ...]] = {}
        for scope in scopes:
            for root in scope.roots:
                self._covers_at[root.start] = (*self._covers_at.get(root.start, ()), Cover(scope, root, whole=root.glob is None))
        self.root_paths: tuple[bytes, ...] = tuple(sorted(self._covers_at))
        nested = {path for path in self.root_paths if any(_is_in(path, other) for other in self.root_paths)}
        self.starts: tuple[bytes, ...] = tuple(path for path in self.root_paths if path not in nested)
        self._data_folders = frozenset() if data_folder is None else _paths_of(os.path.abspath(os.fsencode(data_folder)), self.starts)
        self._on_the_way = {parent for path in nested for parent in parents_of(path)}

    def enter(self, start: bytes) -> Folder:
        """The folder ``start``, one of ``starts``; ``Folder.listed`` adds the rules of its own ignore files.

        Raises:
            OSError: an ignore file above it cannot be read.
        """
        return Folder(folder_prefix_of(start), self._covers_at[start], chain_above(start, self._base_folder))

    def child(self, folder: Folder, name: bytes) -> Folder | None:
        """The folder ``name`` in ``folder``, which is listed; None when nothing in it can belong."""
        covers = self._judge_folder(folder, name)
        path = folder.prefix + name
        if isinstance(covers, Refusal):
            if path not in self._on_the_way:
                return None
            covers = ()
        return Folder(path + b"/", covers, folder.ignore)

    def takes(self, folder: Folder, name: bytes) -> bool:
        """Whether the regular file ``name`` in ``folder``, which is listed, belongs to any strategy."""
        return isinstance(self._judge_file(folder, name), tuple)

    def pass_over(self, folder: Folder, names: Sequence[bytes]) -> None:
        """Is told of what a walk meets in ``folder``, which is listed, that is neither a file nor a folder; nothing of it can belong."""

    def strategies_for(self, path: bytes) -> tuple[str, ...]:
        """The strategies that index the file at ``path`` (absolute), whether it is there or not; none when it is not selected.

        Raises:
            DocumentSkipped: an ignore file may not be read, so that nobody knows.
            OSError: the disk or the mount failed.
        """
        verdict = self._by_rules(path)
        if verdict.refusal is not None and verdict.refusal.reason is SkipReason.UNREADABLE:
            raise DocumentSkipped(SkipReason.UNREADABLE, verdict.refusal.detail)
        return verdict.strategies

    def verdict(self, path: bytes) -> Verdict:
        """Whether the file at ``path`` (absolute) is indexed, and why not; what is no regular file is not.

        Raises:
            OSError: the disk or the mount failed.
        """
        verdict = self._by_rules(path)
        named = any(cover.root.glob is None for cover in self._covers_at.get(path, ()))
        try:
            mode = (os.stat(path) if named else os.lstat(path)).st_mode
        except (FileNotFoundError, NotADirectoryError):
            return verdict
        except PermissionError:
            return Verdict((), Refusal(SkipReason.UNREADABLE, None, "its folder may not be entered; check its permissions"))
        if not verdict.selected or stat.S_ISREG(mode):
            return verdict
        kind = "a symbolic link, and links are not followed" if stat.S_ISLNK(mode) else "not a regular file"
        return Verdict((), Refusal(SkipReason.NOT_A_FILE, None, f"it is {kind}"))

    def start_of(self, path: bytes) -> bytes | None:
        """The one of ``starts`` that is ``path`` or has it in it; None when there is none."""
        return next((start for start in self.starts if path == start or _is_in(path, start)), None)

    def folder_at(self, path: bytes) -> Folder | Refusal:
        """The folder at ``path`` (absolute), not yet listed, or why nothing in it can belong.

        Raises:
            OSError: an ignore file on the way cannot be read.
        """
        start = self.start_of(path)
        if start is None:
            return Refusal(SkipReason.IGNORED, None, "it is not under any of the configured docs")
        folder = self.enter(start)
        for name in path[len(folder.prefix) :].split(b"/") if path != start else ():
            folder = folder.listed(None)
            child = self.child(folder, name)
            if child is None:
                refusal = self._judge_folder(folder, name)
                assert isinstance(refusal, Refusal)
                return refusal
            folder = child
        return folder

    def _by_rules(self, path: bytes) -> Verdict:
        try:
            covers = self._covers_by_rules(path)
        except PermissionError as error:
            detail = f"the ignore file {os.fsdecode(error.filename)} cannot be read; check its permissions"
            return Verdict((), Refusal(SkipReason.UNREADABLE, None, detail))
        if isinstance(covers, Refusal):
            return Verdict((), covers)
        names = {name for cover in covers for name in cover.scope.strategies}
        return Verdict(tuple(name for name in self._strategy_names if name in names))

    def _covers_by_rules(self, path: bytes) -> tuple[Cover, ...] | Refusal:
        if path in self.starts:
            return self._judge_file(Folder(folder_prefix_of(os.path.dirname(path)), (), IgnoreChain()), os.path.basename(path))
        folder = self.folder_at(os.path.dirname(path))
        return folder if isinstance(folder, Refusal) else self._judge_file(folder.listed(None), os.path.basename(path))

    def _judge_file(self, folder: Folder, name: bytes) -> tuple[Cover, ...] | Refusal:
        path = folder.prefix + name
        named = tuple(
            cover for cover in self._covers_at.get(path, ()) if cover.root.glob is None and cover.scope.exclusion_of(path) is None
        )
        covers: tuple[Cover, ...] | Refusal
        leftover = leftover_pattern(name, is_folder=False)
        secret = None if leftover or self._allow_secrets else secret_pattern(name, folder.path)
        if leftover:
            covers = _never(leftover)
        elif secret:
            detail = f"its name looks like a secret's ({secret}); to index it, name the file in docs or set allow_secrets"
            covers = Refusal(SkipReason.SECRET, Rule("", 0, secret), detail)
        else:
            covers = _covering(folder, name, path)
        if not named:
            return covers
        return named if isinstance(covers, Refusal) else covers + named

    def _judge_folder(self, folder: Folder, name: bytes) -> tuple[Cover, ...] | Refusal:
        entry = folder.prefix + name + b"/"
        path = entry[:-1]
        leftover = os.fsdecode(entry) if path in self._data_folders else leftover_pattern(name, is_folder=True)
        covers = _never(leftover) if leftover else _covering(folder, name + b"/", entry)
        starting = tuple(cover for cover in self._covers_at.get(path, ()) if cover.scope.exclusion_of(entry) is None)
        if not starting:
            return covers
        return starting if isinstance(covers, Refusal) else covers + starting


def _covering(folder: Folder, name: bytes, path: bytes) -> tuple[Cover, ...] | Refusal:
    """What of a folder's covers reaches an entry of it; ``name`` and ``path`` end with a ``/`` for a folder."""
    kept = []
    refusal = None
    for cover in folder.covers:
        reaching = cover.on_folder(path) if name.endswith(b"/") else cover.on_file(path)
        if reaching is None:
            continue
        exclusion = cover.scope.exclusion_of(path) if cover.scope.exclusions else None
        if exclusion is not None:
            refusal = refusal or Refusal(SkipReason.IGNORED, Rule("", 0, f"!{exclusion.text}"), "the configured docs exclude it")
            continue
        rule = folder.ignore.rule_against(name, path, respect_vcs=cover.scope.respect_vcs) if folder.ignore else None
        if rule is None:
            kept.append(reaching)
        else:
            refusal = refusal or Refusal(SkipReason.IGNORED, rule, f"{rule.file}:{rule.line} ignores it ({rule.pattern})")
    return tuple(kept) or refusal or Refusal(SkipReason.IGNORED, None, "none of the configured docs matches it")


def _never(pattern: str) -> Refusal:
    return Refusal(SkipReason.IGNORED, Rule("", 0, pattern), f"such files are never indexed ({pattern})")


def _paths_of(folder: bytes, starts: Iterable[bytes]) -> frozenset[bytes]:
    """Every path at which a walk from ``starts`` may meet ``folder``: links on the way to either of them do not hide it."""
    real = os.path.realpath(folder)
    met = (start + real[len(there) :] for start in starts if _is_in(real, there := os.path.realpath(start)))
    return frozenset([folder, real, *met])


def _is_in(path: bytes, folder: bytes) -> bool:
    return path != folder and path.startswith(folder_prefix_of(folder))
