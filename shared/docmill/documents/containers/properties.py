"""What a container says about its document: title, author, dates, language, in one form for all formats; pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from docmill.documents.containers.cleaning import on_one_line
from docmill.documents.dates import iso_date
from docmill.domain.documents import MetadataValue

_MOST_CHARACTERS: Final = 500
#: What programs write where nobody wrote a title.
_NO_TITLE: Final = re.compile(
    r"(?:untitled|unbenannt|title|titel|\(?none\)?|null|powerpoint-präsentation"
    r"|(?:microsoft )?(?:word|powerpoint|excel)(?:[- ]*(?:document|presentation))?"
    r"|(?:document|presentation|slide|folie|dokument|book|mappe) ?\d*"
    r"|.*\.(?:docx?|pptx?|xlsx?|dvi|ps|pdf|tex|indd|qxd|rtf|odt|odp|tmp))",
    re.IGNORECASE,
)
_BY_PROGRAM: Final = re.compile(r"^Microsoft (?:Word|PowerPoint|Excel) - ", re.IGNORECASE)
_NOBODY: Final = frozenset(["anonymous", "unknown", "unspecified", "python-docx", "openpyxl"])
_LANGUAGE: Final = re.compile(r"([a-z]{2,3})(?:[-_].*)?$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Properties:
    """What is known of a document beside its text; see ``Extracted``."""

    title: str = ""
    language: str | None = None
    metadata: Mapping[str, MetadataValue] = field(default_factory=dict)

    def with_pages(self, count: int) -> "Properties":
        """With the number of its pages."""
        return Properties(self.title, self.language, {**self.metadata, "pages": count})


def properties(
    *,
    title: str = "",
    author: str = "",
    subject: str = "",
    keywords: str = "",
    created: str = "",
    modified: str = "",
    language: str = "",
) -> Properties:
    """What a document says, where it says anything.

    Args:
        title: "" results where it says no more than which program wrote the file.
        author: one or several people.
        subject: in a few words.
        keywords: with commas or semicolons between.
        created: when, in the form of the format.
        modified: likewise.
        language: as in RFC 5646 (``en-GB``), of which the language stays.
    """
    title = _BY_PROGRAM.sub("", on_one_line(title))
    title = "" if _NO_TITLE.fullmatch(title) else title[:_MOST_CHARACTERS]
    metadata: dict[str, MetadataValue] = {}
    for name, value in {
        "author": author,
        "subject": subject,
        "created": iso_date(created) or "",
        "modified": iso_date(modified) or "",
    }.items():
        line = on_one_line(value)[:_MOST_CHARACTERS]
        if line and line.lower() not in _NOBODY:
            metadata[name] = line
    words = [word for part in re.split(r"[,;]", keywords) if (word := on_one_line(part))]
    if words:
        metadata["keywords"] = words[:100]
    spoken = _LANGUAGE.match(language.strip())
    return Properties(title, spoken[1].lower() if spoken is not None else None, metadata)
