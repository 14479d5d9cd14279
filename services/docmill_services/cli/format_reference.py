"""The reference page of the formats and languages, made from the tables by which files are read."""

from collections.abc import Iterator, Mapping
from typing import Final

from docmill.adapters.isolation.process import CONTAINER_MEMORY_BYTES
from docmill.chunking.syntax.languages import LANGUAGES
from docmill.documents.containers.archive import MOST_BYTES, MOST_ENTRIES, MOST_GROWTH, MOST_PART_BYTES
from docmill.documents.containers.text_builder import MOST_CHARACTERS
from docmill.documents.file_types import FileType, known_extensions, known_names
from docmill.documents.readers import BYTES_READERS, TEXT_READERS
from docmill.documents.reading import CONTAINERS_ARE_LARGER
from docmill.documents.signatures import binary_formats, bytes_extensions, is_taken_apart
from docmill.documents.token_shapes import TOKEN_SHAPES
from docmill.domain.documents import DocumentKind
from docmill.domain.knowledge_bases import KnowledgeBase
from docmill.indexing.containers import CONTAINER_SECONDS

_WORKBOOK: Final = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"

#: Of each media type: what people call it, and what is read of it.
FORMATS: Final[Mapping[str, tuple[str, str]]] = {
    "text/markdown": (
        "Markdown",
        "All of it; front matter as title and metadata, headings, fenced code, tables and lists. The data of inline images is left out.",
    ),
    "text/x-rst": (
        "reStructuredText",
        "All of it, with its sections, literal blocks, tables and lists.",
    ),
    "text/asciidoc": (
        "AsciiDoc",
        "The text with its sections, blocks, tables and lists; comments are left out, attributes of the header are metadata.",
    ),
    "text/org": (
        "Org",
        "The text with its headings, blocks, tables and lists; property drawers are left out, settings at the top are metadata.",
    ),
    "text/x-tex": (
        "LaTeX",
        "The source with its sections and environments; the preamble and comments are left out. Nothing is typeset.",
    ),
    "text/troff": (
        "Manual page",
        "Pages in `man` and `mdoc` with their sections; comments are left out.",
    ),
    "text/html": (
        "HTML",
        "The text of the page with title, headings, lists, tables and code; no scripts, styles, comments, navigation and hidden parts.",
    ),
    "application/xhtml+xml": (
        "XHTML",
        "As HTML.",
    ),
    "application/xml": (
        "XML",
        "What its elements say; of documents (DocBook, DITA, ...) the running text under its titles. Nothing outside the file is read.",
    ),
    "image/svg+xml": (
        "SVG",
        "The words in the drawing, its title and its descriptions.",
    ),
    "application/json": (
        "JSON",
        "The text as it is but with letters for their escapes, large parts as sections under their keys. What is broken is read as text.",
    ),
    "application/json5": (
        "JSON with comments",
        "As JSON.",
    ),
    "application/geo+json": (
        "GeoJSON",
        "As JSON.",
    ),
    "application/x-ndjson": (
        "JSON lines",
        "As JSON, record by record.",
    ),
    "application/yaml": (
        "YAML",
        "The text as it is, large keys as sections, entries whole.",
    ),
    "application/toml": (
        "TOML",
        "The text as it is, tables as sections.",
    ),
    "text/x-ini": (
        "Settings",
        "As TOML.",
    ),
    "text/csv": (
        "CSV",
        "One table, whose header row is repeated; wide rows as records.",
    ),
    "text/tab-separated-values": (
        "TSV",
        "As CSV.",
    ),
    "text/x-log": (
        "Log",
        "The text without colours; entries of several lines whole.",
    ),
    "application/x-ipynb+json": (
        "Jupyter notebook",
        "The cells in order, with the text that their code printed; no images.",
    ),
    "message/rfc822": (
        "Mail",
        "Subject, sender, receivers, date and text; attachments are named, not read.",
    ),
    "application/mbox": (
        "Mailbox",
        "Mail after mail.",
    ),
    "multipart/related": (
        "Web archive",
        "As HTML.",
    ),
    "application/rtf": (
        "RTF",
        "The text, with headings by the styles' outline levels, and tables row by row.",
    ),
    "text/plain": (
        "Text",
        "All of it but a terminal's colours; underlined lines are headings.",
    ),
    "application/pdf": (
        "PDF",
        "Page by page, with page numbers, and headings from bookmarks or larger print. A file whose pages are pictures is `scanned`.",
    ),
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": (
        "Word",
        "Headings, tables, lists, notes and comments, as if all changes were accepted; page headers and footers are left out.",
    ),
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": (
        "PowerPoint",
        "Slide by slide, a slide being a page: titles, tables, diagrams, comments and the speaker's notes.",
    ),
    _WORKBOOK: (
        "Excel",
        "Sheet by sheet, with the values that were computed last; hidden sheets are left out.",
    ),
    "application/vnd.oasis.opendocument.text": (
        "OpenDocument text",
        "Text, headings, tables, lists and notes.",
    ),
    "application/vnd.oasis.opendocument.spreadsheet": (
        "OpenDocument spreadsheet",
        "Sheet by sheet; hidden sheets are left out.",
    ),
    "application/vnd.oasis.opendocument.presentation": (
        "OpenDocument presentation",
        "Slide by slide.",
    ),
    "application/epub+zip": (
        "EPUB",
        "The chapters in the order of the book; a book with copy protection is `encrypted`.",
    ),
    "application/vnd.ms-excel": (
        "Office before 2007",
        "Workbooks (`.xls`) as Excel; of `.doc`, `.ppt` and `.msg` nothing. A newer Office file with a password is `encrypted`.",
    ),
}

#: The extras that some readers need.
_EXTRAS: Final[Mapping[str, str]] = {"application/pdf": "formats", _WORKBOOK: "formats", "application/vnd.ms-excel": "formats"}
_OLE_EXTENSIONS: Final = ("xls", "doc", "ppt", "msg")


def format_page(generated: str) -> str:
    """``formats.md``: every format and every language that is known, with its limits; ``generated`` is said at its top."""
    most = KnowledgeBase.__dataclass_fields__["max_file_size_bytes"].default
    assert isinstance(most, int)
    lines = [
        "# Formats and languages",
        "",
        generated,
        "",
        "What a file is, is decided by its bytes and by its name: a Word file is one whatever it is called. What is indexed and what is",
        "not, and how to see it, is in [files](../files.md).",
        "",
        "## Documents",
        "",
        f"Text may have {_mib(most)} MiB (`max_file_size`); what is taken apart, {CONTAINERS_ARE_LARGER} times as much. Formats with an",
        "extra need `pip install 'docmill[formats]'`; without it such a file is left out as `not_installed`.",
        "",
        "| format | extensions | what is read | taken apart | extra |",
        "| --- | --- | --- | --- | --- |",
        *_format_rows(),
        "",
        "Any other file is read as text if it is text: in UTF-8, UTF-16 or UTF-32, or in an older encoding that is told by its letters.",
        "",
        "## Limits of what is taken apart",
        "",
        "Such a file is taken apart in a process of its own, and costs no other file anything.",
        "",
        "| what | at most |",
        "| --- | --- |",
        f"| time | {CONTAINER_SECONDS:.0f} s |",
        f"| memory | {_mib(CONTAINER_MEMORY_BYTES)} MiB |",
        f"| parts of an archive | {MOST_ENTRIES:,} |",
        f"| one part, unpacked | {_mib(MOST_PART_BYTES)} MiB |",
        f"| all parts, unpacked | {_mib(MOST_BYTES)} MiB, and {MOST_GROWTH} times the size of the file |",
        f"| text | {MOST_CHARACTERS:,} characters |",
        "",
        "## Source code",
        "",
        "With `code_aware: true` a language with a grammar is cut by its syntax (`pip install 'docmill[code]'`): functions and classes",
        "stay whole, and their names are headings. Other languages, and all without `code_aware`, are cut as text.",
        "",
        "| language | extensions and names | grammar |",
        "| --- | --- | --- |",
        *_language_rows(),
        "",
        "A file without a known name is known by its `#!` line or by an editor's mode line.",
        "",
        "## Known, and not read",
        "",
        f"{', '.join(_not_read())}; and whatever else is not text. They are left out as `binary`.",
        "",
        "## Secrets in text",
        "",
        f"{', '.join(_secrets())}. Examples and placeholders are told apart; see [files](../files.md#secrets).",
        "",
    ]
    return "\n".join(lines).rstrip() + "\n"


def _format_rows() -> Iterator[str]:
    extensions: dict[str, list[str]] = {}
    for extension, file_type in known_extensions().items():
        if file_type.kind is not DocumentKind.CODE:
            extensions.setdefault(file_type.mime, []).append(extension)
    for extension, mime in bytes_extensions().items():
        named = _OLE_EXTENSIONS if extension == "ole" else (extension,)
        extensions.setdefault(mime, []).extend(named)
    for mime, (name, read) in FORMATS.items():
        if mime in extensions or mime in TEXT_READERS:
            known = " ".join(f"`.{extension}`" for extension in sorted(extensions.get(mime, ())))
            taken_apart = "yes" if mime in BYTES_READERS and is_taken_apart(FileType(DocumentKind.TEXT, mime)) else "no"
            yield f"| {name} | {known or 'by its content'} | {read} | {taken_apart} | {_extra(mime)} |"


def _extra(mime: str) -> str:
    return f"`{_EXTRAS[mime]}`" if mime in _EXTRAS else ""


def _language_rows() -> Iterator[str]:
    files: dict[str, list[str]] = {}
    for extension, file_type in sorted(known_extensions().items()):
        if file_type.language is not None:
            files.setdefault(file_type.language, []).append(f"`.{extension}`")
    for name, file_type in sorted(known_names().items()):
        assert isinstance(file_type, FileType)
        if file_type.language is not None:
            files.setdefault(file_type.language, []).append(f"`{name}`")
    for language in sorted({*files, *LANGUAGES}):
        yield f"| {language} | {' '.join(files.get(language, ()))} | {'yes' if language in LANGUAGES else 'no'} |"


def _not_read() -> list[str]:
    read = {"PDF", "RTF", "ZIP or Office", "old Office"}
    return [name for name in binary_formats() if name not in read]


def _secrets() -> list[str]:
    tokens = [shape.kind.partition(" ")[2] for shape in TOKEN_SHAPES]
    return list(dict.fromkeys(["Private keys (PEM, OpenSSH, PGP, PuTTY)", *tokens, "JWT", "passwords in addresses and connection strings"]))


def _mib(size_bytes: int) -> int:
    return size_bytes >> 20
