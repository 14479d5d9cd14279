"""Isolating: the processes in which a process has files taken apart, and documents worked on that may end it."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from docmill.adapters.clock import SystemClock
from docmill.adapters.isolation import ProcessIsolation
from docmill.bootstrap.models import embedding_threads_of
from docmill.config import Settings
from docmill.domain.documents import LoadedDocument
from docmill.indexing.containers import ContainerLoading


def isolation_of(settings: Settings) -> ProcessIsolation:
    """Child processes for what is indexed, one for each core; none is started before it is needed."""
    return ProcessIsolation(embedding_threads=embedding_threads_of(settings), most=max(2, os.cpu_count() or 2))


@contextmanager
def document_loader() -> Iterator[Callable[[str, bytes], LoadedDocument]]:
    """Makes documents of their ids and their bytes, for a process that indexes nothing."""
    isolation = ProcessIsolation(embedding_threads=1)  # nothing is embedded in them
    try:
        yield ContainerLoading(isolation, SystemClock()).load
    finally:
        isolation.close()
