"""Loads a document: bytes to text, with its type, its title and its metadata."""

import re
from typing import Final

from docmill.documents.decoding import decode
from docmill.documents.file_types import RESTRUCTURED_TEXT, binary_format_of, detect, is_known_text_name
from docmill.documents.front_matter import FrontMatter, read_front_matter
from docmill.documents.markdown import outline_of
from docmill.documents.titles import code_title, name_title, restructured_text_title
from docmill.domain.documents import DocumentKind, LoadedDocument, Outline
from docmill.domain.errors import DocumentSkipped, SkipReason

#: Data inside a link: no text that anyone searches for.
_INLINE_DATA: Final = re.compile(r"(data:[\w.+/-]{1,100};base64,)[A-Za-z0-9+/=_-]{200,}")


def load(document_id: str, content: bytes) -> LoadedDocument:
    """The document that ``content`` holds; an empty one has an empty text.

    In Markdown and HTML the data of inline images is shortened to ``…``; else the text is what the file says.

    Raises:
        DocumentSkipped: it is binary, or of a format that cannot be read yet.
    """
    binary = binary_format_of(content)
    if binary is not None:
        raise DocumentSkipped(SkipReason.BINARY, f"{binary} is not a text format that this version reads")
    text = decode(content, known_as_text=is_known_text_name(document_id))
    file_type = detect(document_id, text)
    if "base64," in text and file_type.mime in ("text/markdown", "text/html"):
        text = _INLINE_DATA.sub(r"\1…", text)
    front_matter = read_front_matter(text) if file_type.kind is DocumentKind.MARKDOWN else FrontMatter()
    outline = outline_of(text, front_matter.end) if file_type.kind is DocumentKind.MARKDOWN else Outline()
    if file_type.kind is DocumentKind.MARKDOWN:
        title = front_matter.title or next((heading.text for heading in outline.headings), "") or name_title(document_id)
    elif file_type.kind is DocumentKind.CODE:
        title = code_title(document_id)
    else:
        title = (restructured_text_title(text) if file_type == RESTRUCTURED_TEXT else "") or name_title(document_id)
    return LoadedDocument(
        text=text,
        kind=file_type.kind,
        mime=file_type.mime,
        title=title,
        language=file_type.language,
        metadata=front_matter.metadata,
        body_start_line=_line_after(text, front_matter.end),
        outline=outline,
    )


def _line_after(text: str, end: int) -> int:
    """The number of the line that begins at ``end``, or would begin there if the last line had a line break."""
    return text.count("\n", 0, end) + (1 if end == 0 or text[end - 1] == "\n" else 2)
