"""OpenDocument: texts, sheets and slides."""

import pytest

from docmill.documents.containers.open_document import read_odp, read_ods, read_odt
from docmill.domain.errors import DocumentSkipped, SkipReason
from support.extractions import blocks_of, headings_of, pages_of
from support.made_archives import open_document


def cell(text: str = "", **attributes: str) -> str:
    said = "".join(f' table:{name.replace("_", "-")}="{value}"' for name, value in attributes.items())
    return f"<table:table-cell{said}>{f'<text:p>{text}</text:p>' if text else ''}</table:table-cell>"


def row(*cells: str, **attributes: str) -> str:
    said = "".join(f' table:{name.replace("_", "-")}="{value}"' for name, value in attributes.items())
    return f"<table:table-row{said}>{''.join(cells)}</table:table-row>"


def test_headings_lists_tables_and_paragraphs_come_in_order() -> None:
    body = (
        '<text:h text:outline-level="1">One</text:h><text:p>Text<text:s text:c="2"/>of<text:tab/>one</text:p>'
        '<text:h text:outline-level="2">Below</text:h>'
        "<text:list><text:list-item><text:p>first</text:p>"
        "<text:list><text:list-item><text:p>deeper</text:p></text:list-item></text:list></text:list-item>"
        "<text:list-item><text:p>second</text:p></text:list-item></text:list>"
        f"<table:table><table:table-header-rows>{row(cell('head'), cell('er'))}</table:table-header-rows>"
        f"{row(cell('a'), cell('b'))}</table:table>"
    )
    extracted = read_odt(open_document("text", body))
    assert headings_of(extracted) == [(1, "One"), (2, "Below")]
    assert "Text  of\tone" in extracted.text
    assert blocks_of(extracted) == [("", "- first\n  - deeper\n- second\n"), ("head | er\n", "a | b\n")]


def test_notes_and_comments_follow_their_paragraph_and_deleted_text_is_gone() -> None:
    body = (
        "<text:tracked-changes><text:deletion><text:p>deleted</text:p></text:deletion></text:tracked-changes>"
        "<text:table-of-content><text:index-body><text:p>One ... 3</text:p></text:index-body></text:table-of-content>"
        "<text:p>Text<text:note><text:note-citation>1</text:note-citation>"
        "<text:note-body><text:p>a note</text:p></text:note-body></text:note>"
        "<office:annotation><dc:creator>Ann</dc:creator><text:p>a remark</text:p></office:annotation> goes on</text:p>"
    )
    assert read_odt(open_document("text", body)).text == "Text[1] goes on\n\n[1] a note\n\nComment (Ann): a remark\n"


def test_what_the_file_says_of_itself_is_metadata() -> None:
    meta = (
        "<dc:title>Of Mills</dc:title><dc:creator>Ada</dc:creator><dc:language>fr-FR</dc:language>"
        "<meta:creation-date>2024-05-06T07:08:09</meta:creation-date>"
    )
    extracted = read_odt(open_document("text", "<text:p>text</text:p>", meta=meta))
    assert (extracted.title, extracted.language) == ("Of Mills", "fr")
    assert extracted.metadata == {"author": "Ada", "created": "2024-05-06T07:08:09"}


def test_a_paragraph_in_the_title_style_is_the_title() -> None:
    styles = '<style:style style:name="P1" style:family="paragraph" style:parent-style-name="Title"/>'
    body = '<text:p text:style-name="P1">The title</text:p><text:h text:outline-level="1">One</text:h>'
    extracted = read_odt(open_document("text", body, styles=styles))
    assert extracted.title == "The title"
    assert headings_of(extracted) == [(1, "The title"), (1, "One")]


def test_the_sheets_that_are_shown_are_read() -> None:
    styles = '<style:style style:name="ta2" style:family="table"><style:table-properties table:display="false"/></style:style>'
    body = (
        f'<table:table table:name="Seen">{row(cell("fruit"), cell("price"))}{row(cell("apple"), cell("2.00 €"))}'
        f"{row(cell(number_columns_repeated='16384'), number_rows_repeated='1048000')}</table:table>"
        f'<table:table table:name="Unseen" table:style-name="ta2">{row(cell("hidden"))}</table:table>'
    )
    extracted = read_ods(open_document("spreadsheet", body, styles=styles))
    assert headings_of(extracted) == [(1, "Seen")]
    assert blocks_of(extracted) == [("fruit | price\n", "apple | 2.00 €\n")]


def test_rows_that_are_repeated_a_million_times_are_bounded() -> None:
    body = f'<table:table table:name="S">{row(cell("again", number_columns_repeated="3"), number_rows_repeated="1048576")}</table:table>'
    assert read_ods(open_document("spreadsheet", body)).text.count("again | again | again") == 1000


def test_each_slide_is_a_page_with_its_title_and_its_notes() -> None:
    def slide(title: str, text: str, notes: str) -> str:
        return (
            f"<draw:page><draw:frame><draw:text-box><text:p>{text}</text:p></draw:text-box></draw:frame>"
            f'<draw:frame presentation:class="title"><draw:text-box><text:p>{title}</text:p></draw:text-box></draw:frame>'
            f'<presentation:notes><draw:frame presentation:class="notes"><text:p>{notes}</text:p></draw:frame>'
            "</presentation:notes></draw:page>"
        )

    extracted = read_odp(open_document("presentation", slide("One", "text of one", "say this") + slide("", "text of two", "")))
    assert pages_of(extracted) == ["One\n\ntext of one\n\nNotes: say this", "Slide 2\n\ntext of two"]


def test_a_file_with_a_password_is_encrypted() -> None:
    content = open_document("text", "", manifest="<manifest:file-entry><manifest:encryption-data/></manifest:file-entry>")
    for read in (read_odt, read_ods, read_odp):
        with pytest.raises(DocumentSkipped) as skipped:
            read(content)
        assert skipped.value.reason is SkipReason.ENCRYPTED
