"""Left out: what a walk through the documents' folders meets that is not indexed, grouped by what decided it."""

# Paths are bytes here, which pathlib does not take.

import os
import re
import stat
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from docmill.documents.identity import document_id_of
from docmill.documents.ignoring import Rule
from docmill.documents.selection import Folder, Refusal, Selection
from docmill.domain.errors import SkipReason
from docmill.domain.knowledge_bases import KnowledgeBase

#: Sentences that differ only in these are of one kind: sizes, lines and pages, paths.
_PARTICULAR: Final = re.compile(r"([0-9][0-9,.]*|/\S+|…)")
_KINDS: Final = ((stat.S_ISFIFO, "a pipe"), (stat.S_ISSOCK, "a socket"), (stat.S_ISCHR, "a device"), (stat.S_ISBLK, "a device"))


@dataclass(slots=True)
class Group:
    """Files and folders that one thing decided about.

    Attributes:
        detail: one sentence for people; what is not the same of all of them is ``…`` in it.
        folders: how many of them are folders, of whose content nothing was looked at.
        paths: of the first ones, as document ids; a folder's ends with ``/``.
    """

    reason: SkipReason
    rule: Rule | None
    detail: str
    files: int = 0
    folders: int = 0
    paths: list[str] = field(default_factory=list)

    @property
    def count(self) -> int:
        """All of them."""
        return self.files + self.folders


class LeftOut:
    """Collects what is left out.

    Args:
        most_paths: that a group keeps; None for all.
    """

    def __init__(self, most_paths: int | None) -> None:
        self._most_paths = most_paths
        self._groups: dict[tuple[SkipReason, Rule | None, str], Group] = {}

    def add(self, path: str, refusal: Refusal, *, is_folder: bool = False) -> None:
        """Notes a file, or a folder that is not looked into, under its path as a document's id."""
        # What a rule says of itself is the same each time; of what the content decides, sizes and the like differ.
        said = "" if refusal.rule is not None else _PARTICULAR.sub("#", refusal.detail)
        group = self._groups.setdefault((refusal.reason, refusal.rule, said), Group(refusal.reason, refusal.rule, refusal.detail))
        if said and group.detail != refusal.detail:
            group.detail = _common(group.detail, refusal.detail)
        group.files += not is_folder
        group.folders += is_folder
        if self._most_paths is None or len(group.paths) < self._most_paths:
            group.paths.append(f"{path}/" if is_folder else path)

    def groups(self) -> list[Group]:
        """Every group: by reason, in the order in which ``SkipReason`` names them, and the largest first."""
        order = list(SkipReason)
        return sorted(self._groups.values(), key=lambda group: (order.index(group.reason), -group.count, group.paths[:1]))


class NotingSelection(Selection):
    """A selection that notes what a walk leaves out.

    Args:
        knowledge_base: whose files are selected.
        data_folder: see ``Selection``.
        left_out: where it is noted.
    """

    def __init__(self, knowledge_base: KnowledgeBase, data_folder: Path | None, left_out: LeftOut) -> None:
        super().__init__(knowledge_base, data_folder)
        self._base = os.fsencode(knowledge_base.base_folder)
        self._left_out = left_out

    def child(self, folder: Folder, name: bytes) -> Folder | None:
        """See ``Selection.child``."""
        child = super().child(folder, name)
        if child is None:
            judged = self._judge_folder(folder, name)
            if isinstance(judged, Refusal):
                self._left_out.add(self._id_of(folder, name), judged, is_folder=True)
        return child

    def takes(self, folder: Folder, name: bytes) -> bool:
        """See ``Selection.takes``."""
        judged = self._judge_file(folder, name)
        if isinstance(judged, Refusal):
            self._left_out.add(self._id_of(folder, name), judged)
        return not isinstance(judged, Refusal)

    def pass_over(self, folder: Folder, names: Sequence[bytes]) -> None:
        """See ``Selection.pass_over``."""
        for name in names:
            judged = self._judge_file(folder, name)
            refusal = judged if isinstance(judged, Refusal) else _no_file(folder.prefix + name)
            self._left_out.add(self._id_of(folder, name), refusal)

    def _id_of(self, folder: Folder, name: bytes) -> str:
        return document_id_of(folder.prefix + name, self._base)


def _no_file(path: bytes) -> Refusal:
    """What an entry is that is neither a file nor a folder; it is not opened."""
    try:
        mode = os.lstat(path).st_mode
    except OSError as error:
        return Refusal(SkipReason.UNREADABLE, None, f"it cannot be looked at: {error.strerror or error}")
    if stat.S_ISLNK(mode):
        detail = "a symbolic link; links are not followed" if os.path.exists(path) else "a broken symbolic link: what it names is not there"
        return Refusal(SkipReason.NOT_A_FILE, None, detail)
    return Refusal(SkipReason.NOT_A_FILE, None, next((kind for test, kind in _KINDS if test(mode)), "no regular file"))


def _common(sentence: str, other: str) -> str:
    """What two sentences of one kind have in common."""
    pairs = zip(_PARTICULAR.split(sentence), _PARTICULAR.split(other), strict=False)
    return "".join(part if part == of_other else "…" for part, of_other in pairs)
