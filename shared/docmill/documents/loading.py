"""Loads a document: bytes to text, with its type, its title and its metadata."""

from docmill.documents.dates import with_dates
from docmill.documents.decoding import decode
from docmill.documents.extracted import Extracted
from docmill.documents.file_types import FileType, detect, is_known_text_name
from docmill.documents.natural_language import language_of
from docmill.documents.readers import BYTES_READERS, TEXT_READERS
from docmill.documents.signatures import binary_format_of, bytes_format_of, is_taken_apart
from docmill.documents.titles import code_title, name_title
from docmill.domain.documents import DocumentKind, LoadedDocument
from docmill.domain.errors import DocumentSkipped, SkipReason


def load(document_id: str, content: bytes) -> LoadedDocument:
    """The document that ``content`` holds; an empty one has an empty text.

    Raises:
        DocumentSkipped: it is binary, or it cannot be read as the format that it has.
    """
    bytes_format = bytes_format_of(document_id, content)
    if bytes_format is not None and bytes_format.mime in BYTES_READERS:
        return _document(document_id, bytes_format, BYTES_READERS[bytes_format.mime](content))
    binary = binary_format_of(content)
    if binary is not None:
        raise DocumentSkipped(SkipReason.BINARY, f"{binary} is not a text format that this version reads")
    text = decode(content, known_as_text=is_known_text_name(document_id))
    file_type = detect(document_id, text)
    reader = TEXT_READERS.get(file_type.mime, Extracted)
    return _document(document_id, file_type, reader(text))


def is_container(document_id: str, content: bytes) -> bool:
    """Whether a library takes the bytes apart, which belongs into a process of its own."""
    bytes_format = bytes_format_of(document_id, content)
    return bytes_format is not None and is_taken_apart(bytes_format) and bytes_format.mime in BYTES_READERS


def _document(document_id: str, file_type: FileType, extracted: Extracted) -> LoadedDocument:
    title = code_title(document_id) if file_type.kind is DocumentKind.CODE else extracted.title or name_title(document_id)
    return LoadedDocument(
        text=extracted.text,
        kind=file_type.kind,
        mime=file_type.mime,
        title=title,
        language=file_type.language or extracted.language or language_of(extracted.text, extracted.body_start),
        metadata=with_dates(extracted.metadata),
        body_start_line=_line_after(extracted.text, extracted.body_start),
        outline=extracted.outline,
        page_starts=extracted.page_starts,
        source_lines=extracted.source_lines,
    )


def _line_after(text: str, end: int) -> int:
    """The number of the line that begins at ``end``, or would begin there if the last line had a line break."""
    return text.count("\n", 0, end) + (1 if end == 0 or text[end - 1] == "\n" else 2)
