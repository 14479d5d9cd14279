import pytest
from hypothesis import given
from hypothesis import strategies as st

from docmill.documents.formats.asciidoc import read_asciidoc as read


def headings(text: str) -> list[tuple[int, str]]:
    return [(heading.level, heading.text) for heading in read(text).outline.headings]


def blocks(text: str) -> list[str]:
    extracted = read(text)
    return [extracted.text[block.start : block.end] for block in extracted.outline.blocks]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("= Title\n\n== One\n\ntext\n\n=== Two ===\n", [(1, "Title"), (2, "One"), (3, "Two")]),
        ("# Title\n\n## One\n", [(1, "Title"), (2, "One")]),
        ("Title\n=====\n\nOne\n---\n\nTwo\n~~~\n", [(1, "Title"), (2, "One"), (3, "Two")]),
        ("----\n== no heading\n----\n\n== Yes\n", [(2, "Yes")]),
        ("....\n== no heading\n....\n", []),
        ("====\n== no heading\n====\n\n== Yes\n", [(2, "Yes")]),
        ("```sh\n== no heading\n```\n\n== Yes\n", [(2, "Yes")]),
        ("////\n== no heading\n////\n== Yes\n", [(2, "Yes")]),
        ("// == no heading\n", []),
        ("text\n\n[discrete]\n== Yes\n", [(2, "Yes")]),
        ("a paragraph that is long\n----\ncode\n----\n", []),
        ("==no heading\n", []),
        ("----\nnever closed\n== no heading\n", []),
    ],
)
def test_sections_are_what_asciidoctor_says(text: str, expected: list[tuple[int, str]]) -> None:
    assert headings(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\n\n[source,sh]\n.Title\n----\nx\n\ny\n----\nb\n", ["[source,sh]\n.Title\n----\nx\n\ny\n----\n"]),
        ("|===\n|a |b\n\n|1 |2\n|===\n", ["|===\n|a |b\n\n|1 |2\n|===\n"]),
        ("====\nexample\n\n----\nx\n----\n====\n", ["====\nexample\n\n----\nx\n----\n====\n", "----\nx\n----\n"]),
        ("* a\n* b\n\ntext\n", ["* a\n* b\n"]),
        ("* a\n+\n----\nx\n----\n* b\n\ntext\n", ["* a\n+\n----\nx\n----\n* b\n", "* a\n+\n----\nx\n----\n", "----\nx\n----\n"]),
    ],
)
def test_delimited_blocks_tables_and_lists_are_kept_whole(text: str, expected: list[str]) -> None:
    assert blocks(text) == expected


@pytest.mark.parametrize(
    ("text", "header"),
    [
        ("|===\n|a |b\n\n|1 |2\n|===\n", "|===\n|a |b\n"),
        ('[options="header"]\n|===\n|a |b\n|1 |2\n|===\n', '[options="header"]\n|===\n|a |b\n'),
        ("|===\n|a |b\n|1 |2\n|===\n", ""),
    ],
)
def test_the_header_of_a_table_is_known(text: str, header: str) -> None:
    (table,) = read(text).outline.blocks
    assert text[: table.header_end or 0] == header


def test_the_header_is_metadata_and_its_attributes_are_no_text() -> None:
    text = (
        "// licence\n= The Guide\nZoë Q. Doe <zoe@example.org>\nv1.2, 2024-03-01: draft\n:toc: left\n:keywords: a, b\n:lang: de\n\ntext\n"
    )
    extracted = read(text)
    assert (extracted.title, extracted.language) == ("The Guide", "de")
    assert dict(extracted.metadata) == {"author": "Zoë Q. Doe", "revnumber": "1.2", "date": "2024-03-01", "keywords": "a, b"}
    assert extracted.text == "= The Guide\n\ntext\n"
    assert extracted.source_lines == [2, 8, 9, 10]


def test_conditions_and_attributes_between_blocks_are_no_text() -> None:
    text = "text\n\n:name: a \\\n  and b\nifdef::x[]\nmore\nendif::[]\n\n:not an attribute: here\n----\n:kept: as it is\n----\n"
    extracted = read(text)
    assert extracted.text == "text\n\nmore\n\n:not an attribute: here\n----\n:kept: as it is\n----\n"
    assert extracted.source_lines == [1, 2, 6, 8, 9, 10, 11, 12, 13]


def test_the_values_of_attributes_stand_where_they_are_used() -> None:
    text = "= Guide to {product}\n:product: Mill\n:full: {product} 2\n:url: {full}/x\n\nRun {full}, {unknown} and \\{full}: {url}\n"
    assert read(text).text == "= Guide to Mill\n\nRun Mill 2, {unknown} and \\{full}: Mill 2/x\n"


def test_attributes_do_not_grow_without_end() -> None:
    text = (
        "= T\n:a: aaaaaaaaaa\n" + "".join(f":b{n}: {{b{n - 1}}}{{b{n - 1}}}\n" for n in range(1, 60)).replace("{b0}", "{a}") + "\n{b59}\n"
    )
    assert len(read(text).text) < 100


def test_a_paragraph_after_the_title_is_text() -> None:
    assert read("= Title\n\nJust one line\n").text == "= Title\n\nJust one line\n"


@given(
    st.lists(
        st.sampled_from(["", "= T", "== A", "----", "====", "|===", "|a", "* a", "+", "////", "// c", "....", "abcd", ":a: b", "[x]", ".T"])
    )
)
def test_whatever_the_lines_the_outline_is_in_order_and_within_the_text(lines: list[str]) -> None:
    extracted = read("\n".join(lines))
    outline, text = extracted.outline, extracted.text
    assert [heading.start for heading in outline.headings] == sorted({heading.start for heading in outline.headings})
    assert all(0 <= heading.start < heading.end <= len(text) for heading in outline.headings)
    assert all(0 <= block.start < block.end <= len(text) for block in outline.blocks)
    assert extracted.source_lines is None or len(extracted.source_lines) == text.count("\n") + 1
