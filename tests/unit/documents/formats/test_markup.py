"""Markup: tokens of HTML and XML, and what they make of mistakes and of hostile input."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docmill.documents.formats.html import read_html
from docmill.documents.formats.markup import Mark, tokens, unescaped
from docmill.documents.formats.xml import read_xml


def seen(markup: str, *, xml: bool = False) -> list[tuple[Mark, str]]:
    return [(token.mark, token.text) for token in tokens(markup, xml=xml)]


def test_tags_and_texts_come_with_their_places() -> None:
    markup = 'a<P CLASS="x" b=y disabled>b &amp; c</p >d'
    found = list(tokens(markup))
    assert [(token.mark, token.text, token.start) for token in found] == [
        (Mark.TEXT, "a", 0),
        (Mark.START, "p", 1),
        (Mark.TEXT, "b & c", 27),
        (Mark.END, "p", 36),
        (Mark.TEXT, "d", 41),
    ]
    assert found[1].attributes == {"class": "x", "b": "y", "disabled": ""}


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ("a < b", "a < b"),
        ("a <3 b", "a <3 b"),
        ('<a b="c>d">e', "e"),
        ("<a b='c\"d'>e", "e"),
        ("<a b=don't>e", "e"),
        ("<a href=x/>e", "e"),
        ("a<!-- b -- > c -->d", "ad"),
        ("a<!-->b", "ab"),
        ("a<!--->b", "ab"),
        ("a<!-- never > ended", "a ended"),
        ("a<?php echo $b->c ?>d", "ad"),
        ("a<![CDATA[<b>]]>c", "a<b>c"),
        ("<!DOCTYPE x [<!ENTITY a 'b'>]>c", "c"),
        ("<script>a</b></script >c", "a</b>c"),
        ("<title>a<b>c</title>d", "a<b>cd"),
        ("<title>a<b>c", "ac"),
        ("</ a>b", "b"),
        ("</>a", "a"),
        ("a</b", "a</b"),
        ("a<b c", "a<b c"),
    ],
)
def test_mistakes_cost_as_little_text_as_possible(markup: str, text: str) -> None:
    assert "".join(found for mark, found in seen(markup) if mark is Mark.TEXT) == text


def test_xml_keeps_names_as_they_are_and_comments() -> None:
    assert seen("<A:b/><!-- c --></A:b>", xml=True) == [(Mark.START, "A:b"), (Mark.COMMENT, " c "), (Mark.END, "A:b")]


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("&eacute;&#233;&#xe9;", "ééé"),
        ("&#" + "9" * 5000 + ";", "\ufffd"),
        ("&#xFFFFFFFFFFFF;", "\ufffd"),
        ("&nosuch; & &", "&nosuch; & &"),
    ],
)
def test_character_references_never_fail(text: str, plain: str) -> None:
    assert unescaped(text) == plain


_REPEATED = (
    *(
        "<!--",
        "<a ",
        '<a b="',
        "<a b='",
        "</",
        "<!",
        "<?",
        "<![CDATA[",
        "&#1",
        "<script>",
        "<title>",
        "<textarea>",
        "<!DOCTYPE x [>",
        "<div>",
    ),
    *(
        "<table><td>x",
        "<ul><li>x",
        "<li></li>",
        "<p>x",
        "<h1>x",
        "<h1><div>x",
        "<a>x",
        "<pre>x",
        "<blockquote>x",
        "<dl><dt>x<dd>y",
        "<b><i>x",
    ),
    *("<ruby>x<rt>y", "<main>x", "<article>x", "<svg><title>x", "<td colspan=99 rowspan=999>x", "<br>", "<table><tr><td><ul><li><div><p>"),
    *("<title>x", "<r><title>x</title>", "<row><entry>x", "<a>x<b>", "<r a='b'>", "&lt;p&gt;"),
)


@pytest.mark.parametrize("piece", _REPEATED)
def test_what_never_ends_takes_linear_time(piece: str) -> None:
    markup = piece * (6_000 // len(piece))
    read_html(markup)
    read_html("<pre>" + markup)
    read_xml("<r>" + markup)


_PIECES = [
    *_REPEATED,
    "</td>",
    "</table>",
    "</p>",
    "</ul>",
    "</div>",
    "text\n",
    "<!-- c -->",
    "<tr>",
    "</pre>",
    "<th>",
    "<img alt='a b'>",
    "</h1>",
]


@given(st.lists(st.sampled_from(_PIECES), max_size=25))
def test_any_page_has_lines_in_order_and_an_outline_within_its_text(pieces: list[str]) -> None:
    for read in (read_html, read_xml):
        extracted = read("<x>" + "\n".join(pieces))
        lines = extracted.source_lines
        assert lines is None or (len(lines) == extracted.text.count("\n") + 1 and list(lines) == sorted(lines))
        assert lines is None or 1 <= lines[0] <= lines[-1] <= 1 + "\n".join(pieces).count("\n")
        places = [heading.start for heading in extracted.outline.headings]
        assert places == sorted(set(places))
        assert all(0 <= block.start < block.end <= len(extracted.text) for block in extracted.outline.blocks)
