import pytest
from hypothesis import given
from hypothesis import strategies as st

from docmill.documents.markdown import outline_of


def headings(text: str) -> list[tuple[int, str]]:
    return [(heading.level, heading.text) for heading in outline_of(text).headings]


def blocks(text: str) -> list[str]:
    return [text[block.start : block.end] for block in outline_of(text).blocks]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# One", [(1, "One")]),
        ("###### Six\n", [(6, "Six")]),
        ("####### Seven\n", []),
        ("#hashtag\n", []),
        ("\\# escaped\n", []),
        ("   # Three spaces\n", [(1, "Three spaces")]),
        ("    # Indented code\n", []),
        ("## Closed ##\n", [(2, "Closed")]),
        ("## Closed ##   \n", [(2, "Closed")]),
        ("# C#\n", [(1, "C#")]),
        ("#\n", [(1, "")]),
        ("text\n# Interrupts\n", [(1, "Interrupts")]),
        ("Setext\n======\n", [(1, "Setext")]),
        ("Setext\non two lines\n---\n", [(2, "Setext on two lines")]),
        ("text\n\n---\n", []),
        ("- item\n---\n", []),
        ("> quote\n---\n", []),
        ("> quote\nlazy\n===\n", []),
        ("# A\n---\n", [(1, "A")]),
        ("text\n    indented more\n===\n", [(1, "text indented more")]),
        ("    code\n===\n", []),
    ],
)
def test_headings_are_what_commonmark_says(text: str, expected: list[tuple[int, str]]) -> None:
    assert headings(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "```sh\n# in a fence\n```\n",
        "~~~\n# in tildes\n```\n# still\n~~~\n",
        "````\n```\n# in the longer fence\n````\n",
        "```\n# never closed\n",
        "  ```\n  # indented fence\n  ```\n",
        "- ```sh\n  # on the line of the item\n  ```\n",
        "- item\n\n  ```\n  # in the item\n  ```\n",
        "1. item\n   ```\n   # in the item\n   ```\n",
        "<div>\n# in a block\n</div>\n",
        "<!--\n\n# in a comment\n\n-->\n",
        "<pre>\n\n# preformatted\n\n</pre>\n",
        "<script>\n# in a script\n\n# still\n</script>\n",
        "<my-tag>\n# after a lone tag\n",
        "> # in a quote\n",
        "- # in an item\n",
        "- a\n\n  # in an item\n",
    ],
)
def test_what_stands_inside_something_else_is_no_heading(text: str) -> None:
    assert headings(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "```\ncode\n```\n# After\n",
        "- ```\n  code\n# After\n",
        "- item\nlazy\n# After\n",
        "<div>\ntext\n\n# After\n",
        "<!-- on one line -->\n# After\n",
        "<span>inline</span> text\n# After\n",
        "```not a `fence`\n# After\n",
        "> quote\n# After\n",
        "10. item\n# After\n",
        "| a |\n|---|\n| b |\n# After\n",
        "* * *\n# After\n",
    ],
)
def test_what_follows_something_else_is_a_heading_again(text: str) -> None:
    assert headings(text) == [(1, "After")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('<h1 align="center">One <b>bold</b> &amp; more</h1>\n\ntext\n', [(1, "One bold & more")]),
        (
            '<div align="center">\n<h1>\n  <img src="x.png" alt="Logo"><br>\n  Name\n</h1>\n<H3>Next</H3>\n</div>\n',
            [(1, "Name"), (3, "Next")],
        ),
        ('<h2><img alt="Only a picture" src="x"></h2>\n', [(2, "Only a picture")]),
        ("<h2><br></h2>\n", []),
        ("<h1>never closed\n\n</h1>\n\n## Real\n", [(2, "Real")]),
        ("<div>\n<!-- <h2>commented</h2> -->\n</div>\n", []),
        ("<!--\n<h2>commented</h2>\n-->\n", []),
        ("<pre>\n<h2>shown</h2>\n</pre>\n", []),
        ("```html\n<h2>code</h2>\n```\n", []),
        ("say <h2>not a block</h2>\n", []),
    ],
)
def test_headings_of_html_blocks_are_headings(text: str, expected: list[tuple[int, str]]) -> None:
    assert headings(text) == expected


@pytest.mark.parametrize("line", ["<!-- <h1>", "<h1 ", "<img ", "<h1>x</h", "<h1>"])
def test_a_long_line_of_html_takes_linear_time(line: str) -> None:
    assert len(headings(f"<div>{line * 100_000}</h1>\n")) <= 1


def test_a_heading_has_a_bounded_length() -> None:
    assert len(headings("# " + "word " * 20_000)[0][1]) == 200


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\n\n```\ncode\n\nmore\n```\nb\n", ["```\ncode\n\nmore\n```\n"]),
        ("```\nopen", ["```\nopen"]),
        ("text\n| a | b |\n|---|:-:|\n| 1 | 2 |\n\nb\n", ["| a | b |\n|---|:-:|\n| 1 | 2 |\n"]),
        ("a | b\n--- | ---\n1 | 2\n", ["a | b\n--- | ---\n1 | 2\n"]),
        ("| a |\n|---|\n| 1 |\n# H\n", ["| a |\n|---|\n| 1 |\n"]),
        ("text\n\n- a\n- b\n\nend\n", ["- a\n- b\n"]),
        ("1. a\nlazy\n\n   more\n2. b\n# H\n", ["1. a\nlazy\n\n   more\n2. b\n", "1. a\nlazy\n\n   more\n"]),
        ("- a\n  - inner\n- b", ["- a\n  - inner\n- b", "- a\n  - inner\n"]),
        ("- item\n  ```\n  x\n- other\n", ["- item\n  ```\n  x\n- other\n", "- item\n  ```\n  x\n", "  ```\n  x\n"]),
    ],
)
def test_fenced_code_tables_and_lists_are_whole_blocks_and_outer_ones_come_first(text: str, expected: list[str]) -> None:
    assert blocks(text) == expected


def test_the_header_of_a_table_ends_after_its_rule() -> None:
    text = "text\n| a | b |\n|---|---|\n| 1 | 2 |\n"
    (table,) = outline_of(text).blocks
    assert text[table.start : table.header_end] == "| a | b |\n|---|---|\n"


def test_a_table_without_rows_has_no_header_to_repeat() -> None:
    assert outline_of("| a |\n|---|\n").blocks[0].header_end is None


@given(
    st.lists(
        st.sampled_from(
            [
                "#",
                "##",
                "===",
                "---",
                "```",
                "~~~",
                "-",
                "*",
                ">",
                "1.",
                "<div>",
                "<!--",
                "-->",
                "|",
                "|---|",
                "a",
                "b",
                "\t",
                "\n",
                "    ",
                " ",
            ]
        ),
        max_size=40,
    )
)
def test_any_text_has_an_outline_in_order(pieces: list[str]) -> None:
    text = "".join(pieces)
    outline = outline_of(text)
    starts = [heading.start for heading in outline.headings]
    assert starts == sorted(set(starts))
    assert all(start == 0 or text[start - 1] == "\n" for start in starts)
    assert all(heading.start < heading.end <= len(text) for heading in outline.headings)
    opened: list[int] = []
    for block in outline.blocks:
        while opened and opened[-1] <= block.start:
            opened.pop()
        assert block.start < block.end <= (opened[-1] if opened else len(text))
        opened.append(block.end)
