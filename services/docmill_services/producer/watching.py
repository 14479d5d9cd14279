"""Watching: turns events of the file system into live work. A hint only: scans make good what events miss."""

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import structlog
from watchfiles import Change
from watchfiles._rust_notify import RustNotify, WatchfilesRustInternalError

from docmill.documents.identity import document_id_of, folder_prefix_of
from docmill.documents.selection import RULE_FILES, Refusal, Selection
from docmill.domain.errors import DocumentSkipped, RootUnavailable
from docmill.domain.registry import DocumentState, Lane
from docmill.indexing.batches import in_batches
from docmill.ports.queue import TaskQueue
from docmill.ports.state import KnowledgeBaseState
from docmill_services.producer.planning import needs_work
from docmill_services.producer.scan import Scan, ScannedFile

_log = structlog.get_logger(__name__)
_STEP_MILLISECONDS = 50
_GROUP_MILLISECONDS = 400
_TICK_MILLISECONDS = 500
_SHORTEST_MILLISECONDS = 1
_LOOK_AGAIN_SECONDS = 1.0
_PAGE = 500
#: More at once is a matter for a full pass: it keeps to the window, and so many events may have been more than the system kept.
_MOST_PATHS = 2000
_MOST_DOCUMENTS = 1000
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
        there = [start for start, identity in identities.items() if identity is not None]
        folders = sorted(start for start in there if os.path.isdir(start))
        # A file is watched through its folder, since editors replace files.
        parents = sorted({os.path.dirname(start) for start in there if start not in folders})
        if not there:
            raise RootUnavailable(f"none of the folders of {self.knowledge_base} is there")
        watchers = [
            _notify(paths, recursive=recursive, force_polling=self.force_polling)
            for paths, recursive in ((folders, True), (parents, False))
            if paths
        ]
        try:
            ready()
            renewed = False  # a new folder may have the number of the one that was removed: only the event tells
            while not renewed and not stopping.is_set() and self._identities() == identities:
                for place, watcher in enumerate(watchers):
                    changes = watcher.watch(
                        _GROUP_MILLISECONDS, _STEP_MILLISECONDS, _SHORTEST_MILLISECONDS if place else _TICK_MILLISECONDS, stopping
                    )
                    if not isinstance(changes, str):
                        self.take({os.fsencode(path) for _, path in changes})
                        renewed |= any(kind == Change.deleted and os.fsencode(path) in folders for kind, path in changes)
                self._take_again()
        except WatchfilesRustInternalError as error:
            raise OSError(f"the watcher failed: {error}") from error
        finally:
            for watcher in watchers:
                watcher.close()

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
        if wanted:
            messages = self.state.ledger.enqueue(list(wanted), Lane.LIVE)
            self.tasks.send(messages, Lane.LIVE)

    def _take_again(self) -> None:
        """Looks a second time at folders: what was put into a new one before the system watched it made no event."""
        now = self.monotonic()
        due = [path for path, since in self._look_again.items() if now - since >= _LOOK_AGAIN_SECONDS]
        if due:
            self.take(due)
            for path in due:
                self._look_again.pop(path, None)

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


def _notify(paths: Sequence[bytes], *, recursive: bool, force_polling: bool) -> RustNotify:
    names = [os.fsdecode(path) for path in paths]
    try:
        return RustNotify(names, False, force_polling, 300, recursive, False)
    except PermissionError:
        # This leaves out folders that may not be read, but then says nothing of too few watches either.
        return RustNotify(names, False, force_polling, 300, recursive, True)
