"""The page of the formats has every format and every language that is read."""

from docmill.chunking.syntax.languages import LANGUAGES
from docmill.documents.file_types import known_extensions
from docmill.documents.readers import BYTES_READERS, TEXT_READERS
from docmill.documents.signatures import bytes_extensions
from docmill.domain.documents import DocumentKind
from docmill_services.cli.format_reference import FORMATS, format_page

PAGE = format_page("")


def test_every_reader_is_described() -> None:
    assert {*TEXT_READERS, *BYTES_READERS} - FORMATS.keys() == set()


def test_every_known_type_is_described() -> None:
    types = {one.mime for one in known_extensions().values() if one.kind is not DocumentKind.CODE} | {*bytes_extensions().values()}
    assert types - FORMATS.keys() == set()


def test_nothing_is_described_that_is_not_read() -> None:
    assert FORMATS.keys() - {*TEXT_READERS, *BYTES_READERS} == set()


def test_every_extension_and_every_language_is_named() -> None:
    named = {*known_extensions(), *bytes_extensions()} - {"ole"}
    assert [extension for extension in named if f"`.{extension}`" not in PAGE] == []
    assert [language for language in LANGUAGES if f"| {language} |" not in PAGE] == []
