"""Which reader takes apart which kind of container, by media type; none is imported before it is needed, which few processes do."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Final

from docmill.documents.extracted import Extracted

BytesReader = Callable[[bytes], Extracted]


def _reader(module: str, name: str) -> BytesReader:
    def read(content: bytes) -> Extracted:
        reader: BytesReader = getattr(import_module(f"docmill.documents.containers.{module}"), name)
        return reader(content)

    return read


CONTAINER_READERS: Final[Mapping[str, BytesReader]] = {
    "application/pdf": _reader("pdf", "read_pdf"),
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": _reader("word", "read_docx"),
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": _reader("slides", "read_pptx"),
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": _reader("sheets", "read_workbook"),
    "application/vnd.oasis.opendocument.text": _reader("open_document", "read_odt"),
    "application/vnd.oasis.opendocument.spreadsheet": _reader("open_document", "read_ods"),
    "application/vnd.oasis.opendocument.presentation": _reader("open_document", "read_odp"),
    "application/epub+zip": _reader("epub", "read_epub"),
    "application/vnd.ms-excel": _reader("compound_files", "read_compound"),
}
