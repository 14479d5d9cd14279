import pytest

from docmill.documents.formats.org import read_org as read


def headings(text: str) -> list[tuple[int, str]]:
    return [(heading.level, heading.text) for heading in read(text).outline.headings]


def blocks(text: str) -> list[str]:
    extracted = read(text)
    return [extracted.text[block.start : block.end] for block in extracted.outline.blocks]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("* One\n** Two\ntext\n* Three\n", [(1, "One"), (2, "Two"), (1, "Three")]),
        ("* TODO [#A] Write it  :work:home:\n", [(1, "Write it")]),
        ("*bold* text\n", []),
        (" * item\n", []),
        ("#+begin_src sh\n* no heading\n#+end_src\n* Heading\n", [(1, "Heading")]),
        ("#+begin_src sh\n* Heading\n", [(1, "Heading")]),
        ("*\n", []),
        ("* \n", []),
    ],
)
def test_stars_make_headings(text: str, expected: list[tuple[int, str]]) -> None:
    assert headings(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\n#+BEGIN_SRC py\nx\n#+END_SRC\nb\n", ["#+BEGIN_SRC py\nx\n#+END_SRC\n"]),
        ("| a | b |\n|---+---|\n| 1 | 2 |\nb\n", ["| a | b |\n|---+---|\n| 1 | 2 |\n"]),
        ("- a\n  more\n- b\n\ntext\n", ["- a\n  more\n- b\n", "- a\n  more\n"]),
        ("- a\n- b\n* H\n", ["- a\n- b\n"]),
        ("1. a\n   #+begin_example\n   x\n   #+end_example\n2. b\n", None),
    ],
)
def test_blocks_tables_and_lists_are_kept_whole(text: str, expected: list[str] | None) -> None:
    assert blocks(text) == (expected or [text, text[: text.index("2.")], text[5 : text.index("2.")]])


def test_a_table_has_a_header_when_there_is_a_rule_in_it() -> None:
    text = "| a | b |\n|---+---|\n| 1 | 2 |\n"
    assert read(text).outline.blocks[0].header_end == text.index("| 1")
    assert read("| a |\n| b |\n").outline.blocks[0].header_end is None


def test_settings_at_the_top_are_metadata_and_no_text_to_search() -> None:
    text = "#+TITLE: The Plan\n#+AUTHOR: Zoë\n#+FILETAGS: :a:b:\n#+LANGUAGE: de\n#+OPTIONS: toc:nil\n\n* One\ntext\n"
    extracted = read(text)
    assert (extracted.title, extracted.language) == ("The Plan", "de")
    assert dict(extracted.metadata) == {"author": "Zoë", "filetags": ["a", "b"]}
    assert extracted.text[extracted.body_start :].strip() == "* One\ntext"


def test_drawers_are_left_out_and_lines_keep_their_numbers() -> None:
    extracted = read("* One\n:PROPERTIES:\n:ID: 1-2-3\n:END:\ntext\n")
    assert extracted.text == "* One\ntext\n"
    assert extracted.source_lines == [1, 5, 6]


def test_a_drawer_that_is_never_closed_is_text() -> None:
    assert read(":PROPERTIES:\ntext\n* One\n").text == ":PROPERTIES:\ntext\n* One\n"


def test_a_text_with_names_of_tables_first_keeps_them() -> None:
    assert read("#+NAME: figures\n| a |\n| b |\n").body_start == 0
