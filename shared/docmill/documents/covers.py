"""Covers: what the configured roots reach into, and for which strategies; pure."""

from dataclasses import dataclass, replace

from docmill.documents.identity import folder_prefix_of
from docmill.documents.roots import Root, parse_root
from docmill.domain.knowledge_bases import KnowledgeBase


@dataclass(frozen=True, slots=True)
class Scope:
    """Strategies that select files in the same way."""

    strategies: tuple[str, ...]
    respect_vcs: bool
    roots: tuple[Root, ...]
    exclusions: tuple[Root, ...]

    def exclusion_of(self, entry: bytes) -> Root | None:
        """The root with ``!`` that leaves ``entry`` out; a folder ends with a ``/``."""
        return next((root for root in self.exclusions if root.names(entry)), None)


@dataclass(frozen=True, slots=True)
class Cover:
    """A root that reaches into a folder: everything in it (``whole``), or what its glob matches."""

    scope: Scope
    root: Root
    whole: bool

    def on_file(self, path: bytes) -> "Cover | None":
        """What of it reaches the file at ``path``."""
        return self if self.whole or self.root.names(path) else None

    def on_folder(self, entry: bytes) -> "Cover | None":
        """What of it reaches the folder ``entry``, which ends with a ``/``."""
        if self.whole or self.root.glob is None:
            return self
        if self.root.names(entry):
            return replace(self, whole=True)
        return self if self.root.glob.may_match_in(entry[len(folder_prefix_of(self.root.start)) :]) else None


def scopes_of(kb: KnowledgeBase) -> tuple[Scope, ...]:
    """The scopes of a knowledge base's strategies, in the configuration's order."""
    grouped: dict[tuple[tuple[str, ...], bool], list[str]] = {}
    for strategy in kb.strategies:
        respect_vcs = kb.respect_vcs if strategy.respect_vcs is None else strategy.respect_vcs
        grouped.setdefault((strategy.roots or kb.roots, respect_vcs), []).append(strategy.name)
    return tuple(
        Scope(
            tuple(names),
            respect_vcs,
            tuple(root for text in texts if not text.startswith("!") for root in parse_root(text)),
            tuple(root for text in texts if text.startswith("!") for root in parse_root(text[1:])),
        )
        for (texts, respect_vcs), names in grouped.items()
    )
