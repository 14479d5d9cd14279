"""A real folder, scanned by real passes and indexed by a worker in memory."""

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from docmill.adapters.files import FileSource
from docmill.documents.selection import Selection
from docmill.domain.knowledge_bases import KnowledgeBase
from docmill.domain.registry import DocumentState
from docmill.domain.runs import Run
from docmill.indexing.held_removals import APPROVED, HELD, SCAN_ASKED, HeldRemovals
from docmill_services.producer.passes import Pass
from docmill_services.producer.scan import Scan
from support.indexing_world import INDEX_SET, World
from support.trees import bm25, knowledge_base


class ScannedWorld(World):
    """``run`` is one run from scan to end."""

    def __init__(self, base_folder: Path, *roots: Path) -> None:
        super().__init__()
        self.base_folder = base_folder
        self.now = 1_000_000.0
        self.use(knowledge_base(base_folder, *roots, strategies=(bm25("words"),)))

    def use(self, specification: KnowledgeBase) -> None:
        """Goes on with another configuration."""
        data_folder = self.base_folder / ".docmill"
        self.selection = Selection(specification, data_folder)
        self.source = cast("Any", FileSource(specification, data_folder, lambda: self.state.registry.noted("roots")))

    def scan(self) -> Scan:
        return Scan(self.selection, self.base_folder)

    def run(self, *, asked: bool = False, later_seconds: float = 0.0) -> Run:
        """One run, ``later_seconds`` after the last one; a person ``asked`` for it, or time did."""
        self.now += later_seconds
        if asked:
            self.state.registry.note(SCAN_ASKED, "yes")
        stopping = threading.Event()
        one = Pass(
            knowledge_base="kb",
            state=self.state,
            tasks=self.tasks,
            scan=self.scan,
            index_sets=lambda: [INDEX_SET],
            room=lambda: 1000 - sum(self.state.ledger.outstanding()),
            stopping=stopping,
            timeout_seconds=None,
            clock=lambda: self.now,
        )
        run, _ = self.state.ledger.start_run()
        worker = threading.Thread(target=self._work_until, args=(stopping.is_set,))
        worker.start()
        try:
            one.carry_out(run.id)
        finally:
            stopping.set()
            worker.join()
        ended = self.state.ledger.run(run.id)
        assert ended is not None
        return ended

    def known(self) -> list[str]:
        """The documents that are indexed."""
        return sorted(one for one, entry in self.state.registry.scan(INDEX_SET) if entry.state is not DocumentState.GONE)

    def held(self) -> HeldRemovals | None:
        return HeldRemovals.from_json(self.state.registry.noted(HELD))

    def approve(self) -> None:
        self.state.registry.note(APPROVED, self.state.registry.noted(HELD))

    def _work_until(self, stopped: Callable[[], bool]) -> None:
        while not stopped():
            self.work()


def let_files_be_old(monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on files count as written long before they are read, so that their state is believed the next time."""
    later = time.time() + 10
    monkeypatch.setattr(time, "time", lambda: later)
