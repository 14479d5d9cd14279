"""The ignore files that hold in one folder, from its own up to the top of its repository."""

# Paths are bytes here, which pathlib does not take.

import os
from collections.abc import Container
from dataclasses import dataclass

from docmill.documents.identity import folder_prefix_of
from docmill.documents.ignoring import GIT_RULES, OWN_RULES, IgnoreFile, Rule, info_exclude_of, read_ignore_file


@dataclass(frozen=True, slots=True)
class _Layer:
    """An ignore file and how much of a path to cut off to get one relative to its folder."""

    rules: IgnoreFile
    prefix_length: int


@dataclass(frozen=True, slots=True)
class IgnoreChain:
    """Ignore files, the deepest first; a deeper one decides before one above it.

    Attributes:
        git: ``.gitignore`` files, and at the end ``info/exclude`` of the repository.
        own: ``.docmillignore`` files; they decide before git's.
    """

    git: tuple[_Layer, ...] = ()
    own: tuple[_Layer, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.git or self.own)

    def with_rules_in(self, prefix: bytes, names: Container[bytes] | None) -> "IgnoreChain":
        """The chain for what is in a folder; where a repository begins, git's rules from above end.

        Args:
            prefix: the folder's path with a ``/`` at the end.
            names: what is in it, so that nothing is looked up in vain; None to look.

        Raises:
            OSError: an ignore file is there and cannot be read.
        """
        git, own = self.git, self.own
        if names is None or b".git" in names:
            exclude = info_exclude_of(prefix)
            if exclude is not None:
                git = _layered((), prefix, exclude)
        if names is None or GIT_RULES in names:
            git = _layered(git, prefix, prefix + GIT_RULES)
        if names is None or OWN_RULES in names:
            own = _layered(own, prefix, prefix + OWN_RULES)
        return self if git is self.git and own is self.own else IgnoreChain(git, own)

    def rule_against(self, name: bytes, path: bytes, *, respect_vcs: bool) -> Rule | None:
        """The rule by which an entry of the folder is ignored; ``name`` and ``path`` end with a ``/`` for a folder."""
        for layers in (self.own, self.git) if respect_vcs else (self.own,):
            for layer in layers:
                decision = layer.rules.decide(name, path[layer.prefix_length :])
                if decision is not None:
                    return decision[1] if decision[0] else None
        return None


def chain_above(start: bytes, base_folder: bytes) -> IgnoreChain:
    """The rules that hold for the folder ``start`` itself: from the top of its repository, or from the base folder, whichever is higher.

    Raises:
        OSError: an ignore file is there and cannot be read.
    """
    above = parents_of(start)
    repository = next((path for path in reversed(above) if info_exclude_of(folder_prefix_of(path)) is not None), None)
    tops = [above.index(path) for path in (repository, base_folder) if path in above]
    chain = IgnoreChain()
    for path in above[min(tops) :] if tops else ():
        chain = chain.with_rules_in(folder_prefix_of(path), None)
    return chain


def parents_of(path: bytes) -> list[bytes]:
    """The folders above ``path``, ``/`` first."""
    parents = []
    while path != b"/":
        path = os.path.dirname(path)
        parents.append(path)
    return parents[::-1]


def _layered(layers: tuple[_Layer, ...], prefix: bytes, file: bytes) -> tuple[_Layer, ...]:
    rules = read_ignore_file(file)
    return layers if rules is None else (_Layer(rules, len(prefix)), *layers)
