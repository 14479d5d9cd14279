"""Where chunks say that they stand: pages and lines."""

from docmill.chunking import chunk
from docmill.domain.documents import DocumentKind, Heading, LoadedDocument, Outline
from docmill.domain.knowledge_bases import Chunking

PAGES = [f"Page {number} has a sentence.\n\nAnd it has another one here.\n\n" for number in range(1, 6)]
STARTS = [sum(map(len, PAGES[:number])) for number in range(5)]


def document(text: str, **fields: object) -> LoadedDocument:
    return LoadedDocument(text, DocumentKind.TEXT, "text/plain", "a", **fields)  # type: ignore[arg-type]  # as each test has them


def test_a_chunk_is_on_the_page_on_which_it_begins() -> None:
    found = chunk(document("".join(PAGES), page_starts=STARTS), Chunking(30, 0))
    assert [(one.page, one.text.split()[0]) for one in found] == [(page, word) for page in range(1, 6) for word in ("Page", "And")]


def test_a_chunk_ends_with_its_page() -> None:
    found = chunk(document("".join(PAGES), page_starts=STARTS), Chunking(1000, 0))
    assert [one.page for one in found] == [1, 2, 3, 4, 5]
    assert [one.text for one in found] == [page.strip() for page in PAGES]


def test_a_heading_goes_on_over_pages() -> None:
    text = "One\nfirst\nsecond\nTwo\nthird\n"
    headings = [Heading(1, "One", 0, 4), Heading(1, "Two", 17, 21)]
    found = chunk(document(text, outline=Outline(headings), page_starts=[0, 10, 21]), Chunking())
    assert [(one.page, one.headings, one.text.split()) for one in found] == [
        (1, ("One",), ["One", "first"]),
        (2, ("One",), ["second"]),
        (2, ("Two",), ["Two"]),
        (3, ("Two",), ["third"]),
    ]


def test_pages_without_text_count() -> None:
    found = chunk(document("first\n\nlast", page_starts=[0, 5, 6, 7]), Chunking(10, 0))
    assert [(one.text, one.page) for one in found] == [("first", 1), ("last", 4)]


def test_a_format_without_pages_has_none() -> None:
    assert [one.page for one in chunk(document("word " * 100), Chunking(100, 0))] == [None] * 5


def test_lines_are_those_of_the_file_that_the_text_was_made_of() -> None:
    text = "first\n\nsecond\nthird\n"
    found = chunk(document(text, source_lines=[3, 3, 10, 12, 12]), Chunking(12, 0))
    assert [(one.text, one.start_line, one.end_line) for one in found] == [("first", 3, 3), ("second\nthird", 10, 12)]


def test_headings_of_any_format_are_the_path_and_no_chunk_crosses_them() -> None:
    text = "Intro\nOne\na\nTwo\nb\nThree\nc\n"
    headings = [Heading(1, "One", 6, 10), Heading(2, "Two", 12, 16), Heading(1, "Three", 18, 24)]
    found = chunk(document(text, outline=Outline(headings)), Chunking())
    assert [(one.text, one.headings) for one in found] == [
        ("Intro", ()),
        ("One\na", ("One",)),
        ("Two\nb", ("One", "Two")),
        ("Three\nc", ("Three",)),
    ]
