import pytest
from hypothesis import given
from hypothesis import strategies as st

from docmill.documents.formats.restructured_text import read_restructured_text as read


def headings(text: str) -> list[tuple[int, str]]:
    return [(heading.level, heading.text) for heading in read(text).outline.headings]


def blocks(text: str) -> list[str]:
    return [text[block.start : block.end] for block in read(text).outline.blocks]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Title\n=====\n\ntext\n", [(1, "Title")]),
        ("Title\n=====", [(1, "Title")]),
        ("=====\nTitle\n=====\n", [(1, "Title")]),
        ("=======\n Inset\n=======\n", [(1, "Inset")]),
        ("A\n=\n\nB\n-\n\nC\n=\n\nD\n~\n", [(1, "A"), (2, "B"), (1, "C"), (3, "D")]),
        ("===\nTop\n===\n\nOne\n===\n\nTwo\n---\n\nOne more\n========\n", [(1, "Top"), (2, "One"), (3, "Two"), (2, "One more")]),
        ("A\n^^^\n\nB\n***\n\nC\n^^^\n", [(1, "A"), (2, "B"), (1, "C")]),
        ("1. Counted\n----------\n", [(1, "1. Counted")]),
        ("longer than it\n----\n", [(1, "longer than it")]),
        ("検索\n====\n", [(1, "検索")]),
        (".. _target:\n\nTitle\n-----\n", [(1, "Title")]),
        (".. _target:\nTitle\n-----\n", [(1, "Title")]),
        ("text\n\n----\n\nmore\n", []),
        ("two lines\nof text\n=======\n", []),
        ("- item\n------\n", []),
        ("::\n\n    Literal\n    =======\n", []),
        (".. code::\n\n   Title\n   =====\n", []),
        (".. Comment\n   =======\n", []),
        ("===== =====\nTitle other\n===== =====\n1     2\n===== =====\n", []),
        ("+-----+\n| Ti  |\n+=====+\n| a   |\n+-----+\n", []),
        ("ab\n=", []),
        ("= =\n", []),
        ("......\n", []),
    ],
)
def test_sections_are_what_the_specification_says(text: str, expected: list[tuple[int, str]]) -> None:
    assert headings(text) == expected


def test_a_heading_takes_its_lines_with_those_above_and_below() -> None:
    text = "text\n\n=====\nTitle\n=====\nafter\n"
    (heading,) = read(text).outline.headings
    assert text[heading.start : heading.end] == "=====\nTitle\n=====\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("So::\n\n  a\n\n  b\n\nend\n", ["  a\n\n  b\n"]),
        (".. code-block:: python\n   :linenos:\n\n   x = 1\n\nend\n", [".. code-block:: python\n   :linenos:\n\n   x = 1\n"]),
        (".. note:: text\n   goes on\n", []),
        ("- a\n- b\n\nend\n", ["- a\n- b\n"]),
        (
            "- a::\n\n    code\n    more\n\n- b\n\nend",
            ["- a::\n\n    code\n    more\n\n- b\n", "- a::\n\n    code\n    more\n", "    code\n    more\n"],
        ),
        (">>> 1 + 1\n2\n\nend\n", [">>> 1 + 1\n2\n"]),
        ("== ==\na  b\n== ==\n1  2\n\n3  4\n== ==\n\nend\n", ["== ==\na  b\n== ==\n1  2\n\n3  4\n== ==\n"]),
        ("+---+\n| a |\n+===+\n| 1 |\n+---+\nend\n", ["+---+\n| a |\n+===+\n| 1 |\n+---+\n"]),
    ],
)
def test_literal_blocks_tables_and_lists_are_whole_blocks(text: str, expected: list[str]) -> None:
    assert blocks(text) == expected


@pytest.mark.parametrize(
    ("text", "header"),
    [
        ("== ==\na  b\n== ==\n1  2\n== ==\n", "== ==\na  b\n== ==\n"),
        ("+---+\n| a |\n+===+\n| 1 |\n+---+\n", "+---+\n| a |\n+===+\n"),
        ("+---+\n| a |\n+---+\n| 1 |\n+---+\n", ""),
    ],
)
def test_the_header_of_a_table_is_known(text: str, header: str) -> None:
    (table,) = read(text).outline.blocks
    assert text[: table.header_end or 0] == header


def test_fields_before_the_first_paragraph_are_metadata() -> None:
    extracted = read("Guide\n=====\n\n:Author: Zoë\n:Version: 2\n  and more\n:date: 2024-03-01\n\ntext\n\n:not: metadata\n")
    assert (extracted.title, dict(extracted.metadata)) == ("Guide", {"author": "Zoë", "version": "2 and more", "date": "2024-03-01"})


def test_comments_of_a_site_generator_are_metadata() -> None:
    extracted = read(".. title: The post\n.. date: 2024-03-01\n\nFirst heading\n=============\n")
    assert (extracted.title, extracted.metadata["date"]) == ("The post", "2024-03-01")


def test_the_text_stays_as_it_is() -> None:
    text = ".. comment\n\nA\n=\n"
    assert (read(text).text, read(text).source_lines) == (text, None)


@given(
    st.lists(
        st.sampled_from(["", "=====", "==", "== ==", "Title", "- a", "  in", "x::", ".. code::", ".. c", "+--+", "| a", ":f: v", ">>> 1"])
    )
)
def test_whatever_the_lines_the_outline_is_in_order_and_within_the_text(lines: list[str]) -> None:
    text = "\n".join(lines)
    outline = read(text).outline
    ends = [0]
    for heading in outline.headings:
        assert ends[-1] <= heading.start < heading.end <= len(text)
        ends.append(heading.end)
    assert list(outline.blocks) == sorted(outline.blocks, key=lambda block: (block.start, -block.end))
    assert all(0 <= block.start < block.end <= len(text) for block in outline.blocks)
