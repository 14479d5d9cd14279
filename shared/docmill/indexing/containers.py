"""Containers: files that a library takes apart, which is done in a process of its own, so that one of them costs no other document."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from docmill.documents.loading import is_container, load
from docmill.domain.documents import LoadedDocument
from docmill.domain.errors import DocumentSkipped, SkipReason
from docmill.ports.clock import Clock
from docmill.ports.isolation import Crashed, Isolation

#: The longest for one file.
CONTAINER_SECONDS: Final = 240.0
#: A process that ends so soon may have ended for what it did before: another one tries again.
_SOON_SECONDS: Final = 20.0


@dataclass(frozen=True, slots=True)
class ContainerLoading:
    """Loads documents, those that are containers in other processes."""

    isolation: Isolation
    clock: Clock

    def load(
        self,
        document_id: str,
        content: bytes,
        check: Callable[[], None] = lambda: None,
        load_here: Callable[[str, bytes], LoadedDocument] = load,
    ) -> LoadedDocument:
        """The document that ``content`` holds.

        Args:
            document_id: of the document.
            content: its bytes.
            check: called several times a second while another process works; what it raises ends that and passes through.
            load_here: loads what is no container.

        Raises:
            DocumentSkipped: it cannot be read; or the process that took it apart ended, needed too much memory or took too long.
            ServiceDown: no process can be started.
        """
        if not is_container(document_id, content):
            return load_here(document_id, content)
        began = self.clock.monotonic()
        try:
            return self._load_alone(document_id, content, check, fresh=False)
        except Crashed as crash:
            if self.clock.monotonic() - began > _SOON_SECONDS:
                raise _failed(crash) from crash
        try:
            return self._load_alone(document_id, content, check, fresh=True)
        except Crashed as crash:
            raise _failed(crash) from crash

    def _load_alone(self, document_id: str, content: bytes, check: Callable[[], None], *, fresh: bool) -> LoadedDocument:
        ends_at: list[float] = []

        def seconds_left() -> float:
            if not ends_at:
                ends_at.append(self.clock.monotonic() + CONTAINER_SECONDS)  # the wait for a process is not the file's time
            return ends_at[0] - self.clock.monotonic()

        with self.isolation.alone(check, seconds_left, fresh=fresh) as alone:
            return alone.load(document_id, content)


def _failed(crash: Crashed) -> DocumentSkipped:
    return DocumentSkipped(SkipReason.PARSER_FAILED, f"it could not be taken apart: {crash}")
