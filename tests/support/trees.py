"""Folders with files, and knowledge bases over them."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from docmill.documents.selection import Selection
from docmill.domain.knowledge_bases import KnowledgeBase, StrategyKind, StrategySpec
from docmill_services.producer.scan import Scan


def plant(folder: Path, files: Mapping[str, str] | Iterable[str]) -> None:
    """Writes files, with their names as their text where none is given."""
    texts = files if isinstance(files, Mapping) else {name: f"{name}\n" for name in files}
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, newline="")


def bm25(name: str = "bm25", *roots: Path | str, respect_vcs: bool | None = None) -> StrategySpec:
    """A strategy with roots of its own."""
    return StrategySpec(name, StrategyKind.BM25, 0.0, roots=tuple(map(str, roots)), respect_vcs=respect_vcs)


def knowledge_base(
    base_folder: Path,
    *roots: Path | str,
    strategies: tuple[StrategySpec, ...] = (),
    respect_vcs: bool = True,
    allow_secrets: bool = False,
) -> KnowledgeBase:
    """A knowledge base over ``roots``, or over the whole base folder."""
    return KnowledgeBase(
        name="kb",
        base_folder=base_folder,
        roots=tuple(map(str, roots)) or (str(base_folder),),
        strategies=strategies or (bm25(),),
        respect_vcs=respect_vcs,
        allow_secrets=allow_secrets,
    )


def scanned(kb: KnowledgeBase, data_folder: Path | None = None) -> list[str]:
    """The ids that a scan yields, in its order; each of them is selected when asked for alone, too."""
    selection = Selection(kb, data_folder)
    files = list(Scan(selection, kb.base_folder).files())
    assert all(selection.verdict(file.path).selected for file in files)
    return [file.document_id for file in files]


def paths_below(folder: Path) -> list[bytes]:
    """Every file in ``folder`` but those of git's own folder, relative to it."""
    root = os.fsencode(folder)
    found = []
    for current, folders, files in os.walk(root):
        folders[:] = [name for name in folders if name != b".git"]
        found += [os.path.relpath(os.path.join(current, name), root) for name in files]
    return sorted(found)
