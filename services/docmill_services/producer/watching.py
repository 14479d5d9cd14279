"""Watching: turns events of the file system into live work. A hint only: scans make good what events miss."""

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import structlog
import watchfiles

from docmill.documents.identity import document_id_of
from docmill.documents.selection import RULE_FILES, Selection
from docmill.domain.registry import DocumentState, Lane
from docmill.ports.queue import TaskQueue
from docmill.ports.state import KnowledgeBaseState

_log = structlog.get_logger(__name__)
_STEP_MILLISECONDS = 50
_GROUP_MILLISECONDS = 400
_PAGE = 500


@dataclass(frozen=True, slots=True)
class Watcher:
    """Watches the files of one knowledge base.

    Attributes:
        index_sets: where known documents are looked up.
        files_below: streams the ids of the documents in a folder.
        rescan: asks for a full pass, when an ignore file changed or events were lost.
    """

    knowledge_base: str
    base_folder: Path
    selection: Selection
    state: KnowledgeBaseState
    tasks: TaskQueue
    index_sets: Callable[[], Sequence[str]]
    files_below: Callable[[bytes], Iterable[str]]
    rescan: Callable[[], None]

    def watch(self, stopping: threading.Event, ready: Callable[[], None] = lambda: None) -> None:
        """Watches until ``stopping`` is set.

        Raises:
            OSError: the system does not let more be watched, or a folder is gone.
        """
        folders = {_watched_folder(start) for start in self.selection.starts}
        changes = watchfiles.watch(
            *(os.fsdecode(folder) for folder in sorted(folders)),
            watch_filter=None,
            debounce=_GROUP_MILLISECONDS,
            step=_STEP_MILLISECONDS,
            stop_event=stopping,
            rust_timeout=500,
            yield_on_timeout=True,
            raise_interrupt=False,
        )
        first = True
        for change in changes:
            if first:
                ready()
                first = False
            self.take({os.fsencode(path) for _, path in change})

    def take(self, paths: Iterable[bytes]) -> None:
        """Plans live work for what changed at ``paths``; many events of one document are one ticket."""
        wanted: dict[str, None] = {}
        for path in sorted(paths):
            if os.path.basename(path) in RULE_FILES and self.selection.start_of(path) is not None:
                self.rescan()
            elif os.path.isdir(path) and not os.path.islink(path):
                wanted.update(dict.fromkeys(self.files_below(path)))
            else:
                wanted.update(dict.fromkeys(self._documents_at(path)))
        if wanted:
            messages = self.state.ledger.enqueue(list(wanted), Lane.LIVE)
            self.tasks.send(messages, Lane.LIVE)

    def _documents_at(self, path: bytes) -> Iterator[str]:
        """The documents that a changed path that is no folder stands for."""
        document_id = document_id_of(path, self.base_folder)
        if os.path.lexists(path):
            if self.selection.strategies_for(path) or self._is_known(document_id):
                yield document_id
            return
        # What is gone may have been a file or a folder.
        if self._is_known(document_id):
            yield document_id
        yield from self._known_below(document_id + "/")

    def _is_known(self, document_id: str) -> bool:
        for index_set in self.index_sets():
            entry = self.state.registry.entries(index_set, [document_id])[1].get(document_id)
            if entry is not None and entry.state is not DocumentState.GONE:
                return True
        return False

    def _known_below(self, prefix: str) -> Iterator[str]:
        for index_set in self.index_sets():
            after = prefix
            while page := self.state.registry.page(index_set, after=after, limit=_PAGE, state=None):
                below = [document_id for document_id, _ in page if document_id.startswith(prefix)]
                yield from below
                if len(below) < len(page):
                    break
                after = page[-1][0]


def _watched_folder(start: bytes) -> bytes:
    """A folder watches itself; a file is watched through its folder, since editors replace files."""
    return start if os.path.isdir(start) else os.path.dirname(start)
