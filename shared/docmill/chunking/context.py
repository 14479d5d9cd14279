"""What is put before a chunk's text when it is searched and embedded, so that it can be found by what stands above it."""

from collections.abc import Sequence
from typing import Final

_SEPARATOR: Final = " > "
_LONGEST: Final = 400


def with_context(text: str, title: str, headings: Sequence[str]) -> str:
    """``Title > A > B``, an empty line, and the text; the title is left out when it is the first heading, or begins the text."""
    path = headings if not title or title in headings[:1] else (title, *headings)
    if not path or (not headings and text.lstrip("#= \t\n").startswith(title)):
        return text
    context = _SEPARATOR.join(path)
    if len(context) > _LONGEST:
        context = "…" + context[-_LONGEST:]
    return f"{context}\n\n{text}"
