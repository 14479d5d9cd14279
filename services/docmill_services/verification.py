"""Verification of a knowledge base that is open in this process."""

import time
from typing import Final

from docmill.bootstrap import Engine, OpenKnowledgeBase
from docmill.domain.verification import Verification
from docmill.indexing.verifying import Patience, Verifier
from docmill_services.producer.scan import Scan

#: Between two batches, so that searches of the same process go on.
_PAUSE_SECONDS: Final = 0.002


def verify_knowledge_base(engine: Engine, opened: OpenKnowledgeBase, *, repair: bool, patience: Patience | None) -> Verification:
    """Compares files, registry and stores; the arguments and what it raises are those of ``Verifier``."""
    verifier = Verifier(
        state=opened.state,
        targets=opened.index_sets.targets(),
        source=opened.source,
        disk=Scan(opened.source.selection, opened.specification.base_folder),
        tasks=engine.tasks,
        clock=engine.clock,
        patience=patience,
        pause=lambda: time.sleep(_PAUSE_SECONDS),
    )
    return verifier.verify(repair=repair)
