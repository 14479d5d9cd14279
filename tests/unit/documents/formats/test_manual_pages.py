from docmill.documents.loading import load

PAGE = '.\\" licence\n.TH LS 1 "March 2024" "x"\n.SH NAME\nls \\- list\n.SS "In \\fIdetail\\fR"\n.nf\ncode\nmore\n.fi\n'


def test_a_manual_page_has_its_sections_and_its_name() -> None:
    document = load("man/ls.1", PAGE.encode())
    assert (document.mime, document.title) == ("text/troff", "LS(1)")
    assert [(heading.level, heading.text) for heading in document.outline.headings] == [(1, "NAME"), (2, "In detail")]
    assert document.text.startswith(".TH")
    assert document.source_lines is not None
    assert document.source_lines[0] == 2
    (block,) = document.outline.blocks
    assert document.text[block.start : block.end] == ".nf\ncode\nmore\n.fi\n"


def test_a_text_whose_name_ends_in_a_digit_is_no_manual_page() -> None:
    assert load("app.log.1", b"text\n").mime == "text/plain"
