import pytest

from docmill.documents.formats.plain_text import read_plain_text as read


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Title\n=====\n\ntext\n\nPart\n----\n\nmore\n", [(1, "Title"), (2, "Part")]),
        ("text\n\nPart\n----\n\nNext\n----\n", [(1, "Part"), (1, "Next")]),
        ("Title\n====\n", []),
        ("a line of\na paragraph\n===========\n", []),
        ("| a |\n-----\n", []),
    ],
)
def test_lines_underlined_to_their_own_length_are_headings(text: str, expected: list[tuple[int, str]]) -> None:
    assert [(heading.level, heading.text) for heading in read(text).outline.headings] == expected


def test_what_colours_a_terminal_is_left_out() -> None:
    assert read("\x1b[1mBuild\x1b[0m\n\x1b[31;1merror\x1b[m: no\n").text == "Build\nerror: no\n"
