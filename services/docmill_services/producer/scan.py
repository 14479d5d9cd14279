"""Scan: walks the roots of a knowledge base and yields its files, in an order that never changes for the same files.

The files of a folder come before those of its sub-folders, each sorted by name, so that what stands at the top can be searched first.
"""

# Paths are bytes here, which pathlib does not take.

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass

from docmill.documents.identity import document_id_of, escaped, folder_prefix_of, path_of
from docmill.documents.reading import signature_of
from docmill.documents.roots import RootIdentity, root_identity
from docmill.documents.selection import Folder, Selection
from docmill.domain.documents import StatSignature
from docmill.domain.errors import RootUnavailable


@dataclass(frozen=True, slots=True)
class ScannedFile:
    """A regular file that belongs to the knowledge base.

    Attributes:
        path: absolute.
    """

    document_id: str
    path: bytes
    stat: StatSignature


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A file or folder that could not be looked at.

    Attributes:
        path: absolute.
        message: the operating system's reason.
    """

    path: bytes
    message: str


class Scan:
    """One pass over the files of a knowledge base.

    A root that is not available is left out, and what cannot be read is reported and left out: when ``files`` has ended, ``proves_gone``
    says of which documents their absence means anything.

    Attributes:
        unavailable: why a root could not be scanned, for each such root.
        identities: which folder each available root is, by path.
        unreadable: what could not be looked at.
    """

    def __init__(self, selection: Selection, base_folder: os.PathLike[str] | bytes) -> None:
        self.unavailable: dict[bytes, RootUnavailable] = {}
        self.identities: dict[bytes, RootIdentity] = {}
        self.unreadable: list[Unreadable] = []
        self._selection = selection
        self._roots = frozenset(selection.root_paths)
        self._base_folder = os.fsencode(base_folder)
        self._below: bytes | None = None

    def files(self, *, below: bytes | None = None) -> Iterator[ScannedFile]:
        """Streams the files; to be called once.

        Args:
            below: only what is in this folder (absolute), for example one that was moved in; None for everything.
        """
        self._below = below
        self._identify_roots()
        if below is None:
            for start in self._selection.starts:
                yield from self._scan_start(start)
        else:
            yield from self._scan_below(below)
        self._confirm_roots()

    def root_ids(self) -> dict[str, RootIdentity]:
        """Which folder each root is that was scanned and stayed the same meanwhile, by its path as a document's id."""
        return {
            document_id_of(path, self._base_folder): identity for path, identity in self.identities.items() if path not in self.unavailable
        }

    def proves_gone(self, document_id: str) -> bool:
        """Whether a document that the scan did not yield is not there, or is not selected any more.

        Raises:
            DocumentUnknown: no path has this id.
        """
        path = path_of(document_id, self._base_folder)
        if self._below is not None and not path.startswith(folder_prefix_of(self._below)):
            return False
        hidden = [*self.unavailable, *(unreadable.path for unreadable in self.unreadable)]
        return not any(path == place or path.startswith(folder_prefix_of(place)) for place in hidden)

    def _identify_roots(self) -> None:
        for path in self._selection.root_paths:
            try:
                self.identities[path] = root_identity(path)
            except RootUnavailable as error:
                self.unavailable[path] = error

    def _confirm_roots(self) -> None:
        """A root that was unmounted or exchanged during the scan counts as unavailable."""
        for path, identity in self.identities.items():
            try:
                if root_identity(path) != identity:
                    raise RootUnavailable(f"{os.fsdecode(path)} became another folder while it was scanned")
            except RootUnavailable as error:
                self.unavailable[path] = error

    def _scan_start(self, start: bytes) -> Iterator[ScannedFile]:
        if start in self.unavailable:
            return
        try:
            if stat.S_ISDIR(os.stat(start).st_mode):
                yield from self._walk(self._selection.enter(start))
                return
            selected = bool(self._selection.strategies_for(start))
        except OSError as error:
            self._report(start, error)
            return
        scanned = self._scanned(start, document_id_of(start, self._base_folder)) if selected else None
        if scanned is not None:
            yield scanned

    def _scan_below(self, below: bytes) -> Iterator[ScannedFile]:
        inside = [start for start in self._selection.starts if start.startswith(folder_prefix_of(below))]
        for start in inside:
            yield from self._scan_start(start)
        if inside:
            return
        try:
            folder = self._selection.folder_at(below)
        except OSError as error:
            self._report(below, error)
            return
        if isinstance(folder, Folder) and (below in self._roots or not os.path.islink(below)):
            yield from self._walk(folder)

    def _walk(self, first: Folder) -> Iterator[ScannedFile]:
        selection = self._selection
        waiting = [first]
        while waiting:
            folder = waiting.pop()
            try:
                files, folders, others = self._list(folder)
                folder = folder.listed({*files, *folders, *others})
            except (FileNotFoundError, NotADirectoryError):
                continue  # removed since its parent was listed; that a root went is noticed at the end
            except OSError as error:
                self._report(folder.path, error)
                continue
            prefix = folder.prefix
            id_prefix = self._id_prefix_of(prefix)
            for name in files:
                if selection.takes(folder, name):
                    scanned = self._scanned(prefix + name, id_prefix + escaped(name))
                    if scanned is not None:
                        yield scanned
            children = (selection.child(folder, name) for name in reversed(folders))
            waiting += [child for child in children if child is not None]

    def _list(self, folder: Folder) -> tuple[list[bytes], list[bytes], list[bytes]]:
        """What is in a folder: the names of files, of sub-folders, both sorted, and of anything else, which is never opened.

        A link counts as what it leads to when it is itself named as a root, and as something else otherwise.
        """
        files: list[bytes] = []
        folders: list[bytes] = []
        others: list[bytes] = []
        with os.scandir(folder.path) as entries:
            for entry in entries:
                follow = entry.is_symlink() and folder.prefix + entry.name in self._roots
                if entry.is_file(follow_symlinks=follow):
                    files.append(entry.name)
                elif entry.is_dir(follow_symlinks=follow):
                    folders.append(entry.name)
                else:
                    others.append(entry.name)
        return sorted(files), sorted(folders), others

    def _scanned(self, path: bytes, document_id: str) -> ScannedFile | None:
        try:
            status = os.stat(path, follow_symlinks=path in self._roots)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            self._report(path, error)
            return None
        if not stat.S_ISREG(status.st_mode):
            return None
        return ScannedFile(document_id, path, signature_of(status))

    def _id_prefix_of(self, prefix: bytes) -> str:
        base_prefix = folder_prefix_of(self._base_folder)
        return escaped(prefix.removeprefix(base_prefix))

    def _report(self, path: bytes, error: OSError) -> None:
        self.unreadable.append(Unreadable(path, error.strerror or str(error)))
