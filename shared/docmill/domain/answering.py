"""Answers: passages, citations, and what came of a question."""

from dataclasses import dataclass

from docmill.domain.searching import Degraded, Freshness, Hit


@dataclass(frozen=True, slots=True)
class Passage:
    """A hit as the model is shown it.

    Attributes:
        number: from 1; what the model cites it by.
        text: of its chunk; cut where it alone is longer than the budget.
    """

    number: int
    hit: Hit
    text: str

    @property
    def label(self) -> str:
        """What people are shown: ``[1] Handbook › Refunds (handbook.md:12-30)``."""
        record = self.hit.record
        names = list(dict.fromkeys(name for name in (record.title, *record.headings) if name))
        lines = f":{record.start_line}-{record.end_line}" if record.page is None else f", p. {record.page}"
        place = record.document_id.rpartition("/")[2] if names else record.document_id
        shown = f"{' › '.join(names)} ({place}{lines})" if names and names != [place] else f"{record.document_id}{lines}"
        return f"[{self.number}] {shown}"


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a question.

    Attributes:
        text: with markers such as ``[1]``; those of passages that there are not are left out.
        cited: the passages that it uses, in the order in which it first does.
        offered: how many passages the model was shown.
        dropped_markers: how many markers named a passage that there is not.
        declined: the documents do not answer the question, and the text says so.
    """

    text: str
    cited: tuple[Passage, ...]
    offered: int
    dropped_markers: int
    declined: bool
    degraded: tuple[Degraded, ...]
    freshness: Freshness
    reranked: bool = False

    @property
    def is_grounded(self) -> bool:
        """Whether it cites any passage."""
        return bool(self.cited)
