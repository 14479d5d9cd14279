"""Archives: what they unpack to is bounded, and what is wrong with them has a name."""

import io
import struct
import zipfile

import pytest

from docmill.documents.containers import archive as archive_module
from docmill.documents.containers.archive import Archive
from docmill.domain.errors import DocumentSkipped, SkipReason
from support.made_archives import zipped


def reason_of(error: "pytest.ExceptionInfo[DocumentSkipped]") -> SkipReason:
    return error.value.reason


def test_entries_are_found_whatever_their_capitals_and_slashes() -> None:
    archive = Archive(zipped({"Word\\Document.XML": "text"}))
    assert "word/document.xml" in archive
    assert archive.read("word/document.xml") == b"text"


def test_an_entry_that_grows_very_much_is_too_large() -> None:
    archive = Archive(zipped({"a": b"A" * 20_000_000}))
    with pytest.raises(DocumentSkipped, match="200 times") as skipped:
        archive.open("a")
    assert reason_of(skipped) is SkipReason.TOO_LARGE


def test_an_entry_that_is_larger_than_it_says_is_noticed_while_it_is_read() -> None:
    content = zipped({"a": b"A" * 20_000_000})
    lying = content.replace(struct.pack("<L", 20_000_000), struct.pack("<L", 1000))
    assert lying != content
    with pytest.raises(DocumentSkipped):
        Archive(lying).read("a")


def test_the_sum_of_what_is_read_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive_module, "MOST_BYTES", 10_000)
    archive = Archive(zipped({"a": b"A" * 6000, "b": b"B" * 6000}))
    archive.read("a")
    with pytest.raises(DocumentSkipped) as skipped:
        archive.read("b")
    assert reason_of(skipped) is SkipReason.TOO_LARGE


def test_very_many_entries_are_not_even_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive_module, "MOST_ENTRIES", 100)
    with pytest.raises(DocumentSkipped, match="more than 100 files") as skipped:
        Archive(zipped({str(number): "" for number in range(101)}))
    assert reason_of(skipped) is SkipReason.TOO_LARGE


def test_an_entry_with_a_password_is_encrypted() -> None:
    buffer = io.BytesIO(zipped({"a": "text"}))
    content = bytearray(buffer.getvalue())
    for signature, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(signature) + place] |= 1
    with pytest.raises(DocumentSkipped) as skipped:
        Archive(bytes(content)).open("a")
    assert reason_of(skipped) is SkipReason.ENCRYPTED


@pytest.mark.parametrize("cut", [1, 30, 60])
def test_a_damaged_archive_says_so(cut: int) -> None:
    content = zipped({"a": "text" * 100})
    with pytest.raises(DocumentSkipped) as skipped:
        Archive(content[:-cut]).read("a")
    assert reason_of(skipped) is SkipReason.PARSER_FAILED


def test_damaged_data_says_so() -> None:
    content = bytearray(zipped({"a": "text" * 100}))
    with zipfile.ZipFile(io.BytesIO(bytes(content))) as archive:
        start = archive.infolist()[0].header_offset + 31
    content[start + 5] ^= 0xFF
    with pytest.raises(DocumentSkipped) as skipped:
        Archive(bytes(content)).read("a")
    assert reason_of(skipped) is SkipReason.PARSER_FAILED


def test_the_growth_of_pictures_counts_for_nothing() -> None:
    Archive(zipped({"word/media/image1.png": b"A" * 20_000_000})).require_bounded()
