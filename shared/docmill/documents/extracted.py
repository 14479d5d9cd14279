"""Extracted: what the reader of a format makes of a file."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from docmill.domain.documents import MetadataValue, Outline


@dataclass(frozen=True, slots=True)
class Extracted:
    """The text of a file and what its format says about it; see ``LoadedDocument`` for what they have in common.

    Attributes:
        title: "" where the format names none.
        language: the natural language that the file declares (``en``, ISO 639-1); None where it declares none.
        body_start: where the text to chunk begins, at the beginning of a line; what is before it is front matter.
    """

    text: str
    outline: Outline = field(default_factory=Outline)
    title: str = ""
    language: str | None = None
    metadata: Mapping[str, MetadataValue] = field(default_factory=dict)
    page_starts: Sequence[int] = ()
    source_lines: Sequence[int] | None = None
    body_start: int = 0
