"""A watcher over a folder, with what is indexed of it in memory."""

import time
from collections.abc import Callable
from pathlib import Path

from docmill.documents.selection import Selection
from docmill_services.producer.scan import Scan
from docmill_services.producer.watching import Watcher
from support.indexing_world import INDEX_SET, World
from support.trees import bm25, knowledge_base


class WatcherWorld:
    """The watcher, its world, and how often it has asked for a pass."""

    def __init__(self, folder: Path, *roots: Path, monotonic: Callable[[], float] = time.monotonic) -> None:
        """Nothing is watched yet; without ``roots`` the whole folder is the knowledge base."""
        self.world = World()
        self.passes = 0
        kb = knowledge_base(folder, *roots, strategies=(bm25("words"),))
        selection = Selection(kb, folder / ".docmill")
        self.watcher = Watcher(
            knowledge_base="kb",
            base_folder=folder,
            selection=selection,
            state=self.world.state,
            tasks=self.world.tasks,
            index_sets=lambda: [INDEX_SET],
            scan=lambda: Scan(selection, folder),
            rescan=self.ask_for_a_pass,
            monotonic=monotonic,
        )

    def ask_for_a_pass(self) -> None:
        self.passes += 1

    def index(self, *names: str) -> None:
        """Makes documents known, as files that the next scan must read again."""
        for name in names:
            self.world.source.put(name, name)
        self.world.enqueue(*names)
        self.world.work()
