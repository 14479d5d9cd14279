"""XML and SVG: what elements say, and documents as running text."""

import pytest

from docmill.documents.extracted import Extracted
from docmill.documents.formats.svg import read_svg
from docmill.documents.formats.xml import read_xml
from docmill.documents.loading import load

LONG = "word " * 130


def headings_of(extracted: Extracted) -> list[tuple[int, str]]:
    return [(heading.level, heading.text) for heading in extracted.outline.headings]


def test_data_becomes_indented_lines_with_names_attributes_and_comments() -> None:
    extracted = read_xml(
        '<?xml version="1.0"?>\n<!-- Licence -->\n<project xmlns="http://x" xsi:schemaLocation="y">\n  <deps>\n    <!-- pinned -->\n'
        '    <m:dep m:scope="test">\n      <id>org.foo</id>\n    </m:dep>\n    <bean id="x" class="y"/>\n    <empty/>\n  </deps>\n'
        "  <about>\n    Two\n    lines &amp; more\n  </about>\n</project>\n"
    )
    assert extracted.text == (
        "# Licence\nproject:\n  deps:\n    # pinned\n    dep scope=test:\n      id: org.foo\n    bean id=x class=y\n"
        "  about: Two\n    lines & more"
    )
    assert extracted.source_lines == [2, 3, 4, 5, 6, 7, 9, 13, 14]


def test_large_elements_of_data_are_sections() -> None:
    beans = "".join(f"<bean name='b{n}'><a>{LONG}</a><b>1</b><c>2</c></bean>" for n in range(4))
    extracted = read_xml(f"<r>{beans}<end>x</end></r>")
    assert headings_of(extracted) == [(1, "bean b0"), (1, "bean b1"), (1, "bean b2"), (1, "bean b3"), (1, "")]


def test_a_document_is_its_running_text_under_its_titles() -> None:
    extracted = read_xml(
        '<book xml:lang="de-DE"><info><title>My book</title><author>Ada</author></info><chapter><title>On <em>it</em></title>'
        "<para>Some <code>inline</code> text.</para><para>Plain</para><programlisting><![CDATA[\nif (a < b) {\n  x\n}]]></programlisting>"
        "<section><title>Sub</title><para>x<list><item><para>one <b>two</b></para></item></list></para></section></chapter></book>"
    )
    assert headings_of(extracted) == [(1, "My book"), (2, "On it"), (3, "Sub")]
    assert extracted.text == (
        "# My book\n\nauthor: Ada\n\n## On it\n\nSome inline text.\n\nPlain\n\n```\nif (a < b) {\n  x\n}\n```\n\n### Sub\n\nx\n\none two"
    )
    assert (extracted.title, extracted.language, extracted.metadata) == ("My book", "de", {"author": "Ada"})


def test_tables_of_documents_are_kept_whole() -> None:
    extracted = read_xml(
        "<a><title>T</title><p>x <b>y</b></p><table><row><entry>a</entry><entry>b</entry></row>"
        "<row><entry>1</entry><entry><p>2|3</p></entry></row></table></a>"
    )
    (block,) = extracted.outline.blocks
    assert extracted.text[block.start : block.end] == "| a | b |\n| 1 | 2\\|3 |"


def test_pages_inside_of_elements_are_read_as_pages() -> None:
    page = "&lt;p&gt;Hello &lt;b&gt;you&lt;/b&gt;&lt;/p&gt;"
    extracted = read_xml(
        "<rss><channel><title>Blog</title><item><title>Post</title>"
        f"<description>{page}{'&lt;p&gt;more words&lt;/p&gt;' * 50}</description></item></channel></rss>"
    )
    assert "Hello you" in extracted.text
    assert "<" not in extracted.text
    assert read_xml(f"<rss><item><description>{page}</description></item></rss>").text.endswith("description: Hello you")


def test_entities_that_a_document_declares_as_plain_text_are_replaced() -> None:
    declared = """<!DOCTYPE r [\n<!ENTITY prod "Wonder &lt;">\n<!ENTITY by 'A > "B"'>\n<!ENTITY amp "no"><!ENTITY by "later">\n]>\n"""
    extracted = read_xml(f'{declared}<r><p>By &by;, &amp; &other;</p>\n<q at="&by;">&prod;</q></r>')
    assert extracted.text == 'r:\n  By A > "B", & &other;\n  q at=A > "B": Wonder <'
    assert extracted.source_lines == [6, 6, 7]


def test_many_references_to_long_entities_do_not_grow_without_bounds() -> None:
    assert len(read_xml(f'<!DOCTYPE r [<!ENTITY a "{"x" * 1000}">]><r>{"&a; " * 100_000}</r>').text) < 2_000_000


def test_entities_that_hold_others_or_are_outside_of_the_file_are_not_replaced() -> None:
    bomb = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 9))
    assert read_xml(f'<!DOCTYPE r [<!ENTITY l0 "lol">{bomb}]><r>&l8;</r>').text == "r: &l8;"
    assert read_xml('<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><r>&x;</r>').text == "r: &x;"


@pytest.mark.parametrize(
    "text",
    [
        "<r><a>NEEDLE",
        "<r><a>NEEDLE</b></c></r>",
        "<r>NEEDLE</r></r></r>",
        "NEEDLE",
        "NEEDLE<r/>",
        "<r/>NEEDLE",
        "<r a='NEEDLE'/>",
        "<r><![CDATA[NEEDLE",
        "<r>a &NEEDLE; < b</r>",
        *("<p>" * 3000 + "NEEDLE", "<title>" * 3000 + "NEEDLE", "<r><!-- NEEDLE --></r>"),
    ],
)
def test_what_is_not_well_formed_is_read_as_far_as_it_goes(text: str) -> None:
    assert "NEEDLE" in read_xml(text).text


def test_xhtml_and_svg_are_read_as_such() -> None:
    assert (
        load(
            "a.xml", b'<?xml version="1.0"?><html xmlns="x"><head><script src="a"/></head><body><nav>no</nav><p>yes</p></body></html>'
        ).text
        == "yes"
    )
    assert load("a.xml", b"<svg:svg><svg:text>yes</svg:text><path d='no'/></svg:svg>").text == "yes"


def test_a_drawing_is_its_words() -> None:
    extracted = read_svg(
        "<svg><title>Flow</title><style>no</style><metadata>no</metadata>\n<g><text><tspan>one</tspan><tspan>two</tspan></text>\n<text>three</text></g>"
        "<foreignObject><div>four<br/>five</div></foreignObject><path d='M0'/><desc>six</desc></svg>"
    )
    assert extracted.text == "Flow\none two\nthree\nfour\nfive\nsix"
    assert extracted.title == "Flow"
    assert extracted.source_lines == [1, 2, 3, 3, 3, 3]
    assert read_svg("<svg><path d='M0 0'/></svg>").text == ""
