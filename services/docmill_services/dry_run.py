"""Dry run: what a run would index, embed and pay for, found by reading the files; nothing is written, and no provider is called."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from docmill.adapters.files import FileSource
from docmill.domain.chunks import ChunkRecord
from docmill.domain.documents import fingerprint_of
from docmill.domain.errors import DocmillError, DocumentSkipped, StoreDown
from docmill.domain.knowledge_bases import KnowledgeBase, StrategySpec
from docmill.indexing.batches import in_batches
from docmill.indexing.indexed import Indexed
from docmill.indexing.preparing import Chunker, records_by_strategy
from docmill.indexing.summarising import with_summary_keys
from docmill_services.model_work import ModelWork, Workload
from docmill_services.producer.planning import needs_work
from docmill_services.producer.scan import Scan, ScannedFile

_BATCH: Final = 500


@dataclass(frozen=True, slots=True)
class DryRun:
    """What a run would do.

    Attributes:
        files: that belong to the knowledge base.
        unchanged: of them, those whose content is indexed already.
        to_index: of them, those that would be indexed.
        skipped: of them, those that would not be, by reason.
        unreadable: of them, those that could not be looked into now.
        chunks: of the files to index, over all strategies.
        models: what each model would be asked for.
    """

    files: int
    unchanged: int
    to_index: int
    skipped: Mapping[str, int]
    unreadable: int
    chunks: int
    models: Sequence[ModelWork]


@dataclass(slots=True)
class DryRunner:
    """Looks through one knowledge base.

    Attributes:
        data_folder: never looked into.
        looked_at: called now and then with how many files were looked at.
    """

    knowledge_base: KnowledgeBase
    data_folder: Path
    indexed: Indexed
    chunker: Chunker
    looked_at: Callable[[int], None] = lambda _: None
    _counts: Counter[str] = field(default_factory=Counter, init=False)
    _skipped: Counter[str] = field(default_factory=Counter, init=False)
    _work: Workload = field(default_factory=Workload, init=False)
    #: Of each form in which texts are embedded, those that were counted; half of a key is enough to tell them apart.
    _counted: dict[str, set[int]] = field(default_factory=dict, init=False)

    def run(self) -> DryRun:
        """Reads every file that a run would read.

        Raises:
            StoreDown: the registry or the vector store does not answer.
            RootUnavailable: no document's folder is there.
        """
        source = FileSource(self.knowledge_base, self.data_folder)
        scan = Scan(source.selection, self.knowledge_base.base_folder)
        for files in in_batches(scan.files(), _BATCH):
            self._counts["files"] += len(files)
            known = self.indexed.stats([file.document_id for file in files])
            for file, stats in zip(files, known, strict=True):
                if needs_work(file.stat, stats):
                    self._look_into(file, source)
                else:
                    self._counts["unchanged"] += 1
            self.looked_at(self._counts["files"])
        if scan.unavailable and not self._counts["files"]:
            raise next(iter(scan.unavailable.values()))
        return DryRun(
            files=self._counts["files"],
            unchanged=self._counts["unchanged"],
            to_index=self._counts["to_index"],
            skipped=dict(sorted(self._skipped.items())),
            unreadable=self._counts["unreadable"] + len(scan.unreadable),
            chunks=self._counts["chunks"],
            models=self._work.by_model(),
        )

    def _look_into(self, file: ScannedFile, source: FileSource) -> None:
        document_id = file.document_id
        try:
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
            wanted = [strategy for strategy in self.knowledge_base.strategies if strategy.name in strategies]
            records = records_by_strategy(document_id, 0, fingerprint, document, wanted, self.chunker)
        except DocumentSkipped as skipped:
            self._skipped[skipped.reason.value] += 1
            return
        except StoreDown:
            raise
        except DocmillError:
            self._counts["unreadable"] += 1
            return
        self._counts["to_index"] += 1
        for strategy in wanted:
            self._counts["chunks"] += len(records[strategy.name])
            if strategy.embedding is not None:
                self._count(strategy, with_summary_keys(strategy, records[strategy.name]))

    def _count(self, strategy: StrategySpec, records: Sequence[ChunkRecord]) -> None:
        counted = self._counted.setdefault(repr(strategy.embedding_shape), set())
        new = {record.text_hash: record for record in records if _short(record.text_hash) not in counted}
        counted.update(map(_short, new))
        for key in new.keys() - self.indexed.stored(strategy, new):
            self._work.add(strategy, new[key])


def _short(key: str) -> int:
    return int(key[:16], 16)
