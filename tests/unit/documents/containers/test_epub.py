"""Books: chapters in reading order, and what protects them."""

import pytest

from docmill.documents.containers.epub import read_epub
from docmill.domain.errors import DocumentSkipped, SkipReason
from support.made_archives import book, zipped


def test_chapters_come_in_the_order_in_which_they_are_read() -> None:
    chapters = {"2.xhtml": "<h1>Second</h1><p>two</p>", "1%20x.xhtml": "<h1>First</h1><p>one</p>", "unread.xhtml": "<p>unread</p>"}
    extracted = read_epub(book(chapters, ["1%20x.xhtml", "2.xhtml"]))
    assert [heading.text for heading in extracted.outline.headings] == ["First", "Second"]
    assert extracted.text.index("one") < extracted.text.index("two")
    assert "unread" not in extracted.text
    assert extracted.title == "A Book"


def test_headings_stand_where_they_are_said_to_stand() -> None:
    chapters = {f"{number}.xhtml": f"<p>before</p><h2>Number {number}</h2><p>text</p>" for number in range(3)}
    extracted = read_epub(book(chapters, [*chapters]))
    for heading in extracted.outline.headings:
        assert heading.text in extracted.text[heading.start : heading.end]
        assert extracted.text[: heading.start].endswith("\n")


def test_what_the_book_says_of_itself_is_metadata() -> None:
    people = "<dc:creator>Ann</dc:creator><dc:creator>Bob</dc:creator>"
    metadata = f"<dc:title>T</dc:title>{people}<dc:language>en-GB</dc:language><dc:date>2020-02-03</dc:date>"
    extracted = read_epub(book({"a.xhtml": "<p>text</p>"}, ["a.xhtml"], metadata=metadata))
    assert extracted.language == "en"
    assert extracted.metadata == {"author": "Ann, Bob", "created": "2020-02-03"}


@pytest.mark.parametrize(
    ("algorithm", "is_read"), [("http://www.w3.org/2001/04/xmlenc#aes256-cbc", False), ("http://www.idpf.org/2008/embedding", True)]
)
def test_a_book_with_protected_text_is_encrypted_and_one_with_protected_fonts_is_not(algorithm: str, is_read: bool) -> None:
    encryption = f'<encryption><EncryptedData><EncryptionMethod Algorithm="{algorithm}"/></EncryptedData></encryption>'
    content = book({"a.xhtml": "<p>text</p>"}, ["a.xhtml"], **{"META-INF__encryption.xml": encryption})
    if is_read:
        assert "text" in read_epub(content).text
        return
    with pytest.raises(DocumentSkipped) as skipped:
        read_epub(content)
    assert skipped.value.reason is SkipReason.ENCRYPTED


def test_a_chapter_that_is_missing_costs_no_other() -> None:
    content = book({"a.xhtml": "<p>there</p>", "b.xhtml": "<p>gone</p>"}, ["b.xhtml", "a.xhtml"]).replace(
        b"OEBPS/b.xhtml", b"OEBPS/c.xhtml"
    )
    assert read_epub(content).text.strip() == "there"


def test_a_book_without_its_order_says_so() -> None:
    with pytest.raises(DocumentSkipped) as skipped:
        read_epub(zipped({"mimetype": "application/epub+zip", "a.xhtml": "<p>text</p>"}))
    assert skipped.value.reason is SkipReason.PARSER_FAILED
