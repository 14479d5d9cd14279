"""Files: documents read from folders."""

import json
import os
import socket
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from docmill.documents.generated import require_written
from docmill.documents.identity import document_id_of, path_of
from docmill.documents.loading import load
from docmill.documents.reading import read_source, signature_of
from docmill.documents.secrets import require_no_secret
from docmill.documents.selection import Selection
from docmill.domain.documents import LoadedDocument
from docmill.domain.errors import DocumentSkipped, DocumentUnknown, RootUnavailable, SkipReason, SourceUnreadable
from docmill.domain.knowledge_bases import KnowledgeBase
from docmill.indexing.sources import GIVEN_UP, Content


class FileSource:
    """The ``Source`` of a knowledge base whose documents are files."""

    def __init__(
        self,
        knowledge_base: KnowledgeBase,
        data_folder: Path,
        noted_roots: Callable[[], str | None] = lambda: None,
        loader: Callable[[str, bytes], LoadedDocument] = load,
    ) -> None:
        """Reads nothing yet.

        Args:
            knowledge_base: whose documents they are.
            data_folder: never indexed.
            noted_roots: the note ``ROOTS`` of the process that scans; None where it has none. What it raises passes through.
            loader: makes documents of their ids and their bytes.
        """
        self._noted_roots = noted_roots
        self._load = loader
        self._knowledge_base = knowledge_base
        self.selection = Selection(knowledge_base, data_folder)

    def path(self, document_id: str) -> bytes:
        """Where a document is; raises ``DocumentUnknown`` for what is no document's id."""
        return path_of(document_id, self._knowledge_base.base_folder)

    def strategies_for(self, document_id: str) -> tuple[str, ...]:
        """See ``Source.strategies_for``."""
        try:
            return self.selection.strategies_for(self.path(document_id))
        except DocumentUnknown:
            return ()
        except DocumentSkipped as skipped:
            raise SourceUnreadable(f"{document_id}: {skipped.detail}; what was indexed before is kept") from skipped
        except OSError as error:
            raise SourceUnreadable(f"whether {document_id} is ignored cannot be read: {error.strerror or error}") from error

    def read(self, document_id: str) -> Content | None:
        """See ``Source.read``."""
        path = self.path(document_id)
        try:
            source = read_source(
                path, self.selection.root_paths, max_bytes=self._knowledge_base.max_file_size_bytes, now_seconds=time.time()
            )
        except FileNotFoundError:
            self._require_root(path)
            return None
        except DocumentSkipped as skipped:
            if skipped.reason is SkipReason.NOT_A_FILE:
                return None  # a folder or a link stands where the document was: scans never yield it
            if skipped.reason is SkipReason.UNREADABLE:
                self._require_folder(path)
            raise
        except OSError as error:
            raise SourceUnreadable(f"{os.fsdecode(path)} cannot be read: {error.strerror or error}") from error
        if path not in self.selection.root_paths:
            require_written(document_id, source.content)
        return Content(source.content, "" if source.racy else source.stat.packed(), source.stat.size_bytes)

    def stat_of(self, document_id: str) -> str:
        """See ``Source.stat_of``."""
        try:
            return signature_of(os.stat(self.path(document_id))).packed()
        except (OSError, DocumentUnknown):
            return ""

    def load(self, document_id: str, content: bytes) -> LoadedDocument:
        """See ``Source.load``."""
        return self._load(document_id, content)

    def require_allowed(self, document_id: str, document: LoadedDocument) -> None:
        """See ``Source.require_allowed``; a file that is itself named as a root is meant to be indexed."""
        if not self._knowledge_base.allow_secrets and self.path(document_id) not in self.selection.root_paths:
            require_no_secret(document)

    def text_of(self, document_id: str) -> str | None:
        """A document's whole text as it is now; None when it cannot be had."""
        content = self.read(document_id)
        if content is None:
            return None
        document = self.load(document_id, content.content)
        self.require_allowed(document_id, document)
        return document.text

    def _require_folder(self, path: bytes) -> None:
        """Raises ``SourceUnreadable`` when a folder on the way may not be entered: then nothing is known of what is in it."""
        try:
            os.stat(path)
        except PermissionError as error:
            raise SourceUnreadable(f"{os.fsdecode(path)} is in a folder that may not be entered; it is kept as it was") from error

    def _require_root(self, path: bytes) -> None:
        """Raises ``RootUnavailable`` unless the root that should hold ``path`` is there, is not empty, and is the one that was scanned.

        An empty mount, or another one in its place, is not a deletion, unless somebody said that the root is gone for good.
        """
        start = self.selection.start_of(path)
        if start is None or start == path or self._noted_root(start) == GIVEN_UP:
            return
        try:
            with os.scandir(start) as entries:
                if next(iter(entries), None) is not None:
                    self._require_same(start)
                    return
        except OSError as error:
            raise RootUnavailable(f"{os.fsdecode(start)} cannot be read ({error.strerror}); its documents are kept") from error
        raise RootUnavailable(f"{os.fsdecode(start)} is empty; its documents are kept until it is not")

    def _require_same(self, start: bytes) -> None:
        inode = self._noted_root(start)
        if inode is not None and inode != os.stat(start).st_ino:
            raise RootUnavailable(
                f"{os.fsdecode(start)} on {socket.gethostname()} is another folder than the one that was scanned; its documents are kept"
            )

    def _noted_root(self, start: bytes) -> int | None:
        noted: Mapping[str, int] = json.loads(self._noted_roots() or "{}")
        return noted.get(document_id_of(start, self._knowledge_base.base_folder))
