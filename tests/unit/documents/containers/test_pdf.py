"""PDF: text per page in reading order, headings, and what cannot be read."""

import re
import zlib

import pypdfium2
import pypdfium2.raw
import pytest
from reportlab.pdfgen.canvas import Canvas

from docmill.documents.containers import pdf as pdf_module
from docmill.documents.containers.pdf import read_pdf
from docmill.documents.containers.pdf_words import PageText, Word
from docmill.domain.errors import DocumentSkipped, SkipReason
from support.extractions import headings_of, pages_of
from support.made_pdfs import Draw, bookmarked, chinese_and_japanese, lines, pdf, picture, together

PROSE = [f"This is line {number} of a text that goes on and on from one line to the next" for number in range(8)]


def reason_for(content: bytes) -> tuple[SkipReason, str]:
    with pytest.raises(DocumentSkipped) as skipped:
        read_pdf(content)
    return skipped.value.reason, skipped.value.detail


def test_each_page_begins_where_its_text_begins() -> None:
    extracted = read_pdf(pdf(lines("first page"), lines("second page"), lines("third page")))
    assert pages_of(extracted) == ["first page", "second page", "third page"]
    assert extracted.metadata["pages"] == 3


def test_a_page_without_text_has_its_number_too() -> None:
    extracted = read_pdf(pdf(lines("first"), lambda canvas: None, lines("third")))
    assert pages_of(extracted) == ["first", "", "third"]


def test_two_columns_are_read_one_after_the_other() -> None:
    def draw(canvas: Canvas) -> None:
        for number in range(30):
            canvas.drawString(72, 780 - 18 * number, f"LEFT column line {number} alpha")
            canvas.drawString(320, 780 - 18 * number, f"RIGHT column line {number} beta")

    found = re.findall(r"(LEFT|RIGHT) column line (\d+)", read_pdf(pdf(draw)).text)
    assert found == [("LEFT", str(number)) for number in range(30)] + [("RIGHT", str(number)) for number in range(30)]


def test_a_title_over_two_columns_comes_before_them_and_what_is_below_them_after() -> None:
    left = lines(*(f"left column text of line {number}" for number in range(9)), left=72, top=700)
    right = lines(*(f"right column text of line {number}" for number in range(9)), left=320, top=700)
    title = lines("A title that is written over both of the columns of this page in one line", top=760)
    foot = lines("And one more line that is written below both of the columns of this page", top=500)
    text = read_pdf(pdf(together(right, foot, left, title))).text
    order = [text.index(part) for part in ("A title", "left column text of line 8", "right column text of line 0", "And one more")]
    assert order == sorted(order)


def test_the_rows_of_a_table_stay_together() -> None:
    def draw(canvas: Canvas) -> None:
        for column, head in enumerate(["Name", "Size", "Price"]):
            for row in range(12):
                canvas.drawString(72 + 150 * column, 700 - 16 * row, f"{head}{row}")

    assert "Name3  Size3  Price3" in read_pdf(pdf(draw)).text


def test_words_that_are_parted_at_the_end_of_a_line_are_whole() -> None:
    text = read_pdf(pdf(lines("It was a very long docu-", "ment about re-", "trieval, and about well-", "Known things."))).text
    assert "document" in text
    assert "retrieval," in text
    assert "well-\nKnown" in text


def test_ligatures_are_letters() -> None:
    assert read_pdf(_mapped_pdf("o\ufb03ce \ufb01le")).text == "office file\n"


def test_paragraphs_stand_apart() -> None:
    draw = together(lines("One one one one.", "One two two two.", top=760), lines("Two one one one.", "Two two two two.", top=700))
    assert read_pdf(pdf(draw)).text == "One one one one.\nOne two two two.\n\nTwo one one one.\nTwo two two two.\n"


def test_bookmarks_are_the_headings() -> None:
    extracted = read_pdf(
        pdf(
            bookmarked("Introduction", 0, lines("1 Introduction", "", *PROSE)),
            bookmarked("The Details", 1, lines("1.1 THE", "DETAILS", "", *PROSE)),
            bookmarked("Not on its page", 0, lines(*PROSE)),
        )
    )
    assert headings_of(extracted) == [(1, "1 Introduction"), (2, "1.1 THE DETAILS")]


def test_without_bookmarks_larger_lines_are_the_headings() -> None:
    def page(number: int) -> Draw:
        return together(lines(f"Chapter {number}", size=20), lines("A section", size=15, top=720), lines(*PROSE, top=680))

    extracted = read_pdf(pdf(page(1), page(2)))
    assert headings_of(extracted) == [(1, "Chapter 1"), (2, "A section"), (1, "Chapter 2"), (2, "A section")]
    assert extracted.title == "Chapter 1"


def test_what_stands_at_the_head_and_the_foot_of_every_page_is_there_once() -> None:
    def page(number: int) -> Draw:
        return together(lines("A Book of Many Things", top=800), lines(*PROSE), lines(f"- {number} -", top=40))

    text = read_pdf(pdf(*map(page, range(1, 6)))).text
    assert text.count("A Book of Many Things") == 1
    assert not re.search(r"^\W*\d\W*$", text, re.MULTILINE)
    assert text.count("This is line 3") == 5


def test_short_pages_that_say_nearly_the_same_keep_their_lines() -> None:
    extracted = read_pdf(pdf(*(lines(f"page {number} NEEDLE{number}") for number in range(40))))
    assert [page.split()[-1] for page in pages_of(extracted)] == [f"NEEDLE{number}" for number in range(40)]


def test_chinese_and_japanese_text_is_read() -> None:
    text = read_pdf(pdf(chinese_and_japanese)).text
    assert "分布式文档索引系统使用说明" in text
    assert "全文検索エンジンの設定方法" in text


def test_turned_pages_are_read_as_they_are_shown() -> None:
    def draw(canvas: Canvas) -> None:
        canvas.setPageRotation(90)
        canvas.translate(595, 0)
        canvas.rotate(90)
        lines(*PROSE, top=500)(canvas)

    text = read_pdf(pdf(draw)).text
    assert text.split("\n")[:8] == PROSE


def test_text_that_is_set_upright_is_not_lost() -> None:
    def draw(canvas: Canvas) -> None:
        lines(*PROSE)(canvas)
        canvas.translate(40, 300)
        canvas.rotate(90)
        canvas.drawString(0, 0, "arXiv upright mark")

    text = read_pdf(pdf(draw)).text
    assert "arXiv upright mark" in text
    assert PROSE[4] in text


def test_what_is_filled_into_a_form_is_text() -> None:
    def draw(canvas: Canvas) -> None:
        canvas.drawString(72, 720, "Name of the applicant:")
        canvas.acroForm.textfield(name="applicant", value="Ada NEEDLEFORM", x=220, y=710, width=200, height=24)

    text = read_pdf(pdf(draw)).text
    assert "Name of the applicant:" in text
    assert "Ada NEEDLEFORM" in text


def test_what_the_file_says_of_itself_is_metadata() -> None:
    def draw(canvas: Canvas) -> None:
        canvas.setTitle("The Real Title")
        canvas.setAuthor("Ada Lovelace")
        canvas.setKeywords("engines, notes")
        lines("text")(canvas)

    extracted = read_pdf(pdf(draw))
    assert extracted.title == "The Real Title"
    assert extracted.metadata["author"] == "Ada Lovelace"
    assert extracted.metadata["keywords"] == ["engines", "notes"]
    assert str(extracted.metadata["created"]).startswith("2000-01-01")


def test_a_title_that_only_says_which_program_wrote_it_is_none() -> None:
    def draw(canvas: Canvas) -> None:
        canvas.setTitle("Microsoft Word - Document1")
        lines("text")(canvas)

    assert read_pdf(pdf(draw)).title == ""


def test_a_file_with_a_password_is_encrypted() -> None:
    assert reason_for(pdf(lines("secret"), password="xyzzy"))[0] is SkipReason.ENCRYPTED


def test_a_file_that_only_forbids_printing_is_read() -> None:
    assert read_pdf(pdf(lines("open to all"), owner="boss")).text == "open to all\n"


def letters_as_curves(canvas: Canvas) -> None:
    path = canvas.beginPath()
    path.moveTo(72, 700)
    path.curveTo(80, 720, 90, 690, 99, 710)
    canvas.drawPath(path)


@pytest.mark.parametrize("draw", [picture, letters_as_curves])
def test_pages_that_are_pictures_are_scanned(draw: Draw) -> None:
    assert reason_for(pdf(draw, draw))[0] is SkipReason.SCANNED


def test_pictures_beside_pages_of_text_are_no_scan() -> None:
    assert pages_of(read_pdf(pdf(picture, lines("text")))) == ["", "text"]


def test_a_file_whose_pages_are_blank_is_empty() -> None:
    assert read_pdf(pdf(lambda canvas: None)).text == ""


@pytest.mark.parametrize("content", [b"%PDF-1.7\n", b"%PDF-1.4\nnothing of a PDF\n%%EOF", pdf(*[lines("text")] * 3)[:700]])
def test_a_damaged_file_says_so(content: bytes) -> None:
    reason, detail = reason_for(content)
    assert reason is SkipReason.PARSER_FAILED
    assert "damaged" in detail


def test_one_damaged_page_costs_no_other() -> None:
    content = pdf(lines("first page"), lines("second page"), lines("third page"))
    broken = re.sub(rb"/Type /Page\b(?!s)", b"/Type /Nope", content, count=1)
    assert "third page" in read_pdf(broken).text


def test_pages_that_lead_to_themselves_end() -> None:
    content = pdf(lines("text"))
    looped = re.sub(rb"/Kids \[ (\d+ 0 R) \]", lambda match: b"/Kids [ " + _pages_id(content) + b" ]", content)
    assert looped != content
    assert reason_for(looped)[0] is SkipReason.PARSER_FAILED


def test_more_text_than_a_document_may_have_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf_module, "MOST_CHARACTERS", 1000)
    assert reason_for(pdf(*[lines(*PROSE)] * 5))[0] is SkipReason.TOO_LARGE


def test_characters_outside_the_basic_plane_do_not_shift_what_follows() -> None:
    assert [word.text for word in _words(_mapped_pdf("\U0001f600 then more"))] == ["\U0001f600", "then", "more"]


def test_right_to_left_text_is_read_in_logical_order() -> None:
    assert "שלום" in read_pdf(_mapped_pdf("םולש")).text  # as it is drawn, from left to right


def _pages_id(content: bytes) -> bytes:
    match = re.search(rb"/Pages (\d+ 0 R)", content)
    assert match is not None
    return match[1]


def _words(content: bytes) -> list[Word]:
    document = pypdfium2.PdfDocument(content)
    page = document[0]
    text = PageText(pypdfium2.raw, page)
    words = text.words()
    text.close()
    page.close()
    document.close()
    return words


def _mapped_pdf(text: str) -> bytes:
    """A PDF whose font has a ToUnicode map from the bytes 1, 2, ... to the characters of ``text``."""
    entries = "".join(f"<{place:02x}> <{character.encode('utf-16-be').hex()}>\n" for place, character in enumerate(text, 1))
    mapping = f"begincmap 1 begincodespacerange <00> <ff> endcodespacerange {len(text)} beginbfchar\n{entries}endbfchar endcmap".encode()
    drawn = b"BT /F 12 Tf 72 700 Td <" + bytes(range(1, len(text) + 1)).hex().encode() + b"> Tj ET"
    widths = b" ".join([b"600"] * len(text))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(drawn), drawn),
        b"<< /Type /Font /Subtype /TrueType /BaseFont /Any /FirstChar 1 /LastChar %d /Widths [%s] /ToUnicode 6 0 R >>"
        % (len(text), widths),
        b"<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream" % (len(zlib.compress(mapping)), zlib.compress(mapping)),
    ]
    body, places = b"%PDF-1.4\n", []
    for number, one in enumerate(objects, 1):
        places.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, one)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    trailer = b"xref\n0 %d\n0000000000 65535 f \n%strailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % (7, table, 7, len(body))
    return body + trailer


def test_marks_of_a_list_that_are_drawn_first_stand_before_their_points() -> None:
    def draw(canvas: Canvas) -> None:
        for number in (1, 2, 3):
            canvas.drawString(72, 700 - 14 * number, f"{number}.")
        for number in (1, 2, 3):
            canvas.drawString(90, 700 - 14 * number, f"point {number}")

    assert read_pdf(pdf(draw)).text.split() == ["1.", "point", "1", "2.", "point", "2", "3.", "point", "3"]


def test_dots_that_lead_to_a_page_number_are_one_mark() -> None:
    assert read_pdf(pdf(lines("1 Introduction . . . . . . . . . . . . 7", "Name: ______________"))).text == "1 Introduction … 7\nName: …\n"


def test_bold_lines_that_stand_alone_are_headings_below_the_larger_ones() -> None:
    def bold(*texts: str, top: float) -> Draw:
        def draw(canvas: Canvas) -> None:
            canvas.setFont("Helvetica-Bold", 11)
            for place, text in enumerate(texts):
                canvas.drawString(72, top - 14 * place, text)

        return draw

    page = together(
        lines("A Large Title", size=20),
        bold("Scope of it", top=700),
        lines(*PROSE, top=686),
        bold("Everything else", top=560),
        lines(*PROSE, top=546),
    )
    assert headings_of(read_pdf(pdf(page))) == [(1, "A Large Title"), (2, "Scope of it"), (2, "Everything else")]


def test_a_line_that_only_begins_in_bold_is_no_heading() -> None:
    def draw(canvas: Canvas) -> None:
        canvas.setFont("Helvetica-Bold", 11)
        canvas.drawString(72, 600, "Term:")
        canvas.setFont("Helvetica", 11)
        canvas.drawString(106, 600, "what it means")
        lines(*PROSE)(canvas)

    assert headings_of(read_pdf(pdf(draw))) == []
