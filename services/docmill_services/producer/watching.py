"""Watching: turns events of the file system into live work. A hint only: scans make good what events miss."""

import math
import os
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import structlog

from docmill.documents.identity import document_id_of, folder_prefix_of, path_of
from docmill.documents.selection import RULE_FILES, Refusal, Selection
from docmill.domain.errors import DocumentSkipped, RootUnavailable
from docmill.domain.registry import DocumentState, Lane
from docmill.indexing.batches import in_batches
from docmill.indexing.held_removals import is_mass_deletion
from docmill.ports.queue import TaskQueue
from docmill.ports.state import KnowledgeBaseState
from docmill_services.producer.folder_events import FOLDER_BY_FOLDER, FolderEvents
from docmill_services.producer.planning import needs_work
from docmill_services.producer.scan import Scan, ScannedFile

_log = structlog.get_logger(__name__)
_LOOK_AGAIN_SECONDS = 1.0
#: How far apart full passes are at least that are asked for since the system could not tell what changed.
_LOST_SECONDS = 10.0
#: With more of them at once all folders are looked up anew.
_MOST_FOLDERS = 50
_PAGE = 500
#: More at once is a matter for a full pass: it keeps to the window, and so many events may have been more than the system kept.
_MOST_PATHS = 2000
_MOST_DOCUMENTS = 1000
_GIT_INFO = b".git/info"
_GIT_EXCLUDE = b"/.git/info/exclude"


class _TooMany(Exception):
    """So much has changed that a full pass is the better way."""


@dataclass(slots=True)
class Watcher:
    """Watches the files of one knowledge base.

    Attributes:
        index_sets: where known documents are looked up.
        scan: makes one scan.
        rescan: asks for a full pass, when an ignore file changed or too much happened at once.
        force_polling: looks at every file again and again, where the system reports no changes.
    """

    knowledge_base: str
    base_folder: Path
    selection: Selection
    state: KnowledgeBaseState
    tasks: TaskQueue
    index_sets: Callable[[], Sequence[str]]
    scan: Callable[[], Scan]
    rescan: Callable[[], None]
    force_polling: bool = False
    monotonic: Callable[[], float] = time.monotonic
    _look_again: dict[bytes, float] = field(default_factory=dict, init=False)
    #: The folders that are watched; the roots alone where the system watches whole trees.
    _folders: set[bytes] = field(default_factory=set, init=False)
    _has_lost: bool = field(default=False, init=False)
    _asked_at: float = field(default=-math.inf, init=False)

    def watch(self, stopping: threading.Event, ready: Callable[[], None] = lambda: None) -> None:
        """Watches until ``stopping`` is set, or until a root is another folder than before: then what is watched must be looked up anew.

        Args:
            stopping: ends it within half a second.
            ready: called once changes are noticed; what happened before is for a full pass.

        Raises:
            RootUnavailable: no root is there.
            OSError: the system does not let more be watched, or the watcher failed.
            StoreDown: registry or broker do not answer; the changes of this moment are lost to the watcher.
        """
        identities = self._identities()
        roots = {start for start, identity in identities.items() if identity is not None}
        if not roots:
            raise RootUnavailable(f"none of the folders of {self.knowledge_base} is there")
        self._folders = self._all_folders(roots)
        with FolderEvents(force_polling=self.force_polling) as events:
            events.follow(self._folders)
            ready()
            renewed = False  # a new folder may have the number of the one that was removed: only the event tells
            while not renewed and not stopping.is_set() and self._identities() == identities:
                changes = events.wait(stopping)
                due = self._due()
                if self._has_other_folders(roots, changes.paths | due):
                    events.follow(self._folders)
                self.take(changes.paths)
                self._take_again(due)
                self._make_good(lost=changes.lost)
                renewed = any(path in roots and os.path.isdir(path) for path in changes.deleted)

    def _all_folders(self, roots: Collection[bytes]) -> set[bytes]:
        # A file is watched through its folder, since editors replace files.
        places = {root if os.path.isdir(root) else os.path.dirname(root) for root in roots}
        return places | self._folders_in(None) if FOLDER_BY_FOLDER else places

    def _folders_in(self, below: bytes | None) -> set[bytes]:
        found = set(self.scan().folders(below=below))
        return found | {info for folder in found if os.path.isdir(info := folder_prefix_of(folder) + _GIT_INFO)}

    def _has_other_folders(self, roots: Collection[bytes], paths: Iterable[bytes]) -> bool:
        """Whether other folders must be watched since what is at ``paths`` has changed."""
        if not FOLDER_BY_FOLDER:
            return False
        before = self._folders
        changed = [path for path in paths if path in before or self._is_folder_of_ours(path)]
        if len(changed) > _MOST_FOLDERS or any(os.path.basename(path) in RULE_FILES for path in paths):
            self._folders = self._all_folders(roots)
            return self._folders != before or bool(changed)
        for path in changed:
            below = folder_prefix_of(path)
            kept = {folder for folder in self._folders if folder != path and not folder.startswith(below)}
            self._folders = kept | self._folders_in(path) | {root for root in roots if root == path and os.path.isdir(path)}
        return bool(changed)

    def _is_folder_of_ours(self, path: bytes) -> bool:
        return os.path.isdir(path) and not os.path.islink(path) and not self._is_nobodys(path)

    def _make_good(self, *, lost: bool) -> None:
        """Asks for a full pass where the system could not tell what changed, but not all the time."""
        self._has_lost |= lost
        now = self.monotonic()
        if self._has_lost and now - self._asked_at >= _LOST_SECONDS:
            self._has_lost, self._asked_at = False, now
            self.rescan()

    def take(self, paths: Iterable[bytes]) -> None:
        """Plans live work for what changed at ``paths``; many events of one document are one ticket."""
        changed = sorted(paths)
        try:
            if len(changed) > _MOST_PATHS:
                raise _TooMany
            wanted: dict[str, None] = {}
            for path in changed:
                for document_id in self._documents_of(path):
                    wanted[document_id] = None
                    if len(wanted) > _MOST_DOCUMENTS:
                        raise _TooMany
        except _TooMany:
            _log.info("many_changes", knowledge_base=self.knowledge_base, paths=len(changed), then="a full pass finds them")
            self.rescan()
            return
        if self._is_mass_deletion(wanted):
            _log.info("many_removals", knowledge_base=self.knowledge_base, documents=len(wanted), then="a full pass decides")
            self.rescan()
        elif wanted:
            messages = self.state.ledger.enqueue(list(wanted), Lane.LIVE)
            self.tasks.send(messages, Lane.LIVE)

    def _due(self) -> set[bytes]:
        """Folders to look at a second time: what was put into a new one before the system watched it made no event."""
        now = self.monotonic()
        return {path for path, since in self._look_again.items() if now - since >= _LOOK_AGAIN_SECONDS}

    def _take_again(self, due: Collection[bytes]) -> None:
        if due:
            self.take(due)
            for path in due:
                self._look_again.pop(path, None)

    def _is_mass_deletion(self, document_ids: Collection[str]) -> bool:
        """Whether so much is missing, more than came elsewhere, that somebody may have to say that it was meant."""
        gone = [one for one in document_ids if not os.path.lexists(path_of(one, self.base_folder))]
        lost = 2 * len(gone) - len(document_ids)
        if not is_mass_deletion(0, lost):
            return False
        index_set = next(iter(self.index_sets()), None)
        known = sum(self.state.registry.counts(index_set)[0].values()) if index_set is not None else 0
        return is_mass_deletion(known, lost)

    def _documents_of(self, path: bytes) -> Iterator[str]:
        """The documents that a changed path stands for."""
        if self._is_nobodys(path):
            return
        if os.path.basename(path) in RULE_FILES or path.endswith(_GIT_EXCLUDE):
            self.rescan()
        elif not os.path.isdir(path) or os.path.islink(path):
            yield from self._documents_at(path)
        elif path in self.selection.starts:
            self.rescan()
        else:
            self._look_again.setdefault(path, self.monotonic())
            yield from self._documents_in(path)

    def _is_nobodys(self, path: bytes) -> bool:
        """Whether it lies where nothing can belong, such as an ignored folder or the data folder: much may happen there."""
        if path in self.selection.starts:
            return False
        if path.endswith(_GIT_EXCLUDE):
            return self.selection.start_of(path) is None
        try:
            return isinstance(self.selection.folder_at(os.path.dirname(path)), Refusal)
        except OSError:
            return False

    def _documents_at(self, path: bytes) -> Iterator[str]:
        """The documents that a changed path that is no folder stands for."""
        document_id = document_id_of(path, self.base_folder)
        known = self._is_known(document_id)
        if known or self._may_belong(path):
            yield document_id
        if not known and path not in self.selection.starts:  # a folder may have been here before; a root that went proves nothing
            yield from self._known_below(path)

    def _may_belong(self, path: bytes) -> bool:
        if not os.path.lexists(path):
            return False
        try:
            return bool(self.selection.strategies_for(path))
        except (DocumentSkipped, OSError):
            return True  # nobody can say; the attempt finds out, and gives the reason

    def _documents_in(self, folder: bytes) -> Iterator[str]:
        """The documents in a folder that changed, that are new, or that are there no more."""
        document_id = document_id_of(folder, self.base_folder)
        if self._is_known(document_id):
            yield document_id  # it was a file before
        scan = self.scan()
        seen: dict[str, ScannedFile] = {}
        for file in scan.files(below=folder):
            seen[file.document_id] = file
            if len(seen) > _MOST_PATHS:
                raise _TooMany
        for ids in in_batches(seen, _PAGE):
            known = [self.state.registry.stats(index_set, ids) for index_set in self.index_sets()]
            for place, one in enumerate(ids):
                if needs_work(seen[one].stat, [stats[place] for stats in known]):
                    yield one
        for one in self._known_below(folder):
            if one not in seen and scan.proves_gone(one):
                yield one

    def _is_known(self, document_id: str) -> bool:
        for index_set in self.index_sets():
            entry = self.state.registry.entries(index_set, [document_id])[1].get(document_id)
            if entry is not None and entry.state is not DocumentState.GONE:
                return True
        return False

    def _known_below(self, folder: bytes) -> Iterator[str]:
        prefix = document_id_of(folder_prefix_of(folder), self.base_folder)
        for index_set in self.index_sets():
            after = prefix
            while page := self.state.registry.page(index_set, after=after, limit=_PAGE, state=None):
                below = [document_id for document_id, _ in page if document_id.startswith(prefix)]
                yield from below
                if len(below) < len(page):
                    break
                after = page[-1][0]

    def _identities(self) -> dict[bytes, tuple[int, int] | None]:
        """Which folder each root is now; a file that is a root is watched by its name, so that only its being there counts."""
        return {start: _identity(start) for start in self.selection.starts}


def _identity(start: bytes) -> tuple[int, int] | None:
    try:
        status = os.stat(start)
    except OSError:
        return None
    return (status.st_dev, status.st_ino) if os.path.isdir(start) else (0, 0)
