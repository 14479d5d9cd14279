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
        for place in self._places(below):
            if isinstance(place, Folder):
                yield from self._files_of(place)
            elif (scanned := self._scanned(place, document_id_of(place, self._base_folder))) is not None:
                yield scanned
        self._confirm_roots()

    def folders(self, *, below: bytes | None = None) -> Iterator[bytes]:
        """Streams the folders in which files may belong, in place of ``files``; none that an ignore rule prunes.

        Args:
            below: only this folder (absolute) and what is in it; None for everything.
        """
        self._identify_roots()
        for place in self._places(below):
            if isinstance(place, Folder):
                for folder, _ in self._walk(place):
                    yield folder.path

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

    def is_missing(self, document_id: str) -> bool:
        """Whether the disk does not have a selected file, rather than the configuration or an ignore rule leave it out."""
        path = path_of(document_id, self._base_folder)
        return self._selection.start_of(path) is not None and not os.path.lexists(path)

    def missing_roots(self) -> dict[str, bytes]:
        """The roots that are not available, by their path as a document's id."""
        return {document_id_of(path, self._base_folder): path for path in self.unavailable}

    def is_in_missing_root(self, document_id: str) -> bool:
        """Whether a document is, or is in, a root that is not available."""
        path = path_of(document_id, self._base_folder)
        return any(path == root or path.startswith(folder_prefix_of(root)) for root in self.unavailable)

    def is_deleted_root(self, root: bytes) -> bool:
        """Whether there is nothing in the place of a root, while the folder that it was in is there and holds something."""
        if os.path.lexists(root):
            return False
        try:
            root_identity(os.path.dirname(root))
        except RootUnavailable:
            return False
        return True

    def give_up(self, root: bytes) -> None:
        """Lets what a root held count as not there."""
        self.unavailable.pop(root, None)
        self.identities.pop(root, None)

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

    def _places(self, below: bytes | None) -> Iterator[Folder | bytes]:
        """Where to begin: folders, and files that are roots."""
        if below is None:
            for start in self._selection.starts:
                yield from self._start(start)
            return
        inside = [start for start in self._selection.starts if start.startswith(folder_prefix_of(below))]
        for start in inside:
            yield from self._start(start)
        if inside:
            return
        try:
            folder = self._selection.folder_at(below)
        except OSError as error:
            self._report(below, error)
            return
        if isinstance(folder, Folder) and (below in self._roots or not os.path.islink(below)):
            yield folder

    def _start(self, start: bytes) -> Iterator[Folder | bytes]:
        if start in self.unavailable:
            return
        try:
            if stat.S_ISDIR(os.stat(start).st_mode):
                yield self._selection.enter(start)
            elif self._selection.strategies_for(start):
                yield start
        except OSError as error:
            self._report(start, error)

    def _files_of(self, first: Folder) -> Iterator[ScannedFile]:
        for folder, files in self._walk(first):
            prefix = folder.prefix
            id_prefix = self._id_prefix_of(prefix)
            for name in files:
                if self._selection.takes(folder, name):
                    scanned = self._scanned(prefix + name, id_prefix + escaped(name))
                    if scanned is not None:
                        yield scanned

    def _walk(self, first: Folder) -> Iterator[tuple[Folder, list[bytes]]]:
        """Every folder with the names of the files in it, which are still to be judged."""
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
            selection.pass_over(folder, others)
            yield folder, files
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
