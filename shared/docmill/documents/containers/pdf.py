"""PDF: text per page, headings from bookmarks or from sizes, by pdfium."""

import ctypes
from typing import Any, Final

from docmill.documents.containers.guarding import guarded, not_installed
from docmill.documents.containers.pdf_headings import Bookmark, headings_by_bookmarks, headings_by_size, title_by_size
from docmill.documents.containers.pdf_layout import lines_of
from docmill.documents.containers.pdf_text import SetLine, paragraphs_of, set_lines, without_page_heads
from docmill.documents.containers.pdf_words import PageText
from docmill.documents.containers.properties import Properties, properties
from docmill.documents.containers.text_builder import MOST_CHARACTERS, TextBuilder
from docmill.documents.extracted import Extracted
from docmill.domain.errors import DocumentSkipped, SkipReason

_MOST_BOOKMARKS: Final = 20_000
_MOST_BOOKMARK_DEPTH: Final = 12


@guarded
def read_pdf(content: bytes) -> Extracted:
    """The text of a PDF.

    Raises:
        DocumentSkipped: it needs a password, holds only pictures of pages, is damaged, or has very much text.
    """
    try:
        import pypdfium2
        import pypdfium2.raw as pdfium
    except ImportError as error:
        raise not_installed("PDF files", "pypdfium2") from error
    try:
        pdf = pypdfium2.PdfDocument(content)
    except pypdfium2.PdfiumError as error:
        raise _refused(pdfium, error) from error
    try:
        forms = pdf.get_formtype() != pdfium.FORMTYPE_NONE
        if forms:
            pdf.init_forms()
        pages, pictures = _pages(pypdfium2, pdfium, pdf, forms=forms)
        if pictures and not any(pages):
            raise DocumentSkipped(SkipReason.SCANNED, "its pages are pictures without text; text recognition would have to add it")
        return _built([paragraphs_of(page) for page in without_page_heads(pages)], _bookmarks(pdf), _properties(pdf, pdfium))
    finally:
        pdf.close()


def _refused(pdfium: Any, error: Exception) -> DocumentSkipped:
    if getattr(error, "err_code", None) in (pdfium.FPDF_ERR_PASSWORD, pdfium.FPDF_ERR_SECURITY):
        return DocumentSkipped(SkipReason.ENCRYPTED, "it is protected by a password")
    return DocumentSkipped(SkipReason.PARSER_FAILED, f"it is damaged: {str(error).rstrip('.')}"[:300])


def _pages(pypdfium2: Any, pdfium: Any, pdf: Any, *, forms: bool) -> tuple[list[list[SetLine]], bool]:
    """The lines of each page, and whether something is drawn on one without any."""
    pages: list[list[SetLine]] = []
    pictures, characters, damaged = False, 0, 0
    for number in range(len(pdf)):
        try:
            page = pdf[number]
            if forms and pdfium.FPDFPage_Flatten(page.raw, pdfium.FLAT_NORMALDISPLAY) == pdfium.FLATTEN_SUCCESS:
                page.close()
                page = pdf[number]  # what is filled in is text of the page now
        except pypdfium2.PdfiumError:
            damaged += 1
            pages.append([])  # one damaged page costs no other
            continue
        try:
            lines = _lines(pdfium, page)
            pictures = pictures or (not lines and any(True for _ in page.get_objects(max_depth=1)))
        finally:
            page.close()
        characters += sum(len(line.text) for line in lines)
        if characters > MOST_CHARACTERS:
            raise DocumentSkipped(SkipReason.TOO_LARGE, f"its text has more than {MOST_CHARACTERS:,} characters")
        pages.append(lines)
    if damaged == len(pages):
        raise DocumentSkipped(SkipReason.PARSER_FAILED, "it is damaged: none of its pages can be read")
    return pages, pictures


def _lines(pdfium: Any, page: Any) -> list[SetLine]:
    text = PageText(pdfium, page)
    try:
        lines = lines_of(text.words())
        return set_lines(lines, [text.style(line.place, line.last) for line in lines])
    finally:
        text.close()


def _built(pages: list[list[list[SetLine]]], bookmarks: list[Bookmark], known: Properties) -> Extracted:
    headings = headings_by_bookmarks(pages, bookmarks) or headings_by_size(pages)
    builder = TextBuilder()
    for number, page in enumerate(pages):
        builder.page()
        for place, paragraph in enumerate(page):
            level, count = headings.get((number, place), (0, 0))
            if level:
                builder.heading(level, " ".join(line.text for line in paragraph[:count]))
            builder.paragraph("\n".join(line.text for line in paragraph[count:]))
    return builder.built(known.with_pages(len(pages)), title=title_by_size(pages) or None)


def _bookmarks(pdf: Any) -> list[Bookmark]:
    bookmarks: list[Bookmark] = []
    for item in pdf.get_toc(max_depth=_MOST_BOOKMARK_DEPTH):
        destination = item.get_dest()
        page = destination.get_index() if destination is not None else None
        if page is not None:
            bookmarks.append(Bookmark(item.level + 1, item.get_title(), page))
        if len(bookmarks) >= _MOST_BOOKMARKS:
            break
    return bookmarks


def _properties(pdf: Any, pdfium: Any) -> Properties:
    values = pdf.get_metadata_dict(skip_empty=True)
    return properties(
        title=values.get("Title", ""),
        author=values.get("Author", ""),
        subject=values.get("Subject", ""),
        keywords=values.get("Keywords", ""),
        created=values.get("CreationDate", ""),
        modified=values.get("ModDate", ""),
        language=_language(pdf, pdfium),
    )


def _language(pdf: Any, pdfium: Any) -> str:
    length = pdfium.FPDFCatalog_GetLanguage(pdf.raw, None, 0)
    if not 0 < length < 100:
        return ""
    buffer = ctypes.create_string_buffer(length)
    pdfium.FPDFCatalog_GetLanguage(pdf.raw, ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort)), length)
    return buffer.raw.decode("utf-16-le", "replace").rstrip("\0")
