"""Dry run: what a run would index, embed and pay for, and what it would leave out and why; nothing is written, and no provider is called.

What a run would read is read, and what it would take apart is taken apart, since only that tells how much text there is to pay for; but
a picture, a film or an archive is known by its first bytes, and a file that is too large by its size. Files are looked at one by one: what
is kept of them is what is printed, and eight bytes for each text that would be embedded.
"""

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from docmill.adapters.files import FileSource
from docmill.documents.identity import document_id_of
from docmill.documents.selection import Refusal
from docmill.documents.signatures import begins_as_container, binary_format_of, bytes_format_of
from docmill.domain.chunks import ChunkRecord
from docmill.domain.documents import DocumentKind, LoadedDocument, fingerprint_of
from docmill.domain.errors import DocmillError, DocumentSkipped, SkipReason, StoreDown
from docmill.domain.knowledge_bases import KnowledgeBase, StrategySpec
from docmill.indexing.batches import in_batches
from docmill.indexing.indexed import Indexed
from docmill.indexing.preparing import Chunker, records_by_strategy
from docmill.indexing.summarising import with_summary_keys
from docmill_services.left_out import Group, LeftOut, NotingSelection
from docmill_services.model_work import ModelWork, Workload
from docmill_services.producer.planning import needs_work
from docmill_services.producer.scan import Scan, ScannedFile

_BATCH: Final = 500
_HEAD_BYTES: Final = 512


@dataclass(slots=True)
class TypeOfFiles:
    """Files of one kind that would be indexed.

    Attributes:
        name: the programming language of code, the media type of anything else.
        chunks: over all strategies.
        paths: of the first ones, as document ids.
    """

    name: str
    files: int = 0
    chunks: int = 0
    paths: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class DryRun:
    """What a run would do.

    Attributes:
        files: that belong to the knowledge base.
        unchanged: of them, those whose content is indexed already.
        to_index: of them, those that would be indexed.
        skipped: of them, those that would not be, by reason.
        empty: of them, those without text.
        unreadable: of them, those that could not be looked into now.
        chunks: of the files to index, over all strategies.
        models: what each model would be asked for.
        by_type: the files to index, by what they are, the most first.
        left_out: everything that a run would leave out, also what does not belong to the knowledge base.
    """

    files: int
    unchanged: int
    to_index: int
    skipped: Mapping[str, int]
    empty: int
    unreadable: int
    chunks: int
    models: Sequence[ModelWork]
    by_type: Sequence[TypeOfFiles]
    left_out: Sequence[Group]


@dataclass(slots=True)
class DryRunner:
    """Looks through one knowledge base.

    Attributes:
        data_folder: never looked into.
        loader: makes documents of their ids and their bytes.
        looked_at: called now and then with how many files were looked at.
        most_paths: that are kept of each kind of files; None for all.
    """

    knowledge_base: KnowledgeBase
    data_folder: Path
    indexed: Indexed
    chunker: Chunker
    loader: Callable[[str, bytes], LoadedDocument]
    looked_at: Callable[[int], None] = lambda _: None
    most_paths: int | None = None
    _counts: Counter[str] = field(default_factory=Counter, init=False)
    _skipped: Counter[str] = field(default_factory=Counter, init=False)
    _work: Workload = field(default_factory=Workload, init=False)
    _by_type: dict[str, TypeOfFiles] = field(default_factory=dict, init=False)
    #: Of each form in which texts are embedded, those that were counted; half of a key is enough to tell them apart.
    _counted: dict[str, set[int]] = field(default_factory=dict, init=False)

    def run(self) -> DryRun:
        """Reads every file that a run would read.

        Raises:
            StoreDown: the registry or the vector store does not answer.
            RootUnavailable: no document's folder is there.
        """
        source = FileSource(self.knowledge_base, self.data_folder, loader=self.loader)
        left_out = LeftOut(self.most_paths)
        scan = Scan(NotingSelection(self.knowledge_base, self.data_folder, left_out), self.knowledge_base.base_folder)
        for files in in_batches(scan.files(), _BATCH):
            self._counts["files"] += len(files)
            known = self.indexed.stats([file.document_id for file in files])
            for file, stats in zip(files, known, strict=True):
                if needs_work(file.stat, stats):
                    self._look_into(file, source, left_out)
                else:
                    self._counts["unchanged"] += 1
            self.looked_at(self._counts["files"])
        if scan.unavailable and not self._counts["files"]:
            raise next(iter(scan.unavailable.values()))
        hidden = [(path, str(error)) for path, error in scan.unavailable.items()]
        hidden += [(place.path, f"it cannot be looked at: {place.message}") for place in scan.unreadable]
        for path, message in hidden:
            document_id = document_id_of(path, self.knowledge_base.base_folder)
            left_out.add(document_id, Refusal(SkipReason.UNREADABLE, None, message))
        return DryRun(
            files=self._counts["files"],
            unchanged=self._counts["unchanged"],
            to_index=self._counts["to_index"],
            skipped=dict(sorted(self._skipped.items())),
            empty=self._counts["empty"],
            unreadable=self._counts["unreadable"] + len(scan.unreadable),
            chunks=self._counts["chunks"],
            models=self._work.by_model(),
            by_type=sorted(self._by_type.values(), key=lambda one: (-one.files, one.name)),
            left_out=left_out.groups(),
        )

    def _look_into(self, file: ScannedFile, source: FileSource, left_out: LeftOut) -> None:
        document_id = file.document_id
        try:
            if file.stat.size_bytes <= self.knowledge_base.max_file_size_bytes:  # a larger one is not read, whatever it is
                _require_no_known_binary(file)
            strategies = source.strategies_for(document_id)
            content = source.read(document_id) if strategies else None
            if content is None:
                self._counts["files"] -= 1  # it went since it was listed
                return
            fingerprint = fingerprint_of(content.content)
            if self.indexed.has(document_id, fingerprint):
                self._counts["unchanged"] += 1
                return
            document = source.load(document_id, content.content)
            source.require_allowed(document_id, document)
            wanted = [strategy for strategy in self.knowledge_base.strategies if strategy.name in strategies]
            records = records_by_strategy(document_id, 0, fingerprint, document, wanted, self.chunker)
        except DocumentSkipped as skipped:
            self._skipped[skipped.reason.value] += 1
            left_out.add(document_id, Refusal(skipped.reason, None, skipped.detail))
            return
        except StoreDown:
            raise
        except DocmillError as error:
            self._counts["unreadable"] += 1
            left_out.add(document_id, Refusal(SkipReason.UNREADABLE, None, str(error)))
            return
        chunks = sum(map(len, records.values()))
        if not chunks:
            self._counts["empty"] += 1
            left_out.add(document_id, Refusal(SkipReason.EMPTY, None, "it has no text that could be searched"))
            return
        self._counts["to_index"] += 1
        self._counts["chunks"] += chunks
        self._note_type(document_id, document, chunks)
        for strategy in wanted:
            if strategy.embedding is not None:
                self._count(strategy, with_summary_keys(strategy, records[strategy.name]))

    def _note_type(self, document_id: str, document: LoadedDocument, chunks: int) -> None:
        name = document.language if document.kind is DocumentKind.CODE and document.language else document.mime
        found = self._by_type.setdefault(name, TypeOfFiles(name))
        found.files += 1
        found.chunks += chunks
        if self.most_paths is None or len(found.paths) < self.most_paths:
            found.paths.append(document_id)

    def _count(self, strategy: StrategySpec, records: Sequence[ChunkRecord]) -> None:
        counted = self._counted.setdefault(repr(strategy.embedding_shape), set())
        new = {record.text_hash: record for record in records if _short(record.text_hash) not in counted}
        counted.update(map(_short, new))
        for key in new.keys() - self.indexed.stored(strategy, new):
            self._work.add(strategy, new[key])


def _require_no_known_binary(file: ScannedFile) -> None:
    """Raises ``DocumentSkipped`` for a file whose first bytes say that there is no text in it; the rest of it is not read."""
    try:
        descriptor = os.open(file.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return  # reading it says why
    try:
        head = os.read(descriptor, _HEAD_BYTES)
    finally:
        os.close(descriptor)
    name = binary_format_of(head)
    if name is not None and not begins_as_container(head) and bytes_format_of(file.document_id, head) is None:
        raise DocumentSkipped(SkipReason.BINARY, f"{name} is not a text format that this version reads")


def _short(key: str) -> int:
    return int(key[:16], 16)
