"""Markdown: front matter, headings, and blocks that are better kept whole."""

import re
from typing import Final

from docmill.documents.extracted import Extracted
from docmill.documents.front_matter import read_front_matter
from docmill.documents.markdown import outline_of
from docmill.documents.natural_language import language_code

#: Data inside a link: no text that anyone searches for.
_INLINE_DATA: Final = re.compile(r"(data:[\w.+/-]{1,100};base64,)[A-Za-z0-9+/=_-]{200,}")


def read_markdown(text: str) -> Extracted:
    """The text, in which the data of inline images is shortened to ``…``."""
    if "base64," in text:
        text = _INLINE_DATA.sub(r"\1…", text)
    front_matter = read_front_matter(text)
    outline = outline_of(text, front_matter.end)
    title = front_matter.title or next((heading.text for heading in outline.headings), "")
    language = language_code(front_matter.metadata.get("lang") or front_matter.metadata.get("language"))
    return Extracted(text, outline, title, language, front_matter.metadata, body_start=front_matter.end)
