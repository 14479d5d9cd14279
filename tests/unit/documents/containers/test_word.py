"""Word documents: headings, tables, lists, notes, and what is as it is only while somebody edits."""

import io

import docx
import pytest
from docx.oxml import OxmlElement

from docmill.documents.containers.word import read_docx
from docmill.domain.errors import DocumentSkipped, SkipReason
from support.extractions import blocks_of, headings_of
from support.made_archives import paragraph, word, zipped


def saved(document: "docx.document.Document") -> bytes:
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def test_headings_are_known_by_their_styles() -> None:
    document = docx.Document()
    document.add_heading("The Title", 0)
    document.add_heading("Section one", 1)
    document.add_paragraph("Text of one.")
    document.add_heading("Part of one", 2)
    document.add_heading("Section two", 1)
    extracted = read_docx(saved(document))
    assert headings_of(extracted) == [(1, "The Title"), (1, "Section one"), (2, "Part of one"), (1, "Section two")]
    assert extracted.title == "The Title"


@pytest.mark.parametrize(
    "styles",
    [
        '<w:style w:type="paragraph" w:styleId="berschrift2"><w:name w:val="heading 2"/></w:style>',
        '<w:style w:type="paragraph" w:styleId="Mine"><w:name w:val="mine"/><w:pPr><w:outlineLvl w:val="1"/></w:pPr></w:style>'
        '<w:style w:type="paragraph" w:styleId="berschrift2"><w:name w:val="mine too"/><w:basedOn w:val="Mine"/></w:style>',
    ],
)
def test_a_heading_is_one_in_any_language_and_under_any_name(styles: str) -> None:
    extracted = read_docx(word(paragraph("Zwei", style="berschrift2") + paragraph("Text"), styles=styles))
    assert headings_of(extracted) == [(2, "Zwei")]


def test_styles_that_are_based_on_each_other_end() -> None:
    style = '<w:style w:type="paragraph" w:styleId="{}"><w:name w:val="x"/><w:basedOn w:val="{}"/></w:style>'
    extracted = read_docx(word(paragraph("Text", style="A"), styles=style.format("A", "B") + style.format("B", "A")))
    assert extracted.text == "Text\n"


def test_a_table_is_one_block_with_its_header_row_and_merged_cells_once() -> None:
    document = docx.Document()
    table = document.add_table(rows=3, cols=3)
    for row in range(3):
        for column in range(3):
            table.cell(row, column).text = f"cell {row}{column}"
    table.cell(1, 1).merge(table.cell(2, 2)).text = "merged"
    table.cell(0, 0).add_table(1, 1).cell(0, 0).text = "nested"
    assert blocks_of(read_docx(saved(document))) == [("cell 00 nested | cell 01 | cell 02\n", "cell 10 | merged\ncell 20\n")]


def test_all_rows_that_are_marked_are_the_header() -> None:
    rows = "".join(
        f"<w:tr><w:trPr>{mark}</w:trPr><w:tc>{paragraph(f'a{number}')}</w:tc><w:tc>{paragraph('b')}</w:tc></w:tr>"
        for number, mark in enumerate(["<w:tblHeader/>", "<w:tblHeader/>", "", ""])
    )
    assert blocks_of(read_docx(word(f"<w:tbl>{rows}</w:tbl>"))) == [("a0 | b\na1 | b\n", "a2 | b\na3 | b\n")]


def test_a_table_of_one_column_is_a_frame_around_text() -> None:
    document = docx.Document()
    table = document.add_table(rows=2, cols=1)
    table.cell(0, 0).paragraphs[0].text = "In a frame"
    table.cell(1, 0).add_paragraph("A heading in it", style="Heading 1")
    extracted = read_docx(saved(document))
    assert headings_of(extracted) == [(1, "A heading in it")]
    assert not extracted.outline.blocks


def test_lists_are_blocks_with_marks() -> None:
    document = docx.Document()
    document.add_paragraph("Before")
    document.add_paragraph("one", style="List Bullet")
    document.add_paragraph("two", style="List Bullet")
    document.add_paragraph("Between")
    document.add_paragraph("first", style="List Number")
    document.add_paragraph("second", style="List Number")
    assert blocks_of(read_docx(saved(document))) == [("", "- one\n- two\n"), ("", "1. first\n2. second\n")]


def test_notes_and_comments_follow_the_paragraph_that_they_belong_to() -> None:
    body = paragraph(
        "Text", '<w:r><w:footnoteReference w:id="2"/></w:r>', " goes on", '<w:r><w:commentReference w:id="0"/></w:r>'
    ) + paragraph("Next", '<w:r><w:endnoteReference w:id="2"/></w:r>')
    content = word(
        body,
        footnotes='<w:footnote w:type="separator" w:id="0"/><w:footnote w:id="2">' + paragraph("A foot note") + "</w:footnote>",
        endnotes='<w:endnote w:id="2">' + paragraph("An end note") + "</w:endnote>",
        comments='<w:comment w:id="0" w:author="Ann">' + paragraph("A remark") + "</w:comment>",
    )
    assert read_docx(content).text == "Text[2] goes on\n\n[2] A foot note\n\nComment (Ann): A remark\n\nNext[2]\n\n[2] An end note\n"


def test_tracked_changes_count_as_accepted() -> None:
    body = paragraph(
        "kept",
        "<w:ins><w:r><w:t> inserted</w:t></w:r></w:ins>",
        "<w:del><w:r><w:delText> deleted</w:delText></w:r></w:del>",
        "<w:moveFrom><w:r><w:t> moved away</w:t></w:r></w:moveFrom>",
        "<w:moveTo><w:r><w:t> moved here</w:t></w:r></w:moveTo>",
    )
    assert read_docx(word(body)).text == "kept inserted moved here\n"


def test_text_in_content_controls_links_fields_and_boxes_is_read() -> None:
    body = (
        f"<w:sdt><w:sdtPr><w:alias w:val='no'/></w:sdtPr><w:sdtContent>{paragraph('in a control')}</w:sdtContent></w:sdt>"
        + paragraph("<w:hyperlink><w:r><w:t>in a link</w:t></w:r></w:hyperlink>")
        + paragraph(
            "<w:r><w:instrText>PAGEREF no</w:instrText></w:r>", '<w:fldSimple w:instr="no"><w:r><w:t>in a field</w:t></w:r></w:fldSimple>'
        )
        + paragraph(
            '<w:r><mc:AlternateContent xmlns:mc="urn:mc"><mc:Choice><w:drawing><w:txbxContent>'
            + paragraph("in a box")
            + "</w:txbxContent></w:drawing></mc:Choice><mc:Fallback><w:pict><w:txbxContent>"
            + paragraph("in a box")
            + "</w:txbxContent></w:pict></mc:Fallback></mc:AlternateContent></w:r>"
        )
    )
    text = read_docx(word(body)).text
    assert [line for line in text.split("\n") if line] == ["in a control", "in a link", "in a field", "in a box"]


def test_hidden_text_and_tables_of_contents_are_left_out() -> None:
    body = paragraph("Section one ........ 3", style="TOC1") + paragraph(
        "seen", "<w:r><w:rPr><w:vanish/></w:rPr><w:t> unseen</w:t></w:r>", '<w:r><w:rPr><w:vanish w:val="0"/></w:rPr><w:t> too</w:t></w:r>'
    )
    styles = '<w:style w:type="paragraph" w:styleId="TOC1"><w:name w:val="toc 1"/></w:style>'
    assert read_docx(word(body, styles=styles)).text == "seen too\n"


def test_tabs_breaks_and_hyphens_are_what_they_look_like() -> None:
    body = paragraph(
        '<w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t><w:noBreakHyphen/><w:t>d</w:t><w:br w:type="page"/><w:t>e</w:t></w:r>'
    )
    assert read_docx(word(body)).text == "a\tb\nc-de\n"


def test_what_the_file_says_of_itself_is_metadata() -> None:
    document = docx.Document()
    document.add_paragraph("text")
    document.core_properties.title = "Real title"
    document.core_properties.author = "Ada"
    document.core_properties.keywords = "one; two"
    document.core_properties.language = "de-CH"
    extracted = read_docx(saved(document))
    assert (extracted.title, extracted.language) == ("Real title", "de")
    assert extracted.metadata["author"] == "Ada"
    assert extracted.metadata["keywords"] == ["one", "two"]
    assert str(extracted.metadata["created"]).startswith("20")


def test_strict_files_and_odd_part_names_are_read() -> None:
    strict = "http://purl.oclc.org/ooxml/"
    content = zipped(
        {
            "_rels\\.rels": f'<Relationships><Relationship Id="a" Type="{strict}officeDocument/relationships/officeDocument"'
            ' Target="/Word/Main.xml"/></Relationships>',
            "word/main.xml": f'<w:document xmlns:w="{strict}wordprocessingml/main"><w:body>{paragraph("strict")}</w:body></w:document>',
        }
    )
    assert read_docx(content).text == "strict\n"


def test_right_to_left_text_is_kept_in_logical_order() -> None:
    assert read_docx(word(paragraph("שלום עולם"))).text == "שלום עולם\n"


def test_a_damaged_file_says_so() -> None:
    document = docx.Document()
    document.add_paragraph("text " * 1000)
    content = saved(document)
    for damaged in (
        content[: len(content) // 2],
        b"PK\x03\x04" + b"\0" * 100,
        zipped({"word/other.xml": "<a/>"}),
        word("<w:p>").replace(b"x", b""),
    ):
        with pytest.raises(DocumentSkipped) as skipped:
            read_docx(damaged)
        assert skipped.value.reason is SkipReason.PARSER_FAILED


def test_a_body_that_is_nested_very_deeply_costs_only_itself() -> None:
    with pytest.raises(DocumentSkipped, match="nested"):
        read_docx(word("<w:sdt>" * 5000 + "</w:sdt>" * 5000))


def test_equations_are_read_as_their_characters() -> None:
    document = docx.Document()
    equation = OxmlElement("m:oMath")
    run, text = OxmlElement("m:r"), OxmlElement("m:t")
    text.text = "E=mc"
    run.append(text)
    equation.append(run)
    document.add_paragraph("So ")._p.append(equation)
    assert read_docx(saved(document)).text == "So E=mc\n"
