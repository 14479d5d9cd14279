"""History: what really happened to documents, kept beside the system, to judge what it says."""

from dataclasses import dataclass, field

from docmill.domain.documents import fingerprint_of
from docmill.domain.registry import Attempt, Entry, Version
from support.protocol_machine_source import FileState, texts_of


@dataclass
class History:
    """Facts, noted at the moment at which they come about.

    Attributes:
        read: by generation, the state of the file that its attempt read.
        shown: by document, the newest state of its file that was committed or found unchanged.
        live_at: by epoch and commit number, every document's live version then.
        ever_live: every generation that was live once.
        announced: by document, the number of the change up to which the ledger has promised to look at it.
    """

    read: dict[int, FileState] = field(default_factory=dict)
    shown: dict[str, FileState] = field(default_factory=dict)
    live_at: dict[tuple[int, int], dict[str, Version]] = field(default_factory=dict)
    ever_live: set[int] = field(default_factory=set)
    announced: dict[str, int] = field(default_factory=dict)

    def committed(self, attempt: Attempt, fingerprint: str, *, live: bool) -> None:
        """An attempt was committed; ``live`` says that a version of it is live now."""
        read = self.read.get(attempt.generation)
        assert read is not None, f"g{attempt.generation} of {attempt.document_id} was committed without having read its file"
        self._show(attempt, read)
        if live:
            self.ever_live.add(attempt.generation)
            wanted = fingerprint_of(read.content.encode()) if read.content is not None else ""
            assert fingerprint == wanted, f"g{attempt.generation} of {attempt.document_id} was committed with another fingerprint"

    def found_unchanged(self, attempt: Attempt) -> None:
        """An attempt ended since its file equals the live version."""
        self._show(attempt, self.read[attempt.generation])

    def _show(self, attempt: Attempt, read: FileState) -> None:
        before = self.shown.get(attempt.document_id)
        assert before is None or before.number <= read.number, (
            f"{attempt.document_id} went back in time: g{attempt.generation} shows change {read.number} after a later one"
        )
        self.shown[attempt.document_id] = read

    def note_live(self, epoch: int, commit: int, entries: dict[str, Entry]) -> None:
        """What is live at a commit number."""
        self.live_at[epoch, commit] = {document_id: entry.live for document_id, entry in entries.items() if entry.live is not None}

    def expected_texts(self, version: Version | None) -> list[str]:
        """The chunks that a live version must have in every strategy; by what its attempt read."""
        if version is None:
            return []
        return texts_of(self.read[version.generation].content)
